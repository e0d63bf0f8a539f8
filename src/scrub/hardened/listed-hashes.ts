import type { Span } from '../../text/offset-map.ts';

/** Hexadecimal of the length of a hash: MD5, SHA-1 and SHA-2. */
const HASH = /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$/i;
const MAX_HASH_CHARS = 128;
/** Characters above a value among which its heading is looked for: a list of some hundred packages. */
const REACH_CHARS = 12_288;
/**
 * A heading that says that hashes follow: `SPEC CHECKSUMS:`, `"digests": {`, `[checksums]`. A hash of a password is worth hiding;
 * `digest` is a way of authorization, and `sha256` one of signing.
 */
const HEADING =
  /^[\t "'[]*(?!.*pass)[\w .-]{0,40}\b(?:check[_-]?sums?|digests|integrity|(?:sha-?[0-9]{1,3}|md5)sums?)["'\]]*[ \t]*[:=]?[ \t]*[{[]?[ \t]*\r?$/i;

/** Whether a value is a hash in a list of hashes, as one of its headings says: lines above, each less indented than the next. */
export function isListedHash(text: string, { start, end }: Span): boolean {
  if (end - start > MAX_HASH_CHARS || !HASH.test(text.slice(start, end))) return false;
  const above = text.slice(Math.max(0, start - REACH_CHARS), start);
  if (!/check[_-]?sum|digests|integrity|sums/i.test(above)) return false;
  const lines = above.split('\n');
  let indent = indentOf(lines.pop() ?? '');
  for (const line of lines.toReversed()) {
    const isSection = /^[ \t]*\[/.test(line);
    if (line.trim() === '' || (indentOf(line) >= indent && !isSection)) continue;
    if (isSection || HEADING.test(line)) return HEADING.test(line);
    indent = indentOf(line);
  }
  return false;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
