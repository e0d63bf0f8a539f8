import { type Dialect, lineAt, lineEndOf, type Row, type Table } from './table.ts';

const DELIMITERS: readonly (readonly [Dialect, string])[] = [
  ['tsv', '\t'],
  ['semicolons', ';'],
  ['csv', ','],
];
const QUOTE = '"';
/** Rows that decide on the delimiter, and how many of them must have as many cells as the heading. */
const SAMPLE_ROWS = 50;
const SAMPLE_AGREES = 0.8;
/** A heading of prose has long cells. UTF-16 units. */
const NAME_MAX_CHARS = 200;

/** CSV (RFC 4180: quotes, line ends in them), with commas, semicolons or tabs; null when the text is none. */
export function findDelimited(text: string): Table | null {
  const start = /^\ufeff?(?:[ \t]*\r?\n)*/.exec(text)?.[0].length ?? 0;
  let best: { table: Table; agreement: number } | null = null;
  const isBetter = (table: Table, agreement: number) =>
    best === null ||
    agreement > best.agreement ||
    (agreement === best.agreement && table.names.length > best.table.names.length);
  for (const [dialect, delimiter] of DELIMITERS) {
    const table = readDelimited(text, start, dialect, delimiter);
    if (table === null) continue;
    const agreement = agreementOf(text, table, delimiter);
    if (agreement >= SAMPLE_AGREES && isBetter(table, agreement)) best = { table, agreement };
  }
  return best?.table ?? null;
}

function readDelimited(text: string, start: number, dialect: Dialect, delimiter: string): Table | null {
  const reader = new RecordReader(text, delimiter);
  const heading = reader.recordAt(start);
  if (heading === null) return null;
  const names = reader.cells(heading).map(unquote);
  if (names.length < 2 || names.some((name) => name.length > NAME_MAX_CHARS)) return null;
  return {
    dialect,
    names,
    heading: [heading],
    start: heading.end,
    rowAt: (at) => reader.recordAt(at),
    project: (row, columns) => {
      const cells = reader.cells(row);
      const end = lineEndOf(text.slice(row.start, row.end));
      return columns.map((column) => cells[column] ?? '').join(delimiter) + end;
    },
  };
}

function agreementOf(text: string, table: Table, delimiter: string): number {
  const reader = new RecordReader(text, delimiter);
  let rows = 0;
  let agreeing = 0;
  for (let row = reader.recordAt(table.start); row && rows < SAMPLE_ROWS; row = reader.recordAt(row.end)) {
    if (!row.isData) continue;
    rows++;
    if (reader.cells(row).length === table.names.length) agreeing++;
  }
  return rows === 0 ? 1 : agreeing / rows;
}

function unquote(cell: string): string {
  const trimmed = cell.trim();
  return trimmed.length > 1 && trimmed.startsWith(QUOTE) && trimmed.endsWith(QUOTE)
    ? trimmed.slice(1, -1).replaceAll('""', QUOTE)
    : trimmed;
}

/** Cuts a text into records and these into cells, in time linear in the text. */
class RecordReader {
  readonly #text: string;
  readonly #delimiter: string;
  /** From here on quotes mean nothing: one that opened there is never closed. */
  #plainFrom = Number.POSITIVE_INFINITY;
  /** The first quote from the last line on that was read: it is not looked for again for each line before it. */
  #quote = -1;

  constructor(text: string, delimiter: string) {
    this.#text = text;
    this.#delimiter = delimiter;
  }

  /** The record at `at`; a line of blanks is none, but belongs to the table. */
  recordAt(at: number): Row | null {
    const line = lineAt(this.#text, at);
    if (line === null) return null;
    if (!this.#hasQuote(line)) return { ...line, isData: this.#text.slice(line.start, line.end).trim() !== '' };
    let end = at;
    do end = this.#cellEnd(end) + 1;
    while (this.#text[end - 1] === this.#delimiter);
    return { start: at, end: Math.min(end, this.#text.length), isData: true };
  }

  #hasQuote(line: Row): boolean {
    if (this.#quote < line.start) {
      const quote = this.#text.indexOf(QUOTE, line.start);
      this.#quote = quote < 0 ? this.#text.length : quote;
    }
    return this.#quote >= line.start && this.#quote < line.end;
  }

  /** The cells as they are written, quotes included. */
  cells(record: Row): string[] {
    const row = this.#text.slice(record.start, record.end);
    const end = record.end - lineEndOf(row).length;
    if (!row.includes(QUOTE)) return row.slice(0, end - record.start).split(this.#delimiter);
    const cells: string[] = [];
    for (let at = record.start; at <= end; ) {
      const stop = Math.min(this.#cellEnd(at), end);
      cells.push(this.#text.slice(at, stop));
      at = stop + 1;
    }
    return cells;
  }

  /** The offset of the delimiter or line feed after the cell that begins at `at`. */
  #cellEnd(at: number): number {
    const text = this.#text;
    let from = at;
    if (text[at] === QUOTE && at < this.#plainFrom) {
      let close = text.indexOf(QUOTE, at + 1);
      while (close >= 0 && text[close + 1] === QUOTE) close = text.indexOf(QUOTE, close + 2);
      if (close < 0) this.#plainFrom = at;
      else from = close;
    }
    while (from < text.length && text[from] !== this.#delimiter && text[from] !== '\n') from++;
    return from;
  }
}
