import type { View } from './budget.ts';
import type { TokenCounter } from './counter.ts';
import { countEscaped, headEnd, tailStart } from './truncate.ts';

/** Tokens that the line in place of the omitted text may take. */
const MARKER_TOKENS = 20;

/** What is shown: `text[0..head]` and `text[tail..]`, in UTF-16 units. Nothing is omitted when they meet. */
export interface Cut {
  head: number;
  tail: number;
}

/** Cuts `text` to about `roomTokens` as printed in JSON, the line that says so included. */
export function cutToView(counter: TokenCounter, text: string, roomTokens: number, view: View): Cut {
  const room = roomTokens - MARKER_TOKENS;
  if (view === 'head') return { head: headEnd(counter, text, room), tail: text.length };
  if (view === 'tail') return { head: 0, tail: tailStart(counter, text, room, 0) };
  const head = headEnd(counter, text, Math.floor(room / 2));
  const left = room - countEscaped(counter, text.slice(0, head));
  return { head, tail: tailStart(counter, text, left, head) };
}

/** The visible text: the marker has a line of its own, so the newline on each side of it belongs to it, not to the text. */
export function joinCut(head: string, omittedBytes: number, tail: string): string {
  const count = String(omittedBytes).replace(/\B(?=(?:\d{3})+$)/g, ',');
  const marker = `… ${count} bytes omitted; pass meta.pagination.cursor as continuation …`;
  return `${head}${head === '' ? '' : '\n'}${marker}${tail === '' ? '' : '\n'}${tail}`;
}
