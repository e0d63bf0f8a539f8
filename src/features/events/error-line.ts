import { cutBefore } from '../../tokens/cut-points.ts';
import { bodyOf } from '../../tokens/views/errors/blocks.ts';
import { isSummaryLine } from '../../tokens/views/errors/error-line.ts';
import { errorLines } from '../../tokens/views/errors/find-errors.ts';

/** UTF-16 units at the end of a text that are searched, and those of the line that is kept. */
const SEARCHED_CHARS = 64 * 1024;
const KEPT_CHARS = 300;

/**
 * The line that says best why a command failed, '' if it printed nothing: the first error near the end of its output that is
 * more than a sum of others, otherwise the last line. `texts`: scrubbed, the most telling first, such as stderr.
 */
export function errorLineOf(texts: readonly string[]): string {
  const ends = texts.map((text) => text.slice(searchStart(text)));
  const found = ends.map(errorsIn);
  const line =
    found.map(({ telling }) => telling).find((one) => one !== '') ??
    found.map(({ summary }) => summary).find((one) => one !== '') ??
    ends.map(lastLine).find((one) => one !== '') ??
    '';
  return line.slice(0, cutBefore(line, KEPT_CHARS));
}

function searchStart(text: string): number {
  if (text.length <= SEARCHED_CHARS) return 0;
  const newline = text.indexOf('\n', text.length - SEARCHED_CHARS);
  return newline === -1 ? text.length : newline + 1;
}

function errorsIn(text: string): { telling: string; summary: string } {
  let summary = '';
  for (const { body } of errorLines(text, 0)) {
    if (!isSummaryLine(body)) return { telling: body.trim(), summary };
    if (summary === '') summary = body.trim();
  }
  return { telling: '', summary };
}

function lastLine(text: string): string {
  const end = text.trimEnd();
  return bodyOf(end.slice(end.lastIndexOf('\n') + 1)).trim();
}
