import { lineAt, lineEndOf, type Row, type Table } from './table.ts';

/** A line that only draws: the rule under a heading, a border. */
const RULE =
  /^[ \t]*(?=[^\r\n]*[-=─═━])(?=[^\r\n]*[+|┼├┤┬┴┌┐└┘╞╡╪╬╠╣╦╩╔╗╚╝])[-=:+| \t─═━┼├┤┬┴┌┐└┘╞╡╪╬╠╣╦╩╔╗╚╝]+\r?\n?$/u;
const JUNCTION = /[+|┼├┤┬┴┌┐└┘╞╡╪╬╠╣╦╩╔╗╚╝]/u;
const JUNCTIONS = new RegExp(JUNCTION, 'gu');
/** A `\|` of Markdown is no separator. */
const SEPARATOR = /(?<!\\)[|│║]/;
const SEPARATORS = new RegExp(SEPARATOR, 'g');

/** The first table of Markdown, psql, mysql or box drawings in a text; null when there is none. */
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
