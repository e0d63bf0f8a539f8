import { editMatches } from './edits.ts';
import type { View } from './view.ts';

const ESCAPES =
  /\\(?:(["'`\\/])|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}|([0-3][0-7]{2})|([nrtbfe]))/g;
const LETTERS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', e: '\x1b' };

/** Text as it is within a string of JSON or of a program: one layer of backslashes taken off. */
export function unescaped(text: string): View | null {
  if (!text.includes('\\')) return null;
  return editMatches(text, ESCAPES, ([, itself, byte, unit, rune, octal, letter]) => {
    if (itself !== undefined) return itself;
    if (letter !== undefined) return LETTERS[letter] ?? null;
    const code = octal === undefined ? Number.parseInt(byte ?? unit ?? rune ?? '', 16) : Number.parseInt(octal, 8);
    return code <= 0x10ffff ? String.fromCodePoint(code) : null;
  });
}
