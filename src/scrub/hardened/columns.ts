import { indexOrEnd } from '../../text/terminal.ts';
import type { Finding } from '../finding.ts';
import { isMadeOfWords } from '../words.ts';

/** The rule of a value that stands in a column under a name for a secret. */
const RULE = 'secret-column';
/** A whole cell with such a name, as tables have it in their first line. */
const NAME =
  /^(?:[a-z0-9]+[_ -])*(?:password|passwd|passphrase|pwd?|secret|(?:access|auth|api|bearer|refresh|bot)[_ -]?token|token|(?:api|access|secret|private|encryption|signing|master)[_ -]?key|apikey|secretkey|accesskey|credentials?)$/i;
/** A password may be a word; a key or a token has digits. */
const PASSWORD = /pass|pwd|(?:^|[_ -])pw$/i;
const NAMED = /^[A-Za-z_][\w .#/-]{0,40}$/;
/** Finds the lines that may be such a line: quick, so that other texts cost next to nothing. */
const IN_NAME = /pass|pwd|[_ -]pw|secret|token|key|credential/gi;
const MAX_HEADER_CHARS = 1_000;
const MAX_ROW_CHARS = 10_000;
const MAX_CELLS = 64;
const SEPARATORS = ['\t', ',', ';', '|'];
/** A line that separates a header from its rows. */
const RULER = /^[\s|+=:_-]+$/;
/** Shorter values are no secrets; longer ones do not stand in tables. */
const MIN_VALUE_CHARS = 4;
const MAX_VALUE_CHARS = 500;
const MIN_KEY_CHARS = 8;
/** What stands for a value that is not there or not shown. */
const NO_VALUE =
  /^(?:null|none|nil|n\/a|yes|no|true|false|set|unset|<[^>]*>|\(.*\)|\[.*\]|\*+|[-.•xX]+|required|optional|string|text|varchar.*|char.*|password|secret|token|hidden|masked|redacted)$/i;

interface Cell {
  text: string;
  /** Offset in the line. */
  start: number;
}

/**
 * Finds the values of a table's columns that are named like secrets: comma, semicolon or tab separated, or drawn with
 * bars. The rows end at a line with another number of cells. A name of one column alone is not a table.
 */
export function findColumns(text: string): Finding[] {
  const found: Finding[] = [];
  IN_NAME.lastIndex = 0;
  for (let match = IN_NAME.exec(text); match !== null; match = IN_NAME.exec(text)) {
    const start = text.lastIndexOf('\n', match.index) + 1;
    const end = indexOrEnd(text, '\n', match.index);
    IN_NAME.lastIndex = end;
    if (end - start > MAX_HEADER_CHARS) continue;
    const line = text.slice(start, end);
    if (NAME.test(line.trim())) IN_NAME.lastIndex = Math.max(end, readColumn(text, end + 1, line.trim(), found));
    for (const separator of SEPARATORS) {
      const cells = cellsOf(line, separator);
      const columns = cells.flatMap(({ text: name }, position) =>
        NAME.test(name) ? [{ position, isPassword: PASSWORD.test(name) }] : [],
      );
      if (columns.length === 0 || !isHeader(line, cells, separator)) continue;
      IN_NAME.lastIndex = readRows(text, end + 1, { separator, count: cells.length, columns }, found);
      break;
    }
  }
  return found;
}

/** Names and nothing else. Code and prose put a blank after a comma, and code ends lists with one. */
function isHeader(line: string, cells: readonly Cell[], separator: string): boolean {
  const inner =
    separator === '|' ? cells.filter(({ text }, at) => text !== '' || (at > 0 && at < cells.length - 1)) : cells;
  const isTight = separator === '|' || separator === '\t' || !line.includes(`${separator} `);
  // Alternatives of a type are one cell after a bar: `| 'Authorization'`.
  const isRow = cells.length > (inner.length > 1 ? 1 : 2);
  return isTight && isRow && inner.every(({ text }) => NAMED.test(text));
}

/** The line below the name of a single column, as psql and sqlcmd draw it, and the one that counts its rows. */
const UNDERLINE = /^-{3,}[ \t]*\r?$/;
const COUNT = /^\([0-9]+ rows?(?: affected)?\)\r?$/;

/** Adds the values of a table of one column. Without the count of its rows it is a heading with text below it. Returns where it ends. */
function readColumn(text: string, from: number, name: string, found: Finding[]): number {
  const isPassword = PASSWORD.test(name);
  const values: Finding[] = [];
  let end = indexOrEnd(text, '\n', from);
  if (end - from > MAX_HEADER_CHARS || !UNDERLINE.test(text.slice(from, end))) return from;
  while (end < text.length) {
    const at = end + 1;
    end = indexOrEnd(text, '\n', at);
    if (end - at > MAX_ROW_CHARS) return from;
    const line = text.slice(at, end);
    const value = line.trim();
    if (COUNT.test(value)) {
      found.push(...values);
      return end;
    }
    if (/\s/.test(value)) return end;
    const start = at + line.indexOf(value);
    if (isValue(value, isPassword)) values.push({ rule: RULE, start, end: start + value.length });
  }
  return from;
}

interface Table {
  separator: string;
  /** Cells of each line. */
  count: number;
  /** The columns that are named like secrets. */
  columns: readonly { position: number; isPassword: boolean }[];
}

/** Adds the values of the rows from an offset on. Returns where they end. */
function readRows(text: string, from: number, { separator, count, columns }: Table, found: Finding[]): number {
  let at = from;
  while (at < text.length) {
    const lineEnd = text.indexOf('\n', at);
    const end = lineEnd === -1 ? text.length : lineEnd;
    if (end - at > MAX_ROW_CHARS) break;
    const line = text.slice(at, end);
    if (!RULER.test(line)) {
      const cells = cellsOf(line, separator);
      if (cells.length !== count) break;
      for (const { position, isPassword } of columns) {
        const { text: value, start } = cells[position] ?? { text: '', start: 0 };
        if (isValue(value, isPassword)) found.push({ rule: RULE, start: at + start, end: at + start + value.length });
      }
    } else if (separator !== '|') break;
    at = end + 1;
  }
  return Math.min(at, text.length);
}

function isValue(value: string, isPassword: boolean): boolean {
  if (value.length < MIN_VALUE_CHARS || value.length > MAX_VALUE_CHARS || /\s/.test(value)) return false;
  if (NO_VALUE.test(value)) return false;
  return isPassword || (/[0-9]/.test(value) && value.length >= MIN_KEY_CHARS && !isMadeOfWords(value));
}

/** The cells of a line without blanks and quotes around them. A quoted cell may hold the separator. */
function cellsOf(line: string, separator: string): Cell[] {
  const cells: Cell[] = [];
  for (let at = 0; at <= line.length && cells.length <= MAX_CELLS; ) {
    const end = cellEnd(line, at, separator);
    cells.push(trimmed(line, at, end));
    at = end + 1;
  }
  return cells;
}

function cellEnd(line: string, start: number, separator: string): number {
  const close = line[start] === '"' ? line.indexOf('"', start + 1) : -1;
  const next = line.indexOf(separator, Math.max(start, close));
  return next === -1 ? line.length : next;
}

const AROUND_CELL = ' \t\r"\'';

function trimmed(line: string, start: number, end: number): Cell {
  let from = start;
  let to = end;
  while (from < to && AROUND_CELL.includes(line[from] ?? '')) from++;
  while (to > from && AROUND_CELL.includes(line[to - 1] ?? '')) to--;
  return { text: line.slice(from, to), start: from };
}
