import { cutBefore } from '../../tokens/cut-points.ts';
import { bodyOf } from '../../tokens/views/errors/blocks.ts';
import { errorLines } from '../../tokens/views/errors/find-errors.ts';
import { failedTestIn, isResultLine } from './test-result.ts';

/** UTF-16 units at the end of a text that are searched, and those of the line that is kept. */
const SEARCHED_CHARS = 64 * 1024;
const KEPT_CHARS = 300;

/** A line between rules, a marked line that ends with a colon, and the one above a traceback: they announce an error. */
const HEADING = /^\s*(?:([=_~*#─━-])\1{2,}.*\1{3,}|[^\w\s] .*:|error: [|>]-?|Traceback \(most recent call last\):)$/u;
/** What a failed check throws. Beside it a test may print other errors, as it should. */
const THROWN = /(?:Error|Exception)(?: \[\w+\])?: *\S|panicked at|^E {3,}/;

/**
 * The line that says best why a command failed, '' if it printed nothing: the first error near the end of its output that is
 * more than a heading, the name of a test or a sum of others, otherwise the last line. `texts`: scrubbed, the most telling first, such as stderr.
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

/** Whether an output has an error, not only the name or the number of tests that failed. */
export function hasErrorLine(texts: readonly string[]): boolean {
  return texts.some((text) => errorsIn(text.slice(searchStart(text))).telling !== '');
}

function searchStart(text: string): number {
  if (text.length <= SEARCHED_CHARS) return 0;
  const newline = text.indexOf('\n', text.length - SEARCHED_CHARS);
  return newline === -1 ? text.length : newline + 1;
}

function errorsIn(text: string): { telling: string; summary: string } {
  const bodies = [...errorLines(text, 0)].map(({ body }) => body).filter((body) => !HEADING.test(body));
  const telling = bodies.filter((body) => !isResultLine(body));
  const ofTests = bodies.some((body) => failedTestIn(body).length > 0)
    ? telling.find((body) => THROWN.test(body))
    : undefined;
  return { telling: (ofTests ?? telling[0] ?? '').trim(), summary: (bodies.find(isResultLine) ?? '').trim() };
}

function lastLine(text: string): string {
  const end = text.trimEnd();
  return bodyOf(end.slice(end.lastIndexOf('\n') + 1)).trim();
}
