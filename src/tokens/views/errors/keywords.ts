/**
 * What every error line has at least one of, in any case; they are told apart closer in error-line.ts. Nothing but fixed
 * texts and two short forms that begin with a sign, so that a search is linear in any text.
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

/** Where the next word stands that may tell of an error, at `from` or behind it; -1 when there is none. */
export function nextKeyword(text: string, from: number): number {
  ANY.lastIndex = from;
  return ANY.exec(text)?.index ?? -1;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
