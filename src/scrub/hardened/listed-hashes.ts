import type { Span } from '../../text/offset-map.ts';
import { SECRET_WORDS, wordsOf } from '../words.ts';

/** Hexadecimal of the length of a hash: MD5, SHA-1 and SHA-2. */
const HASH = /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$/i;
const MAX_HASH_CHARS = 128;
/** Lines of a list: some hundred packages. */
const MAX_LINES = 400;
const MAX_LINE_CHARS = 400;
/** A line of a list: a name and a hash, and nothing else. */
const ENTRY = /^([ \t]*)["']?([\w@./+ -]{1,160}?)["']?[ \t]*[:=][ \t]*["']?([0-9a-f]{32,128})["']?,?[ \t]*\r?$/i;
/**
 * A heading that says that hashes follow: `SPEC CHECKSUMS:`, `"digests": {`, `[checksums]`. A hash of a password is worth hiding;
 * `digest` is a way of authorization, and `sha256` one of signing.
 */
const HEADING =
  /^[\t "'[]*(?!.*pass)[\w .-]{0,40}\b(?:check[_-]?sums?|digests|integrity|(?:sha-?[0-9]{1,3}|md5)sums?)["'\]]*[ \t]*[:=]?[ \t]*[{[]?[ \t]*\r?$/i;
/** The name of a variable of an environment. */
const VARIABLE = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/;
/** The name of a package that is written as one of a type: `AppAuthToken`. */
const TYPE_NAME = /^(?:[A-Z][a-z0-9]+){2,}$/;
/** The name of a package that begins with an abbreviation, or of three words: `APIKey`, `react-native-config-secret`. */
const PACKAGE_NAME = /^(?:[A-Z]{2,5}(?:[A-Z][a-z0-9]+)+|[a-z0-9]+(?:-[a-z0-9]+){2,})$/;

/**
 * Whether a value is a hash in a list of hashes: from its heading down to it, each line is a name and a hash of one length. A
 * name that says that it is a secret is believed, unless it is that of a package.
 */
export function isListedHash(text: string, { start, end }: Span): boolean {
  if (end - start > MAX_HASH_CHARS || !HASH.test(text.slice(start, end))) return false;
  let from = text.lastIndexOf('\n', start - 1) + 1;
  const own = ENTRY.exec(lineFrom(text, from));
  if (own === null || own[3]?.length !== end - start) return false;
  const [, indent = '', name = ''] = own;
  if (!isOfPackage(name)) return false;
  if (PACKAGE_NAME.test(name) && !hasNeighbour(text, from, own)) return false;
  for (let count = 0; count < MAX_LINES && from > 0; count += 1) {
    const above = text.lastIndexOf('\n', from - 2) + 1;
    const line = lineFrom(text, above);
    if (HEADING.test(line)) return indentOf(line) < indent.length || /^[ \t]*\[/.test(line);
    const entry = ENTRY.exec(line);
    if (entry === null || entry[1] !== indent || entry[3]?.length !== end - start) return false;
    from = above;
  }
  return false;
}

/** Whether a name is one of a package, though it may hold the word for a secret. */
function isOfPackage(name: string): boolean {
  if (VARIABLE.test(name)) return false;
  return TYPE_NAME.test(name) || PACKAGE_NAME.test(name) || !wordsOf(name).some((word) => SECRET_WORDS.has(word));
}

/** Whether the line above or below an entry is another one of a package. A list of one entry may be a setting. */
function hasNeighbour(text: string, from: number, [line, indent, , hash = '']: RegExpExecArray): boolean {
  return [text.lastIndexOf('\n', from - 2) + 1, from + line.length + 1].some((at) => {
    const entry = at === from ? null : ENTRY.exec(lineFrom(text, at));
    return entry !== null && entry[1] === indent && entry[3]?.length === hash.length && isOfPackage(entry[2] ?? '');
  });
}

/** The line from its beginning, cut where no line of a list goes on. */
function lineFrom(text: string, from: number): string {
  const end = text.slice(from, from + MAX_LINE_CHARS).indexOf('\n');
  return text.slice(from, from + (end === -1 ? MAX_LINE_CHARS : end));
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
