import { editMatches, type View } from '../../../text/view.ts';

/** The end of one quoted string and the beginning of the next, with nothing but an operator between. */
const JOINTS = /(?<=[\w+/=.-])(["'`])\s{0,40}(?:\+|\.{1,2}|&|~|\|\||\\)?\s{0,40}\1(?=[\w+/=.-])/g;

/** Characters around a joint: the rest of the value. */
const CONTEXT = 512;

/** Strings that a program puts together, as one. */
export function joinedStrings(text: string): View | null {
  return editMatches(text, JOINTS, () => '', CONTEXT);
}
