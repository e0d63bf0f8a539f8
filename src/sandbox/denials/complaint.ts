export type PathError = 'EROFS' | 'ENOENT' | 'EACCES' | 'EBUSY';

/** A program's line about a path. */
export interface Complaint {
  readonly error: PathError;
  /** What may be the path, likeliest first, as printed. */
  readonly paths: readonly string[];
}

/** The C library's words; Go and Node write them small. */
const PHRASES: Readonly<Record<PathError, string>> = {
  EROFS: 'Read-only file system',
  ENOENT: 'No such file or directory',
  EACCES: 'Permission denied',
  EBUSY: 'Device or resource busy',
};
const ERRORS = ['EROFS', 'ENOENT', 'EACCES', 'EBUSY'] as const;

/** What may follow the words: perl, Rust, rsync, make, a full stop. */
const TAIL = /^(?: at .{1,200} line \d+\.?| \(os error \d+\)| \(\d+\).{0,100}|\.(?: +Stop\.)?)?$/;
/** What stands between a path and the words without being one. */
const NO_PATH = /^(?:cannot open|cannot write|cannot stat|bad interpreter|cannot execute|open failed|.* failed)$/i;

/** What a line says about a path, or null. `earlier`: the lines before it, nearest first. */
export function readComplaint(line: string, earlier: Iterable<string>): Complaint | null {
  for (const error of ERRORS) {
    const paths = fromNode(line, error) ?? fromErrno(line, error) ?? fromWords(line, error, earlier);
    if (paths !== null) return { error, paths };
  }
  const missing = fromMissing(line);
  return missing === null ? null : { error: 'ENOENT', paths: [missing] };
}

/** `Error: EROFS: read-only file system, open '/x'`, with `-> '/y'` where there are two; npm puts its name before it. */
function fromNode(line: string, error: PathError): string[] | null {
  const start = line.indexOf(`${error}: ${PHRASES[error].toLowerCase()}, `);
  if (start < 0) return null;
  const before = line.slice(0, start);
  if (!/^(?:npm (?:error|ERR!) |[[(]?(?:Uncaught |\[cause\]: )?(?:\w*Error: )?$)/.test(before)) return null;
  const quoted = /^\w+ '(.*)'\]?(?: \{)?$/.exec(line.slice(line.indexOf(', ', start) + 2))?.[1];
  return quoted === undefined ? [] : quoted.split("' -> '").reverse();
}

/** `OSError: [Errno 30] Read-only file system: '/x'` of Python. */
function fromErrno(line: string, error: PathError): string[] | null {
  const marker = `] ${PHRASES[error]}: `;
  const at = line.indexOf(marker);
  if (at < 0 || !/\[Errno \d+$/.test(line.slice(0, at))) return null;
  return quotedIn(line.slice(at + marker.length)).reverse();
}

/** `program: … path: Read-only file system`, and `program: … path (No such file or directory)`. */
function fromWords(line: string, error: PathError, earlier: Iterable<string>): string[] | null {
  const at = phraseAt(line, PHRASES[error]);
  if (at === null) return null;
  const before = line.slice(0, at).replace(/\[Errno \d+\] $/, '');
  if (before === '') return fromCause(earlier);
  if (before.endsWith(' (')) return [lastWord(lastPiece(before.slice(0, -2)))];
  if (!before.endsWith(': ')) return null;
  const body = before.slice(0, -2);
  const quoted = quotedIn(body);
  return quoted.length > 0 ? quoted.reverse() : fromPiece(lastPiece(body));
}

function phraseAt(line: string, phrase: string): number | null {
  for (const words of [phrase, phrase.toLowerCase()]) {
    const at = line.lastIndexOf(words);
    const tail = line.slice(at + words.length);
    if (at >= 0 && (TAIL.test(tail) || (tail === ')' && line[at - 1] === '('))) return at;
  }
  return null;
}

/** Cargo tells the path in one cause and the system's words in the next. */
function fromCause(earlier: Iterable<string>): string[] | null {
  for (const line of earlier) {
    if (line === '' || line === 'Caused by:') continue;
    const path = /`([^`]*)`$/.exec(line)?.[1];
    return path === undefined ? null : [path];
  }
  return null;
}

/** The last of the parts that colons divide, leaving out `Cannot open` and its like. */
function lastPiece(body: string): string {
  const pieces = body.split(': ');
  while (pieces.length > 1 && NO_PATH.test(pieces.at(-1) ?? '')) pieces.pop();
  return pieces.at(-1) ?? '';
}

/** Unquoted, only a whole part or a word without blanks is certainly the whole path. */
function fromPiece(piece: string): string[] {
  return piece.startsWith('/') ? [piece] : [lastWord(piece)];
}

function lastWord(piece: string): string {
  return piece.slice(piece.lastIndexOf(' ') + 1);
}

const QUOTES: Readonly<Record<string, string>> = { "'": "'", '"': '"', '‘': '’', '`': "'" };

/**
 * Quoted strings in order. One that the program had to escape, or that goes on after its quote, is left out: what it
 * stands for would be a guess.
 */
function quotedIn(text: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; at++) {
    const close = isOpening(text, at) ? QUOTES[text[at] ?? ''] : undefined;
    if (close === undefined) continue;
    const end = closingAfter(text, at, close);
    if (end < 0) return found;
    const inner = text.slice(at + 1, end);
    const goesOn = /^[\w$'"]/.test(text.slice(end + 1, end + 2));
    if (inner !== '' && !inner.includes('\\') && !goesOn) found.push(inner);
    at = end;
  }
  return found;
}

/** An apostrophe inside a word opens nothing. */
function isOpening(text: string, at: number): boolean {
  return at === 0 || !/\w/.test(text[at - 1] ?? '');
}

/** GNU's older quoting begins with a backtick and ends with an apostrophe; Rust's ends with a backtick. -1: never closed. */
function closingAfter(text: string, at: number, close: string): number {
  const end = text.indexOf(close, at + 1);
  const backtick = text[at] === '`' ? text.indexOf('`', at + 1) : -1;
  return backtick >= 0 && (end < 0 || backtick < end) ? backtick : end;
}

/** Programs that have words of their own for a file that is not there; the path is absolute in each. */
const MISSING = [
  /^(?:\S*sh): \d+: (\/.+): not found$/,
  /^(?:\S*sh): \d+: cannot create (\/.+): Directory nonexistent$/,
  /^Error: spawn(?:Sync)? (\/\S+) ENOENT$/,
  /^Error(?: \[ERR_MODULE_NOT_FOUND\])?: Cannot find module '(\/[^']+)'(?: imported from .+)?$/,
  /^fatal: repository '(\/[^']+)' does not exist$/,
  /^fatal: '(\/[^']+)' does not appear to be a git repository$/,
  /^error: manifest path `(\/[^`]+)` does not exist$/,
  /^make(?:\[\d+\])?: \*\*\* No rule to make target '(\/[^']+)'(?:, needed by '[^']+')?\. {2}Stop\.$/,
];

function fromMissing(line: string): string | null {
  for (const pattern of MISSING) {
    const path = pattern.exec(line)?.[1];
    if (path !== undefined) return path;
  }
  return null;
}
