import type { Span } from '../grep/numbered-lines.ts';
import {
  bodyAt,
  bodyOf,
  exceptionOf,
  headingOf,
  LOOKED_AT_CHARS,
  lineAfter,
  linesAfter,
  linesBefore,
} from './blocks.ts';
import { errorIn } from './error-line.ts';

/** How much before a keyword is looked at in a line that is too long to be looked at as a whole. */
const LEAD_CHARS = 200;
/** Lines kept of a traceback's beginning. */
const TRACEBACK_HEAD_LINES = 12;

/** A line that tells of an error, without its line end. */
export interface ErrorLine extends Span {
  /** What it says, without colours. Of a long line a part. */
  body: string;
  /** Roughly where in the text it says so, because characters left out of the body are not counted. */
  place: number;
  /** Lines around it that belong to its message. */
  before: number;
  after: number;
  /** A line further above that names the file. */
  heading: Span | null;
}

/**
 * Finds the error lines of a text from `textFrom` on, which must be the start of a line, in order. Linear in the text.
 */
export function* errorLines(text: string, textFrom: number): Generator<ErrorLine> {
  const blocks = new Blocks(text, textFrom);
  let line: Span = { start: textFrom, end: textFrom - 1 };
  for (let at = textFrom; at < text.length; ) {
    const keyword = nextKeyword(text, at);
    if (keyword === -1) return;
    if (keyword > line.end) line = lineAround(text, keyword, line.end + 1);
    const from = line.end - line.start <= LOOKED_AT_CHARS ? line.start : Math.max(line.start, keyword - LEAD_CHARS);
    const body = bodyOf(text.slice(from, Math.min(line.end, from + LOOKED_AT_CHARS)));
    const place = errorIn(body);
    if (place !== -1) {
      const found = blocks.of({ ...line, body, place: from + place });
      yield* found;
      line = found.at(-1) ?? line;
      at = line.end;
    } else at = Math.min(line.end, keyword + LOOKED_AT_CHARS - LEAD_CHARS);
  }
}

/** Finds what belongs to a message. No line is given to two messages, so that the work for all of them is linear. */
class Blocks {
  readonly #text: string;
  /** Where the message ends that was found last, and the line it was found in. */
  #blockEnd: number;
  #floor: number;

  constructor(text: string, from: number) {
    this.#text = text;
    this.#blockEnd = from;
    this.#floor = from;
  }

  /** One error line; of a traceback its first line and the exception at its end. */
  of(line: Span & { body: string; place: number }): ErrorLine[] {
    const exception = exceptionOf(this.#text, line, line.body);
    if (exception === null) return [this.#message(line, linesBefore(this.#text, line, line.body, this.#floor))];
    const first = { ...line, before: 0, after: Math.min(TRACEBACK_HEAD_LINES, exception.lines), heading: null };
    const body = bodyAt(this.#text, exception);
    return [first, this.#message({ ...exception, body, place: exception.start }, exception.before)];
  }

  #message(line: Span & { body: string; place: number }, before: number): ErrorLine {
    const heading = headingOf(this.#text, line, line.body, this.#floor);
    const after = line.start < this.#blockEnd ? 0 : linesAfter(this.#text, line, line.body);
    this.#blockEnd = Math.max(this.#blockEnd, endOfLines(this.#text, line, after));
    this.#floor = line.end + 1;
    const { start, end, body, place } = line;
    return { start, end, body, place, before, after, heading };
  }
}

/** Where the `count`th line behind a line ends. */
export function endOfLines(text: string, line: Span, count: number): number {
  let last = line;
  for (let left = count; left > 0; left -= 1) last = lineAfter(text, last) ?? last;
  return last.end;
}

/** The line that holds the place `at`, which is not before `floor`. */
function lineAround(text: string, at: number, floor: number): Span {
  const newline = text.indexOf('\n', at);
  const start = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
  return { start: Math.max(start, floor), end: newline === -1 ? text.length : newline };
}

/**
 * Every error line contains at least one of these, in any case; error-line.ts decides. Only fixed texts and two short
 * forms that begin with a sign, so that a search is linear in any text.
 */
const KEYWORDS = [
  'error',
  'err!',
  'err_',
  'fail',
  'fatal',
  'exception',
  'panic',
  'critical',
  'severe',
  'traceback',
  'conflict',
  'not found',
  'not ok',
  'no such',
  'denied',
  'not permitted',
  'refused',
  'refusing',
  'rejected',
  'timed out',
  'connection reset',
  'segmentation',
  'core dumped',
  'bus error',
  'killed',
  'aborted',
  'abort trap',
  'illegal instruction',
  'breakpoint trap',
  'out of memory',
  'allocate memory',
  'no space left',
  'undefined',
  'undeclared',
  'unresolved',
  'multiple definition',
  'cannot',
  "can't",
  'could not',
  "couldn't",
  'unable to',
  'unknown ',
  'unrecognized',
  'unexpected',
  'unsupported',
  'invalid',
  'unbound',
  'unhandled',
  'uncaught',
  'missing script',
  'does not exist',
  'is not ',
  'caused by',
  'went wrong',
  'build stopped',
  'data race',
  'exit code',
  'exit status',
  'exited with',
  'exiting with',
  'non-zero',
  'nonzero',
  '***',
  'problem',
  '"level":',
  'rspec ./',
  'eacces',
  'econn',
  'enoent',
  'eperm',
  'eaddrinuse',
  'etimedout',
  'enospc',
  'elifecycle',
  '+ expected - actual',
];

const MARKS = '[✖✗✘✕×❌⨯●]';
/** pytest's `E   …` and `a.go:3:5: …`. */
const FORMS = ['^E {3}', ':\\d{1,7}:\\d{1,5}: '];

const ANY = new RegExp([...KEYWORDS.map(escaped), MARKS, ...FORMS].join('|'), 'gim');

/** Returns the next word that may report an error, at or after `from`; -1 if not found. */
function nextKeyword(text: string, from: number): number {
  ANY.lastIndex = from;
  return ANY.exec(text)?.index ?? -1;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
