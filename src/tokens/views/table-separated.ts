import { type Dialect, lineAt, lineEndOf, type Row, type Table } from './table.ts';

/** A line that only draws: the rule under a heading, a border. */
const RULE = /^(?=[^\r\n]*[-=─═━])(?=[^\r\n]*[+|┼├┤┬┴┌┐└┘╞╡╪╬╠╣╦╩╔╗╚╝])[-=:+| \t─═━┼├┤┬┴┌┐└┘╞╡╪╬╠╣╦╩╔╗╚╝]+\r?\n?$/u;
const JUNCTION = /[+|┼├┤┬┴┌┐└┘╞╡╪╬╠╣╦╩╔╗╚╝]/u;
const JUNCTIONS = new RegExp(JUNCTION, 'gu');
/** A `\|` of Markdown is no separator. */
const SEPARATOR = /(?<!\\)[|│║]/;
const SEPARATORS = new RegExp(SEPARATOR, 'g');

/** The first table of Markdown, psql, mysql or box drawings in a text; null if not found. */
export function findPipes(text: string): Table | null {
  let before: Row | null = null;
  let earlier: Row | null = null;
  for (let line = lineAt(text, 0); line !== null; line = lineAt(text, line.end)) {
    const rules = isRule(text, line);
    if (rules && before !== null && !isRule(text, before) && hasSeparator(text, before)) {
      const border = earlier !== null && isRule(text, earlier) ? [ruleOf(earlier)] : [];
      return tableOf(text, before, [...border, before, ruleOf(line)]);
    }
    earlier = before;
    before = line;
  }
  return null;
}

function tableOf(text: string, headingLine: Row, heading: readonly Row[]): Table | null {
  const title = text.slice(headingLine.start, headingLine.end).trim();
  const isFramed = SEPARATOR.test(title.charAt(0));
  const names = cellsOf(title, isFramed).map((name) => name.trim());
  if (names.length < 1 || (names.length === 1 && !isFramed)) return null;
  return {
    dialect: 'pipes',
    names,
    heading,
    start: heading.at(-1)?.end ?? 0,
    rowAt: (at) => {
      const line = lineAt(text, at);
      if (line === null) return null;
      if (isRule(text, line)) return ruleOf(line);
      return hasSeparator(text, line) ? line : null;
    },
    project: (row, columns) => projectLine(text.slice(row.start, row.end), columns, isFramed, row.isData),
  };
}

function ruleOf(line: Row): Row {
  return { ...line, isData: false };
}

function isRule(text: string, line: Row): boolean {
  // Most lines begin with a letter: no slice for them.
  return text.charCodeAt(line.start) < 0x61 || text.charCodeAt(line.start) > 0x7a
    ? RULE.test(text.slice(line.start, line.end))
    : false;
}

function hasSeparator(text: string, line: Row): boolean {
  return SEPARATOR.test(text.slice(line.start, line.end));
}

/** The cells with the blanks around them. */
function cellsOf(line: string, isFramed: boolean): string[] {
  const cells = line.split(SEPARATOR);
  if (!isFramed) return cells;
  return cells.slice(1, cells.at(-1)?.trim() === '' ? -1 : undefined);
}

function projectLine(line: string, columns: readonly number[], isFramed: boolean, isData: boolean): string {
  const end = lineEndOf(line);
  const body = line.slice(0, line.length - end.length);
  const parts = body.split(isData ? SEPARATOR : JUNCTION);
  const marks = body.match(isData ? SEPARATORS : JUNCTIONS) ?? [];
  const first = isFramed ? 1 : 0;
  const cells = columns.map((column) => parts[first + column] ?? '').join(marks[first] ?? marks[0] ?? '|');
  return isFramed ? `${parts[0] ?? ''}${marks[0] ?? ''}${cells}${marks.at(-1) ?? ''}${end}` : cells + end;
}

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

/**
 * Finds CSV (RFC 4180: quotes, line ends in them), with commas, semicolons or tabs; null if the text is not a table.
 */
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

  /** Returns the record at `at`. A blank line is not a record, but belongs to the table. */
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
