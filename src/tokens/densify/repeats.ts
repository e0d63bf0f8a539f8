import type { Edited } from '../../text/edited-text.ts';
import { Edit } from '../../text/edited-text.ts';
import { LF } from '../../text/terminal.ts';

/** Longer lines are not folded: a folded run is one unit and must fit a small budget. */
const LINE_MAX_CHARS = 4096;
/** A text that already contains this notice is left alone, so that folded and printed lines are not confused. */
const NOTICE = '\u2026 the line above ';
/** Tokens of a notice, by cl100k_base: ten, and one for every three digits more. */
const NOTICE_TOKENS = 12;
/** Bytes that its two ellipses take beyond their characters. */
const NOTICE_EXTRA_BYTES = 4;
/** Words, numbers and signs: each begins a token. */
const TOKENS = /\p{L}+|\p{N}{1,3}|[^\s\p{L}\p{N}]+/gu;
/** Line ends that one token can hold. */
const BLANK_LINES_PER_TOKEN = 32;

/** Folds equal neighbouring lines into the first one and a line that counts the others. Null: nothing was folded. */
export function foldRepeats(source: string): Edited | null {
  let edit: Edit | null = null;
  let start = 0;
  let end = source.indexOf('\n') + 1;
  while (end > 0) {
    const runEnd = endOfRun(source, start, end);
    if (runEnd > end) {
      edit ??= newEdit(source);
      if (edit === null) return null;
      fold(source, start, end, runEnd, edit);
    }
    start = runEnd;
    end = source.indexOf('\n', start) + 1;
  }
  return edit?.finish() ?? null;
}

function newEdit(source: string): Edit | null {
  return source.includes(NOTICE) ? null : new Edit(source);
}

/** Where the lines end that are the same as [start, end), its line end included. */
function endOfRun(source: string, start: number, end: number): number {
  const length = end - start;
  if (length > LINE_MAX_CHARS) return end;
  let at = end;
  while (isSame(source, start, at, length)) at += length;
  return at;
}

/** Compares from both ends at once, because similar lines differ near one of them. */
function isSame(source: string, first: number, second: number, length: number): boolean {
  if (source.charCodeAt(second + length - 1) !== LF) return false;
  for (let [front, back] = [0, length - 1]; front <= back; front++, back--) {
    if (source.charCodeAt(first + front) !== source.charCodeAt(second + front)) return false;
    if (source.charCodeAt(first + back) !== source.charCodeAt(second + back)) return false;
  }
  return true;
}

function fold(source: string, start: number, end: number, runEnd: number, edit: Edit): void {
  const more = (runEnd - end) / (end - start);
  const line = source.slice(start, end);
  const notice = noticeOf(more, line.endsWith('\r\n') ? '\r\n' : '\n');
  if (notice.length + NOTICE_EXTRA_BYTES >= runEnd - end) return;
  if (leastTokens(line) * more > NOTICE_TOKENS) edit.replace(start, runEnd, line + notice);
}

function noticeOf(more: number, lineEnd: string): string {
  return `${NOTICE}${more} more ${more === 1 ? 'time' : 'times'} \u2026${lineEnd}`;
}

/** A lower bound of the tokens that one more such line costs. */
function leastTokens(line: string): number {
  return line.match(TOKENS)?.length ?? 1 / BLANK_LINES_PER_TOKEN;
}
