import { stripVTControlCharacters } from 'node:util';

/** Bytes looked at from the end of each stream, and characters of one line: no program's complaint is longer. */
const TAIL_BYTES = 64 * 1024;
const LINE_MAX_CHARS = 4096;

/** How lines begin that repeat what something else said, somewhere else: logs, search results, differences, source text. */
const REPEATED = [
  // Dates and times, bare, in brackets, or of syslog.
  /^\[?\d{1,4}[-/:.]\d/,
  /^[A-Z][a-z]{2} +\d{1,2} \d\d:/,
  // Levels of loggers. `ERROR: ` and `error: ` are how programs complain.
  /^[[(]?(?:TRACE|DEBUG|INFO|NOTICE|WARN|FATAL|CRITICAL|ERROR|error|warn|info|debug)[\])|](?:\W|$)/,
  /^(?:TRACE|DEBUG|INFO|NOTICE|WARN|FATAL|CRITICAL|ERROR) /,
  /^(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):\w/,
  /^(?:level|time|ts|msg)=/,
  // `file:line:` of a search; a compiler's has a blank after it.
  /^[^\s:]+:\d+:(?! |\d+: (?:fatal )?error: )/,
  // Differences, quotations, comments, data, tables.
  /^[-+<>|#*"'{$%;]/,
  /^\/[/*]/,
];

/** Every complaint holds one of these: most lines hold none, and nothing else is tried on them. */
const TELLING =
  /ead-only file system|o such file|ermission denied|esource busy|not permitted|not found|nonexistent|ENOENT|Cannot find module|does not (?:exist|appear)|No rule to make|resol|getaddrinfo|unreachable|Failed to connect|lookup|not known|ECONNREFUSED|UnknownHost|ENETUNREACH|hostname/;

/** The last lines of a stream, without colours. */
export function lastLines(stream: Buffer): string[] {
  const isCut = stream.length > TAIL_BYTES;
  const lines = stripVTControlCharacters(stream.subarray(-TAIL_BYTES).toString()).split(/\r?\n|\r/);
  return isCut ? lines.slice(1) : lines;
}

/** True when a line may be a complaint. */
export function isTelling(line: string): boolean {
  return line.length <= LINE_MAX_CHARS && TELLING.test(line);
}

/** What a program says itself in a line; empty where it repeats others' words. Pytest puts `E` before what a test raised. */
export function ownWords(line: string): string {
  const words = line.replace(/^E {3}/, '').trim();
  return REPEATED.some((pattern) => pattern.test(words)) ? '' : words;
}
