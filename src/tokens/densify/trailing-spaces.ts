import type { Edited } from '../../text/edited-text.ts';
import { Edit } from '../../text/edited-text.ts';
import { CR } from '../../text/terminal.ts';

const [TAB, SPACE] = [0x09, 0x20];
/** From here on a blank at a line end is content: a unified diff, whether painted or not. */
const PATCH = new RegExp(`^(?:${String.fromCharCode(0x1b)}\\[[\\d;]*m)*(?:diff --git |@@+ -)`, 'm');
/** A line that is quoted from a file: by its number, or its place. */
const QUOTED = /^(?:\s*\d+[:\t\u2192|-]|\s*\d+ |[^\s:][^:]*:\d+[:-])/;
/** Blanks that are written over something, or may be. */
const WRITTEN_OVER = ['\r', '\b', '\u001b', '\u009b'] as const;
/** A place is looked for so far into a line. */
const QUOTED_MAX_CHARS = 512;

/** Leaves out blanks before line ends where they are padding. Null: there are none. */
export function dropTrailingSpaces(source: string): Edited | null {
  let edit: Edit | null = null;
  let patch = -1;
  let start = 0;
  for (let lineEnd = source.indexOf('\n'); lineEnd >= 0; lineEnd = source.indexOf('\n', start)) {
    const end = source.charCodeAt(lineEnd - 1) === CR && lineEnd > start ? lineEnd - 1 : lineEnd;
    if (end > start && isBlank(source.charCodeAt(end - 1))) {
      edit ??= new Edit(source);
      if (patch < 0) patch = startOfPatch(source);
      if (start >= patch) break;
      const from = textEnd(source, start, end);
      if (isPadding(source, start, from, end)) edit.drop(from, end);
    }
    start = lineEnd + 1;
  }
  return edit?.finish() ?? null;
}

function startOfPatch(source: string): number {
  const found = source.search(PATCH);
  return found < 0 ? source.length : found;
}

function textEnd(source: string, start: number, end: number): number {
  let from = end;
  while (from > start && isBlank(source.charCodeAt(from - 1))) from--;
  return from;
}

/**
 * Whether the blanks [from, end) of the line that begins at `start` mean nothing. They do mean something as a hard break
 * of Markdown (two), above a signature ("-- "), behind a backslash, and as empty fields at the end of a row (tabs
 * behind tabs).
 */
function isPadding(source: string, start: number, from: number, end: number): boolean {
  if (from === start) return true;
  const blanks = source.slice(from, end);
  const text = source.slice(start, from);
  if (blanks === '  ' || text === '--' || text.endsWith('\\')) return false;
  if (WRITTEN_OVER.some((control) => text.includes(control))) return false;
  if (blanks.includes('\t') && text.includes('\t')) return false;
  return !QUOTED.test(text.slice(0, QUOTED_MAX_CHARS));
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}
