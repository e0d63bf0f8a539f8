import { stripVTControlCharacters } from 'node:util';

/** Bytes read from the end of each stream, and characters of one line: no program's message is longer. */
const TAIL_BYTES = 64 * 1024;
const LINE_MAX_CHARS = 4096;

/** How lines begin that repeat text from somewhere else: logs, search results, diffs, source code. */
const REPEATED = [
  // Dates and times: bare, in brackets, or syslog's.
  /^\[?\d{1,4}[-/:.]\d/,
  /^[A-Z][a-z]{2} +\d{1,2} \d\d:/,
  // Log levels. `ERROR: ` and `error: ` are how programs report errors.
  /^[[(]?(?:TRACE|DEBUG|INFO|NOTICE|WARN|FATAL|CRITICAL|ERROR|error|warn|info|debug)[\])|](?:\W|$)/,
  /^(?:TRACE|DEBUG|INFO|NOTICE|WARN|FATAL|CRITICAL|ERROR) /,
  /^(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):\w/,
  /^(?:level|time|ts|msg)=/,
  // `file:line:` of a search; a compiler puts a blank after it.
  /^[^\s:]+:\d+:(?! |\d+: (?:fatal )?error: )/,
  // Diffs, quotations, comments, data, tables.
  /^[-+<>|#*"'{$%;]/,
  /^\/[/*]/,
];

/** Every message about a refusal contains one of these. Most lines contain none, and then no other pattern is tried. */
const COMPLAINT =
  /ead-only file system|ile size limit exceeded|ile too large|o such file|ermission denied|esource busy|not permitted|not found|nonexistent|ENOENT|nknown command|not a git command|no such (?:sub)?command|an't exec|Cannot find module|does not (?:exist|appear)|No rule to make|resol|getaddrinfo|unreachable|Failed to connect|lookup|not known|not a git repository|would be overwritten by|ECONNREFUSED|UnknownHost|ENETUNREACH|hostname/;

/** The last lines of a stream, without colours. */
export function lastLines(stream: Buffer): string[] {
  const isCut = stream.length > TAIL_BYTES;
  const lines = stripVTControlCharacters(stream.subarray(-TAIL_BYTES).toString()).split(/\r?\n|\r/);
  return isCut ? lines.slice(1) : lines;
}

/** True if a line may be about a refusal. */
export function mayBeComplaint(line: string): boolean {
  return line.length <= LINE_MAX_CHARS && COMPLAINT.test(line);
}

/**
 * What the program itself says in a line; empty if the line repeats other text. Pytest puts `E` before what a test
 * raised.
 */
export function ownWords(line: string): string {
  const words = line.replace(/^E {3}/, '').trim();
  return REPEATED.some((pattern) => pattern.test(words)) ? '' : words;
}
