import { withoutInvisible } from '../core/invisible.ts';
import { withoutSteering } from './steering.ts';
import { withoutSequences } from './terminal.ts';

/** UTF-16 units that are read. What a reader gets of a line is far shorter. */
const READ_MAX_CHARS = 16_384;
const BLANKS = /[\s\p{Z}\p{Cc}]+/gu;
/** The card of the gateway at which a prompt cache may end. */
const FORGED_BREAKPOINT = /__cache_breakpoint__/gi;

/**
 * Foreign words within a sentence of contextd: in quotes that they cannot end, and without the backticks that mark commands.
 * `isToken`: as of `withoutSteering`.
 */
export function quotedForeign(text: string, maxChars: number, isToken?: (token: string) => boolean): string {
  const line = foreignLine(text, isToken).replaceAll(/["“”„`]/g, "'");
  return `"${line.length > maxChars ? `${line.slice(0, maxChars)}…` : line}"`;
}

/** Foreign text as one line without anything that a terminal obeys, that is invisible, or that looks like words of contextd. */
export function foreignLine(text: string, isToken?: (token: string) => boolean): string {
  const spaced = withoutSequences(text.slice(0, READ_MAX_CHARS)).replaceAll(BLANKS, ' ');
  const plain = withoutInvisible(spaced).replaceAll(BLANKS, ' ').trim();
  return withoutSteering(plain, isToken).replaceAll(FORGED_BREAKPOINT, 'cache_breakpoint');
}
