import { CONTROL_SEQUENCES } from '../../../text/terminal.ts';
import type { Span } from '../grep/numbered-lines.ts';

/** Longest part of a line that is looked at, UTF-16 units. */
export const LOOKED_AT_CHARS = 2_000;
/** Lines of a message that are kept behind and before the line that tells of the error. */
const AFTER_MAX_LINES = 30;
const BEFORE_MAX_LINES = 12;
/** How far above its finding a linter names the file. */
const HEADING_MAX_LINES = 60;
const TRACEBACK_MAX_LINES = 2_000;

/** Empty lines a message may have within. */
const BLANK_MAX_LINES = 2;
/** Lines a message may continue before something that belongs to it. */
const STRAY_MAX_LINES = 2;
/** Lines from a message to the caret under the source it speaks of. */
const CARET_MAX_LINES = 4;

/** Source excerpts, arrows, stack frames, differences and hints continue the message above at any indentation. */
const CONTINUES_MESSAGE = new RegExp(
  [
    '^\\s*(?:\\d{1,7}\\s*[|│]|[|│╵╰└]|-->|:::|= |at\\s|[❯➜>^]|[-+](?:\\s|\\d)|\\?\\s)',
    '^#\\d{1,4}\\s+(?:0x|/|\\{main\\}|\\[internal|[\\w.:\\\\]{1,200}\\()',
    '^(?:help|note|hint): ',
    '^\\s*(?:[Ee]xpected|[Aa]ctual|[Rr]eceived|[Gg]ot|[Ww]ant)\\b[^:]{0,40}:',
    '^(?:goroutine \\d+ \\[|\\[signal |created by )',
    '^[\\w./()*-]{1,200}\\([\\da-fx{}?,. ]{0,200}\\)$',
  ].join('|'),
);
const PASSED = /^\s*[✓✔√]/;
const CARET = /^[\s\d|│]*[\^~][\s^~|│─-]*$/;
const EXCEPTION = /^(?:[\w.]+\.)?(?:[A-Z]\w*)?(?:Error|Exception|Interrupt)\b/;
const NUMBERED = /^\s*(?:\d{1,5}\) \S|● |\S+:\d+:\d+ \w+\/)/;
const LINTED = /^\s+\d{1,7}:\d{1,7}\s+(?:error|✖)\s/;
/** pytest: what was asserted, the line of source that asserts, and the name of the test above both. */
const ASSERTED = /^E {3,}\S/;
const ASSERTION = /^> {3,}\S/;
const TEST_NAME = /^_{3,} .+ _{3,}$/;
const TRACEBACK = /^\s*(?:E\s+)?Traceback \(most recent call last\)/;

/** The lines behind an error line that belong to its message. */
export function linesAfter(text: string, line: Span, body: string): number {
  const indent = indentOf(body);
  let kept = body.trimEnd().endsWith(':') ? 1 : 0;
  let blank = 0;
  /** Whether a line has come that is part of the message only if its continuation follows. */
  let strayed = false;
  let next = lineAfter(text, line);
  for (let read = 1; next !== null && read <= AFTER_MAX_LINES; next = lineAfter(text, next), read += 1) {
    const nextBody = bodyAt(text, next);
    const isBlank = nextBody.trim() === '';
    blank = isBlank ? blank + 1 : 0;
    if (blank > BLANK_MAX_LINES || (isBlank && strayed) || PASSED.test(nextBody)) break;
    if (isBlank || read <= kept) continue;
    if (CONTINUES_MESSAGE.test(nextBody) || (!strayed && (indentOf(nextBody) > indent || hasCaret(text, next, read))))
      kept = read;
    else if (read <= STRAY_MAX_LINES && !strayed) strayed = true;
    else break;
  }
  return kept;
}

/** Whether a caret stands under a line: source that a compiler prints as it is. */
function hasCaret(text: string, line: Span, read: number): boolean {
  let at: Span | null = line;
  for (let looked = read; at !== null && looked < CARET_MAX_LINES; looked += 1) {
    if (CARET.test(bodyAt(text, at))) return true;
    at = lineAfter(text, at);
  }
  return false;
}

/** The lines before an error line that belong to its message, none before `floor`. */
export function linesBefore(text: string, line: Span, body: string, floor: number): number {
  if (body.trimStart().startsWith('--- FAIL')) return deeperBefore(text, line, indentOf(body), floor);
  if (EXCEPTION.test(body)) return excerptBefore(text, line, floor);
  if (ASSERTED.test(body)) return assertionBefore(text, line, floor);
  return indentOf(body) >= 2 ? numberedBefore(text, line, indentOf(body), floor) : 0;
}

/** What a test of Go logged stands above the line that says it failed. */
function deeperBefore(text: string, line: Span, indent: number, floor: number): number {
  let count = 0;
  for (let at = lineBefore(text, line, floor); at !== null; at = lineBefore(text, at, floor)) {
    if (count === BEFORE_MAX_LINES || indentOf(bodyAt(text, at)) <= indent || at.start === at.end) break;
    count += 1;
  }
  return count;
}

/** The place, the source and its caret, as Python and Node print them above an exception. */
function excerptBefore(text: string, line: Span, floor: number): number {
  let at = lineBefore(text, line, floor);
  let count = 1;
  if (at !== null && at.start === at.end) {
    at = lineBefore(text, at, floor);
    count += 1;
  }
  return at !== null && CARET.test(bodyAt(text, at)) ? count + 2 : 0;
}

function assertionBefore(text: string, line: Span, floor: number): number {
  let at = lineBefore(text, line, floor);
  for (let count = 1; at !== null && count <= BEFORE_MAX_LINES / 2; count += 1) {
    if (ASSERTION.test(bodyAt(text, at))) return count;
    at = lineBefore(text, at, floor);
  }
  return 0;
}

/** The numbered name of the test, a few lines above. */
function numberedBefore(text: string, line: Span, indent: number, floor: number): number {
  let at = lineBefore(text, line, floor);
  for (let count = 1; at !== null && count <= BEFORE_MAX_LINES / 2; count += 1) {
    const body = bodyAt(text, at);
    if (NUMBERED.test(body) && indentOf(body) < indent) return count;
    if (indentOf(body) === 0 && body !== '') return 0;
    at = lineBefore(text, at, floor);
  }
  return 0;
}

/**
 * Returns a line above that names the place: the file of a linter's finding, the test of pytest. Null if another
 * finding is between.
 */
export function headingOf(text: string, line: Span, body: string, floor: number): Span | null {
  if (!LINTED.test(body) && !ASSERTED.test(body)) return null;
  let at = lineBefore(text, line, floor);
  for (let count = 0; at !== null && count < HEADING_MAX_LINES; count += 1) {
    const above = bodyAt(text, at);
    if (LINTED.test(body) ? above !== '' && indentOf(above) === 0 : TEST_NAME.test(above)) return at;
    at = lineBefore(text, at, floor);
  }
  return null;
}

/** The exception that ends a traceback of Python: how many `lines` lie between, and how many of them are kept `before` it. */
export function exceptionOf(text: string, line: Span, body: string): (Span & { lines: number; before: number }) | null {
  if (!TRACEBACK.test(body)) return null;
  const indent = indentOf(body);
  let at = lineAfter(text, line);
  for (let count = 0; at !== null && count < TRACEBACK_MAX_LINES; count += 1) {
    const next = bodyAt(text, at);
    if (next.trim() !== '' && indentOf(next) <= indent)
      return { ...at, lines: count, before: Math.min(count, BEFORE_MAX_LINES) };
    at = lineAfter(text, at);
  }
  return null;
}

export function bodyAt(text: string, { start, end }: Span): string {
  return bodyOf(text.slice(start, Math.min(end, start + LOOKED_AT_CHARS)));
}

/** The next line, without its line end; null at the end of the text. */
export function lineAfter(text: string, { end }: Span): Span | null {
  if (end + 1 >= text.length) return null;
  const newline = text.indexOf('\n', end + 1);
  return { start: end + 1, end: newline === -1 ? text.length : newline };
}

/** The line before, unless it begins before `floor`. */
function lineBefore(text: string, { start }: Span, floor: number): Span | null {
  if (start <= floor) return null;
  const before = start < 2 ? 0 : text.lastIndexOf('\n', start - 2) + 1;
  return before < floor ? null : { start: before, end: start - 1 };
}

/** What builders and loggers put before a line: a time, `#8 1.234 ` of docker, `web-1  | ` of compose. */
const PREFIX =
  /^(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]{0,10}(?:Z|[+-]\d\d:?\d\d)?\s+|#\d{1,5} \d{1,7}\.\d{1,6} |[A-Za-z][\w.-]{0,40} {1,20}\| )/;

/** A line as its program wrote it: without colours, what a carriage return wrote over, and the prefix of a builder. */
export function bodyOf(line: string): string {
  const plain = line.includes('\u001b') ? line.replace(CONTROL_SEQUENCES, '') : line;
  const ended = plain.endsWith('\r') ? plain.slice(0, -1) : plain;
  return ended.slice(ended.lastIndexOf('\r') + 1).replace(PREFIX, '');
}

/** How far a line is indented, in characters. */
function indentOf(body: string): number {
  const at = body.search(/\S/);
  return at === -1 ? body.length : at;
}
