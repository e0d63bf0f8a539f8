import { Edits, type View } from '../../../text/view.ts';

/** Sixteen characters or more, each by itself between blanks. */
const SPACED = /(?<!\S)(?:[!-~][ \t]{1,3}){15,}[!-~](?!\S)/g;

/** Letters with spaces between them, without the spaces. */
export function withoutSpacing(text: string): View | null {
  const edits = new Edits(text, 1);
  for (const match of text.matchAll(SPACED))
    for (const { 0: blanks, index } of match[0].matchAll(/[ \t]+/g))
      edits.replace(match.index + index, match.index + index + blanks.length, '');
  return edits.view();
}
