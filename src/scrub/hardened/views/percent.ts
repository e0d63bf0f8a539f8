import { meaningOf } from '../../../text/escapes.ts';
import { editMatches, type View } from '../../../text/view.ts';

/** Lines without such a byte are read by the rules' own decoder. */
const BEYOND_ASCII = /%(?:[89A-Fa-f][0-9A-Fa-f]|[01][0-9A-Fa-f]|7[Ff])/;

/** Percent-encoded text in which bytes beyond ASCII stand among the others. */
export function percentDecoded(text: string): View | null {
  if (!BEYOND_ASCII.test(text)) return null;
  return editMatches(text, /%[2-7][0-9A-Fa-f]/g, ([written]) => meaningOf(written));
}
