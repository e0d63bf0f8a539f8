import type { SeccompToggles } from '../contract/policy.ts';
import { DEBUGGER_CALLS, DENIED_CALLS } from '../machine/seccomp/call-groups.ts';

export type PathError = 'EROFS' | 'ENOENT' | 'EACCES' | 'EBUSY';

/** A program's message about a path. */
export interface Complaint {
  readonly error: PathError;
  /** What may be the path, most likely first, as printed. */
  readonly paths: readonly string[];
  /** True if the program says that it wanted to make a directory of the first of them. */
  readonly isDirectory: boolean;
}

/** The C library's messages; Go and Node write them in lower case. */
const PHRASES: Readonly<Record<PathError, string>> = {
  EROFS: 'Read-only file system',
  ENOENT: 'No such file or directory',
  EACCES: 'Permission denied',
  EBUSY: 'Device or resource busy',
};
const ERRORS = ['EROFS', 'ENOENT', 'EACCES', 'EBUSY'] as const;

/** What may follow the message: perl, Rust, rsync, make, a full stop. */
const TAIL = /^(?: at .{1,200} line \d+\.?| \(os error \d+\)| \(\d+\).{0,100}|\.(?: +Stop\.)?)?$/;
/** What may stand between a path and the message. */
const NO_PATH = /^(?:cannot open|cannot write|cannot stat|bad interpreter|cannot execute|open failed|.* failed)$/i;

/** What a line says about a path, or null. `earlier` holds the lines before it, nearest first. */
export function readComplaint(line: string, earlier: readonly string[]): Complaint | null {
  for (const error of ERRORS) {
    const paths = fromNode(line, error) ?? fromErrno(line, error) ?? fromWords(line, error, earlier);
    if (paths !== null) return { error, paths, isDirectory: isOfDirectory([line, ...earlier], paths[0] ?? '') };
  }
  const missing = fromMissing(line);
  return missing === null ? null : { error: 'ENOENT', paths: [missing], isDirectory: false };
}

/** How programs say just before a path that they make a directory of it; "directories of" precedes a file in one. */
const MAKES_DIRECTORY = /(?:(?:create|creating|make) (?:\w+ )?director(?:y|ies)|work tree dir|\bmkdir) ['"‘`]?$/i;

/** The words before the path, in the nearest line that has it. */
function isOfDirectory(lines: readonly string[], path: string): boolean {
  const line = path === '' ? undefined : lines.find((one) => one.includes(path));
  return line !== undefined && MAKES_DIRECTORY.test(line.slice(0, line.lastIndexOf(path)));
}

/**
 * `Error: EROFS: read-only file system, open '/x'`, with `-> '/y'` if there are two paths; npm prints its name first.
 */
function fromNode(line: string, error: PathError): string[] | null {
  const start = line.indexOf(`${error}: ${PHRASES[error].toLowerCase()}, `);
  if (start < 0) return null;
  const before = line.slice(0, start);
  if (!/^(?:npm (?:error|ERR!) |[[(]?(?:Uncaught |\[cause\]: )?(?:\w*Error: )?$)/.test(before)) return null;
  const quoted = /^\w+ '(.*)'\]?(?: \{)?$/.exec(line.slice(line.indexOf(', ', start) + 2))?.[1];
  return quoted === undefined ? [] : quoted.split("' -> '").reverse();
}

/** Python's `OSError: [Errno 30] Read-only file system: '/x'`. */
function fromErrno(line: string, error: PathError): string[] | null {
  const marker = `] ${PHRASES[error]}: `;
  const at = line.indexOf(marker);
  if (at < 0 || !/\[Errno \d+$/.test(line.slice(0, at))) return null;
  return quotedIn(line.slice(at + marker.length)).reverse();
}

/** `program: … path: Read-only file system`, and `program: … path (No such file or directory)`. */
function fromWords(line: string, error: PathError, earlier: readonly string[]): string[] | null {
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

/** Cargo prints the path in one cause and the system's message in the next. */
function fromCause(earlier: readonly string[]): string[] | null {
  for (const line of earlier) {
    if (line === '' || line === 'Caused by:') continue;
    const path = /`([^`]*)`$/.exec(line)?.[1];
    return path === undefined ? null : [path];
  }
  return null;
}

/** The last of the parts between colons, except `Cannot open` and the like. */
function lastPiece(body: string): string {
  const pieces = body.split(': ');
  while (pieces.length > 1 && NO_PATH.test(pieces.at(-1) ?? '')) pieces.pop();
  return pieces.at(-1) ?? '';
}

/** Without quotes, only a whole part or a word without blanks is certainly the whole path. */
function fromPiece(piece: string): string[] {
  return /^(?:\.\.?)?\//.test(piece) ? [piece] : [lastWord(piece)];
}

function lastWord(piece: string): string {
  return piece.slice(piece.lastIndexOf(' ') + 1);
}

const QUOTES: Readonly<Record<string, string>> = { "'": "'", '"': '"', '‘': '’', '`': "'" };

/**
 * Quoted strings in order. Leaves out a string with escapes and a string that continues after its quote: its value
 * would be a guess.
 */
function quotedIn(text: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; at++) {
    const close = isOpening(text, at) ? QUOTES[text[at] ?? ''] : undefined;
    if (close === undefined) continue;
    const end = closingAfter(text, at, close);
    if (end < 0) return found;
    const inner = text.slice(at + 1, end);
    const continuesAfterQuote = /^[\w$'"]/.test(text.slice(end + 1, end + 2));
    if (inner !== '' && !inner.includes('\\') && !continuesAfterQuote) found.push(inner);
    at = end;
  }
  return found;
}

/** An apostrophe inside a word opens no quotation. */
function isOpening(text: string, at: number): boolean {
  return at === 0 || !/\w/.test(text[at - 1] ?? '');
}

/**
 * GNU's older quotation begins with a backtick and ends with an apostrophe; Rust's ends with a backtick. -1: never
 * closed.
 */
function closingAfter(text: string, at: number, close: string): number {
  const end = text.indexOf(close, at + 1);
  const backtick = text[at] === '`' ? text.indexOf('`', at + 1) : -1;
  return backtick >= 0 && (end < 0 || backtick < end) ? backtick : end;
}

/** Programs with their own message for a missing file; the path is absolute in each. */
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

/** The words of shells for SIGXFSZ, and of the C library, Go and Node for EFBIG. */
const TOO_LARGE =
  /^(?:\S+: line \d+: +\d+ )?File size limit exceeded|(?:: |\[Errno 27\] |^Error: EFBIG: )[Ff]ile too large(?:, \w+)?$/;

/** True if a line says that a file would have been larger than the process may write. */
export function isFileTooLarge(line: string): boolean {
  return TOO_LARGE.test(line);
}

/** A message that only a missing network explains. */
interface NetworkComplaint {
  /** Null if the line does not name it. */
  readonly host: string | null;
}

const HOST = '([\\w.-]+)';
const ADDRESS = '\\[?([\\w.:-]+?)\\]?';
const UNRESOLVED =
  '(?:Name or service not known|Temporary failure in name resolution|No address associated with hostname)';

/** Each captures the host in its first group. */
const WITH_HOST = [
  // curl, git and cargo over it, ssh
  `curl: \\(6\\) Could not resolve host: ${HOST}$`,
  `^fatal: unable to access '[^']*': Could not resolve host: ${HOST}$`,
  `\\[6\\] .{0,80}\\(Could not resolve host: ${HOST}\\)$`,
  `^ssh: Could not resolve hostname ${HOST}: `,
  `curl: \\(7\\) Failed to connect to ${ADDRESS} port \\d+`,
  `^fatal: unable to access '[^']*': Failed to connect to ${ADDRESS} port \\d+`,
  `\\[7\\] .{0,80}\\(Failed to connect to ${ADDRESS} port \\d+`,
  `^ssh: connect to host ${ADDRESS} port \\d+: Network is unreachable$`,
  `^fatal: unable to look up ${HOST} \\(port \\d+\\)`,
  // wget
  `^wget: unable to resolve host address ['‘]${HOST}['’]$`,
  `^Connecting to ${ADDRESS}:\\d+\\.\\.\\. failed: Network is unreachable\\.$`,
  // Node and npm
  `(?:^|Error: |reason: )getaddrinfo (?:ENOTFOUND|EAI_AGAIN) ${HOST}$`,
  `(?:^|Error: |reason: )(?:connect|send) ENETUNREACH ${ADDRESS}:\\d+(?: - Local .{1,60})?$`,
  `Error: query[A-Z]\\w* ECONNREFUSED ${HOST}$`,
  // Python's urllib3, requests and pip
  `Failed to resolve '${HOST}' \\(\\[Errno -\\d+\\] `,
  `HTTPS?ConnectionPool\\(host='${HOST}', .*\\[Errno -\\d+\\] ${UNRESOLVED}`,
  // Go
  `dial (?:tcp|udp)[46]?: lookup ${HOST}(?: on \\S+)?: `,
  `dial (?:tcp|udp)[46]? ${ADDRESS}:\\d+: connect: network is unreachable$`,
  // bash, ping and others that say `program: host: why`
  `^\\S+: (?:line \\d+: )?${HOST}: ${UNRESOLVED}$`,
  `^\\S+: (?:line \\d+: )?/dev/(?:tcp|udp)/${ADDRESS}/\\d+: Network is unreachable$`,
  `^Could not connect to '${HOST}:\\d+': ${UNRESOLVED}`,
  // apt, Java
  `Temporary failure resolving '${HOST}'$`,
  `java\\.net\\.UnknownHostException: ${HOST}(?:: |$)`,
].map((source) => new RegExp(source));

const WITHOUT_HOST = [
  `\\[Errno (?:-2|-3|-5)\\] ${UNRESOLVED}`,
  '\\[Errno 101\\] Network is unreachable',
  `[:)] ?${UNRESOLVED}(?: at .{1,200} line \\d+\\.)?$`,
  ': Network is unreachable(?: at .{1,200} line \\d+\\.)?$',
  'errno=Network is unreachable$',
].map((source) => new RegExp(source));

/**
 * What a line says about the network, or null. The sandbox's own names and addresses, and names that never resolve, say
 * nothing about the network.
 */
export function readNetworkComplaint(line: string): NetworkComplaint | null {
  for (const pattern of WITH_HOST) {
    const host = pattern.exec(line)?.[1];
    if (host !== undefined) return isOutside(host) ? { host } : null;
  }
  return WITHOUT_HOST.some((pattern) => pattern.test(line)) ? { host: null } : null;
}

const LOCAL_NAMES = /(?:^|\.)(?:localhost|sandbox|localdomain|invalid|test)\.?$/i;
const LOCAL_ADDRESSES = /^(?:127\.[\d.]+|0\.0\.0\.0|::1?|::ffff:127\.[\d.]+)$/;

function isOutside(host: string): boolean {
  return !LOCAL_NAMES.test(host) && !LOCAL_ADDRESSES.test(host);
}

/** Programs whose message does not name the system call. */
const PROGRAMS: Readonly<Record<string, string>> = {
  nsenter: 'setns',
  bwrap: 'unshare',
  strace: 'ptrace',
  gdb: 'ptrace',
};
const ENDS = /: Operation not permitted(?:\.| at .{1,200} line \d+\.)?$/;

/** The call that the filter refused and this line names, or null. */
export function readSystemCallComplaint(line: string, toggles: SeccompToggles): string | null {
  const end = line.includes('Operation not permitted') ? line.search(ENDS) : -1;
  if (end < 0) return null;
  const [program = '', ...pieces] = line.slice(0, end).split(': ');
  const name = program.slice(program.lastIndexOf('/') + 1);
  const named = [...pieces.reverse(), name].map(callIn).find((call) => isRefused(call, toggles));
  return named ?? [PROGRAMS[name] ?? ''].find((call) => isRefused(call, toggles)) ?? null;
}

/** How programs report that the mode of a file was not changed. Each captures the path, as far as it is named. */
const MODE_REFUSED = [
  /^chmod: changing permissions of ['‘](.+)['’]: Operation not permitted$/,
  /^install: cannot change permissions of ['‘](.+)['’]: Operation not permitted$/,
  /^(?:cp|mv): preserving permissions for ['‘](.+)['’]: Operation not permitted$/,
  /^(?:cp|install): cannot create regular file ['‘](.+)['’]: Operation not permitted$/,
  /^tar: (.+): Cannot (?:change mode to [-rwxsStT]+|open): Operation not permitted$/,
  /^(?:(?:Uncaught )?Error: )?EPERM: operation not permitted, f?chmod(?: '(.+)')?$/,
];

/** The path in a message that a mode was refused; null if the line is no such message, '' if it names no path. */
export function readModeComplaint(line: string): string | null {
  for (const pattern of MODE_REFUSED) {
    const found = pattern.exec(line);
    if (found !== null) return found[1] ?? '';
  }
  return null;
}

/** `ptrace(PTRACE_ATTACH, 3)`, `unshare failed`, `unshare`. */
function callIn(piece: string): string {
  return /^([a-z_0-9]+)(?:\(.*\)| failed)?$/.exec(piece)?.[1] ?? '';
}

function isRefused(call: string, toggles: SeccompToggles): boolean {
  if (DEBUGGER_CALLS.includes(call)) return !toggles.debugger;
  return Object.values(DENIED_CALLS).some((calls) => calls.includes(call));
}

export function isDebuggerCall(call: string): boolean {
  return DEBUGGER_CALLS.includes(call);
}
