import { withoutInvisible } from '../../core/invisible.ts';
import { withoutSteering } from '../../text/steering.ts';

/** Characters of a recorded text that an agent sees. */
export const QUOTED_MAX_CHARS = 160;

/** Characters that are read for each that is shown: blanks and invisible ones go. */
const READ_FACTOR = 16;

const BLANKS = /[\s\p{Z}\p{Cc}]+/gu;

/**
 * Recorded text as data in one line: a JSON string without anything that ends a line, is invisible, opens a tag or a fence, or
 * looks like words of contextd. Longer text is cut, which `…` behind the quotes shows. JSON.parse of the quotes gives the
 * text without its invisible characters. `isToken`: whether a token, such as `[SECRET_1]`, is one of the reader's and stays
 * readable (default: none is).
 */
export function quote(text: string, maxChars = QUOTED_MAX_CHARS, isToken?: (token: string) => boolean): string {
  // A text of megabytes is not read for its first words.
  const part = text.slice(0, READ_FACTOR * maxChars);
  // First, because a line end is invisible too and would join two words.
  const spaced = part.toWellFormed().replaceAll(BLANKS, ' ');
  const plain = withoutInvisible(spaced).replaceAll(BLANKS, ' ').trim();
  const characters = Array.from(plain);
  const isLong = characters.length > maxChars || part.length < text.length;
  const kept = characters.length > maxChars ? characters.slice(0, maxChars).join('') : plain;
  const shown = withoutSteering(JSON.stringify(kept), isToken);
  return `${shown}${isLong ? '…' : ''}`;
}

/**
 * Recorded text as data in its own lines: each begins with `> `, and nothing in it is invisible, opens a tag or a fence, or
 * looks like words of contextd. Blanks stay as they are.
 */
export function quoteLines(text: string, isToken?: (token: string) => boolean): string {
  return text
    .toWellFormed()
    .split(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/)
    .map((line) => {
      const plain = withoutInvisible(line.replaceAll('\t', '  '));
      return `> ${withoutSteering(plain, isToken)}`.trimEnd();
    })
    .join('\n');
}

/** Names are contextd's own; one that somebody made up is quoted. */
export function nameOf(name: string): string {
  return /^[A-Za-z0-9][\w.:-]{0,63}$/.test(name) ? name : quote(name, 64);
}
