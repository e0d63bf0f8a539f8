/** Control characters that JSON writes as two characters (`\n`); the others take six (`\u001b`). */
const SHORT_ESCAPES = '\b\t\n\f\r';

/** `text` as it stands between the quotes of a JSON string: budgets hold for the bytes printed. */
export function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** How many whole UTF-16 units of well-formed `text` the first `escapedChars` of its escaped form stand for. */
export function unescapedLength(text: string, escapedChars: number): number {
  let left = escapedChars;
  for (let i = 0; i < text.length; i++) {
    left -= escapedWidth(text.charCodeAt(i));
    if (left < 0) return i;
  }
  return text.length;
}

function escapedWidth(unit: number): number {
  if (unit === 0x22 || unit === 0x5c) return 2;
  if (unit >= 0x20) return 1;
  return SHORT_ESCAPES.includes(String.fromCharCode(unit)) ? 2 : 6;
}

/** Lone surrogates become U+FFFD, as they do in the artifact's UTF-8. Lengths stay the same, in units and in bytes. */
export function wellFormed(text: string): string {
  return text.toWellFormed();
}
