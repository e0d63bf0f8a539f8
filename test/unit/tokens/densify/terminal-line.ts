const ESC = String.fromCharCode(0x1b);
/** Styles, titles and links: none of them is visible. */
const UNSEEN = new RegExp(
  `${ESC}\\[[0-9;:?]*[mhl]|${ESC}\\][^${ESC}]*?(?:${String.fromCharCode(7)}|${ESC}\\\\)|${ESC}[(]B`,
  'g',
);
const PART = new RegExp(`${ESC}\\[(\\d*)([A-Za-z])|.`, 'gsu');
const WIDE = /[\u4e00-\u9fff\u3040-\u30ff\u{1f300}-\u{1f6ff}]/u;

/**
 * What a terminal finally shows of one line without its line end, trailing blanks left out: a slow second
 * implementation, cell by cell. Sequences that leave the line, and unknown controls, are shown as they are.
 */
export function shownLine(line: string): string {
  const cells: string[] = [];
  let column = 0;
  for (const [part, digits = '', final] of line.replace(UNSEEN, '').matchAll(PART)) {
    const number = digits === '' ? undefined : Number(digits);
    if (final === 'G') column = (number || 1) - 1;
    else if (final === 'C') column += number || 1;
    else if (final === 'D') column = Math.max(0, column - (number || 1));
    else if (final === 'K' || final === 'J') erase(cells, column, number ?? 0);
    else if (part === '\r') column = 0;
    else if (part === '\b') column = Math.max(0, column - 1);
    else column = put(cells, column, part);
  }
  return cells.join('').trimEnd();
}

function erase(cells: string[], column: number, which: number): void {
  const [from, to] = [which === 0 ? column : 0, which === 1 ? column + 1 : cells.length];
  for (let at = from; at < Math.min(to, cells.length); at++) blank(cells, at);
}

/** The second cell of a wide character is empty; half a wide character is a blank. */
function put(cells: string[], column: number, character: string): number {
  while (cells.length < column) cells.push(' ');
  const width = WIDE.test(character) ? 2 : 1;
  for (let at = column; at < column + width; at++) blank(cells, at);
  cells[column] = character;
  if (width === 2) cells[column + 1] = '';
  return column + width;
}

function blank(cells: string[], at: number): void {
  if (cells[at] === '') cells[at - 1] = ' ';
  if (cells[at + 1] === '') cells[at + 1] = ' ';
  cells[at] = ' ';
}

/** `text` with every folded run written out again. */
export function unfolded(text: string): string {
  return text.replace(/^([^\n]*\n)… the line above (\d+) more times? …\r?\n/gm, (_all, line: string, more: string) =>
    line.repeat(Number(more) + 1),
  );
}
