import { withoutInvisible } from '../core/invisible.ts';

/** Characters of a recorded text that an agent sees. */
export const QUOTED_MAX_CHARS = 160;

const BLANKS = /[\s\p{Z}\p{Cc}]+/gu;
/** Could open a tag or a fenced block, or look like a token or a line of contextd. */
const STEERING = /<|`{3,}|\[(?=\s*(?:SECRET|contextd))/gi;

/**
 * Recorded text as data in one line: a JSON string without anything that ends a line, is invisible, opens a tag or a fence, or
 * looks like words of contextd. Longer text is cut, which `…` behind the quotes shows. JSON.parse of the quotes gives the
 * text without its invisible characters.
 */
export function quote(text: string, maxChars = QUOTED_MAX_CHARS): string {
  // First, because a line end is invisible too and would join two words.
  const spaced = text.toWellFormed().replaceAll(BLANKS, ' ');
  const plain = withoutInvisible(spaced).replaceAll(BLANKS, ' ').trim();
  const characters = Array.from(plain);
  const isLong = characters.length > maxChars;
  const kept = isLong ? characters.slice(0, maxChars).join('') : plain;
  return `${JSON.stringify(kept).replaceAll(STEERING, escaped)}${isLong ? '…' : ''}`;
}

function escaped(found: string): string {
  return Array.from(found, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
}
