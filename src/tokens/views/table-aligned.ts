import { lineAt, lineEndOf, type Row, type Table } from './table.ts';

/** Rows sampled to find where columns are separated, and the share of them that may deviate. */
const SAMPLE_ROWS = 500;
const SAMPLE_STRAYS = 0.05;
/** Widths beyond this are one cell. UTF-16 units. */
const WIDTH_MAX_CHARS = 4_096;
const HEADING_LINES = 3;
const BLANK = ' ';

interface Word {
  start: number;
  end: number;
}

/** How many of the sampled rows have no blank at a position. */
interface Sample {
  rows: number;
  inked: Uint32Array;
}

/**
 * Finds a table whose columns are separated by blanks (docker ps, ps aux, kubectl get, df); null if the text has no
 * such table.
 */
export function findAligned(text: string): Table | null {
  const heading = findHeading(text);
  if (heading === null) return null;
  const title = stripEnd(text.slice(heading.start, heading.end)).slice(0, WIDTH_MAX_CHARS);
  const words = mergeWords(wordsOf(title), sampleRows(text, heading.end));
  if (words.length < 2) return null;
  return {
    dialect: 'aligned',
    names: words.map(({ name }) => title.slice(name.start, name.end)),
    heading: [heading],
    start: heading.end,
    rowAt: (at) => {
      const line = lineAt(text, at);
      return line !== null && text.slice(line.start, line.end).trim() === '' ? null : line;
    },
    project: (row, columns) => projectLine(text.slice(row.start, row.end), words, columns),
  };
}

/** The first line with a wide gap in it, among the first few; else the first. */
function findHeading(text: string): Row | null {
  const lines: Row[] = [];
  for (let line = lineAt(text, 0); line && lines.length < HEADING_LINES; line = lineAt(text, line.end)) {
    if (text.slice(line.start, line.end).trim() !== '') lines.push(line);
    else if (lines.length > 0) break;
  }
  return lines.find((line) => /\S {2,}\S/.test(text.slice(line.start, line.end))) ?? lines[0] ?? null;
}

function sampleRows(text: string, start: number): Sample {
  const sample = { rows: 0, inked: new Uint32Array(WIDTH_MAX_CHARS) };
  for (let line = lineAt(text, start); line && sample.rows < SAMPLE_ROWS; line = lineAt(text, line.end)) {
    const row = stripEnd(text.slice(line.start, Math.min(line.end, line.start + WIDTH_MAX_CHARS)));
    if (row.trim() === '') break;
    sample.rows++;
    for (let i = 0; i < row.length; i++) if (row[i] !== BLANK) sample.inked[i] = (sample.inked[i] ?? 0) + 1;
  }
  return sample;
}

interface Column {
  /** The words of the heading. */
  name: Word;
  /** Where the cells begin. */
  from: number;
}

/** Words of the heading that no blank column separates are one name: CONTAINER ID, Mounted on. */
function mergeWords(words: readonly Word[], sample: Sample): Column[] {
  const columns: Column[] = [];
  const hasWideGap = words.some((word, i) => i > 0 && word.start - (words[i - 1]?.end ?? 0) > 1);
  for (const [i, word] of words.entries()) {
    const last = columns.at(-1);
    const from =
      last === undefined ? firstCut(word, sample) : cutBetween(last.name, word, words[i + 1], sample, hasWideGap);
    if (last === undefined && from !== null && from > 0) columns.push({ name: { start: 0, end: 0 }, from: 0 });
    if (from !== null) columns.push({ name: { ...word }, from });
    else if (last !== undefined) last.name.end = word.end;
  }
  return columns;
}

/** Where the first named column begins; not 0 if one without a name stands before it (free). */
function firstCut(word: Word, sample: Sample): number {
  const cut = lastGap({ start: 0, end: 0 }, word, sample);
  return cut === null || !isInked(sample, 0, cut) ? 0 : cut;
}

function cutBetween(
  left: Word,
  right: Word,
  next: Word | undefined,
  sample: Sample,
  hasWideGap: boolean,
): number | null {
  const isNarrow = right.start - left.end === 1;
  const cut = lastGap(left, right, sample);
  if (!isNarrow) return cut ?? right.start;
  if (cut === null) return null;
  if (sample.rows === 0) return hasWideGap ? null : cut;
  return isInked(sample, cut, next?.start ?? WIDTH_MAX_CHARS) ? cut : null;
}

/** The place after the last position between two words of the heading where (nearly) every row is blank. */
function lastGap(left: Word, right: Word, { rows, inked }: Sample): number | null {
  const strays = Math.floor(rows * SAMPLE_STRAYS);
  for (let at = right.start - 1; at >= left.end; at--) if ((inked[at] ?? 0) <= strays) return at + 1;
  return null;
}

function isInked({ inked }: Sample, from: number, to: number): boolean {
  return inked.subarray(from, to).some((count) => count > 0);
}

function wordsOf(title: string): Word[] {
  return [...title.matchAll(/\S+/g)].map((found) => ({ start: found.index, end: found.index + found[0].length }));
}

function projectLine(line: string, columns: readonly Column[], asked: readonly number[]): string {
  const end = lineEndOf(line);
  const body = line.slice(0, line.length - end.length);
  const cuts = cutsOf(body, columns);
  const cells = asked.map((at) => {
    const cell = body.slice(cuts[at] ?? body.length, cuts[at + 1] ?? body.length);
    // A cell that ended its line has no blanks to part it from the next one.
    const { name } = columns[at] ?? { name: { start: 0, end: 0 } };
    return cell.endsWith(BLANK) ? cell : `${cell.padEnd(name.end - name.start)}${BLANK}`;
  });
  return stripEnd(cells.join('')) + end;
}

/** Returns where the cells of a row begin. A value that reaches beyond its column's edge is never split. */
function cutsOf(body: string, columns: readonly Column[]): number[] {
  const cuts: number[] = [];
  for (const [i, { from }] of columns.entries()) {
    const last = cuts.at(-1) ?? 0;
    // A column that lies wholly under an overlong value before it has been pushed: its value is the next word.
    const isPushed = from <= last && last > (columns[i - 1]?.from ?? last);
    cuts.push(isPushed ? wordEnd(body, last) : cutAt(body, from, last, columns[i - 1]?.name.end ?? 0));
  }
  return cuts;
}

/** `from`, or an end of the word that lies across it. */
function cutAt(body: string, from: number, last: number, nameEnd: number): number {
  let cut = Math.min(Math.max(from, last), body.length);
  if (!isInWord(body, cut)) return cut;
  const start = body.lastIndexOf(BLANK, cut - 1) + 1;
  // It belongs to the right, as numbers do, when the left column has a value before it.
  if (start > nameEnd && body.slice(last, start).trim() !== '') return start;
  while (isInWord(body, cut)) cut++;
  return cut;
}

function wordEnd(body: string, at: number): number {
  let end = at;
  while (end < body.length && body[end] === BLANK) end++;
  while (end < body.length && body[end] !== BLANK) end++;
  return end;
}

function isInWord(body: string, at: number): boolean {
  return at > 0 && at < body.length && body[at - 1] !== BLANK && body[at] !== BLANK;
}

/** Without the line end and the blanks before it; `trimEnd` would take other white space too. */
function stripEnd(line: string): string {
  let end = line.length;
  while (end > 0 && (line[end - 1] === BLANK || line[end - 1] === '\n' || line[end - 1] === '\r')) end--;
  return line.slice(0, end);
}
