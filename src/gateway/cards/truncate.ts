import { withoutInvisible } from '../../core/invisible.ts';
import type { TokenCounter } from '../../tokens/counter.ts';
import { cutBefore } from '../../tokens/cut-points.ts';

/** A sentence ends at one of these before a blank or the end of the text: `v1.2` and `e.g.x` hold no end. */
const SENTENCE_END = /[.!?](?=\s|$)/g;
const ELLIPSIS = '…';

/**
 * A description within `budgetTokens` of cl100k (gateway surface §2.4): as it is if it fits, otherwise its longest part that ends
 * with a sentence, otherwise as many characters as fit before `…`. Depends on nothing else. No character and
 * no `[SECRET_n]` is cut in two. "" for a budget of 0 or less.
 */
export function truncateDescription(text: string, budgetTokens: number, counter: TokenCounter): string {
  if (budgetTokens <= 0) return '';
  if (counter.count(text, budgetTokens) <= budgetTokens) return text;
  const end = counter.prefixOf(text, budgetTokens);
  return lastSentences(text, end) ?? cut(text, budgetTokens, counter);
}

/** A sentence end before a blank is a seam of the encoding, so the tokens before it are the first tokens of the text. */
function lastSentences(text: string, end: number): string | null {
  const ends = [...text.slice(0, end + 1).matchAll(SENTENCE_END)].map(({ index }) => index + 1);
  const last = ends.findLast((at) => at <= end);
  return last === undefined ? null : text.slice(0, last);
}

/** The first tokens of a text are as many by themselves, and `…` is one. */
function cut(text: string, budgetTokens: number, counter: TokenCounter): string {
  const at = cutBefore(text, counter.prefixOf(text, budgetTokens - 1));
  return `${withoutInvisible(text.slice(0, at)).trimEnd()}${ELLIPSIS}`;
}
