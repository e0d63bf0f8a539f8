const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Bit 5 is the only difference between `[` and `{`, and between `]` and `}`. */
const CURLY_BIT = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/**
 * True if objects and arrays in a JSON text are nested more than `limit` levels deep. Reads each character at most once and
 * does not recurse, whatever the text is: a client that can send a body must not be able to occupy the daemon with it. Of a
 * text that is not JSON the answer means nothing.
 */
export function isDeeperThan(limit: number, text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if ((code | CURLY_BIT) === OPENING) depth += 1;
    else if ((code | CURLY_BIT) === CLOSING) depth -= 1;
    if (depth > limit) return true;
  }
  return false;
}

/** The offset of the quote that closes the string opened at `start`, or the length of the text. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at += 1;
  }
  return text.length;
}
