import type { BudgetOutput } from '../tokens/fit.ts';
import type { StoredOutput } from './store.ts';

/** What an answer cost, for the audit log and the sums made of it. */
export interface Tally {
  /** Tokens of the line that is printed. */
  tokensReturned: number;
  /** Tokens it would have had with the whole output; null for a look at an earlier one. */
  tokensRun: number | null;
  isEstimate: boolean;
  hasArtifact: boolean;
  /** It shows more of what an earlier call left: its tokens count against what that one saved. */
  isFollowUp: boolean;
  isTruncated: boolean;
}

/**
 * `stored`: what the answer was made from, null for facts alone. What is not shown counts as many tokens for a byte as
 * the printed line has; bytes that were never kept do not count.
 */
export function tallyOf(output: BudgetOutput, stored: StoredOutput | 'page' | null): Tally {
  const { line, envelope } = output;
  const { tokens_used: tokensReturned, truncated: isTruncated } = envelope;
  const isFollowUp = stored === 'page' || (stored?.isEarlier ?? false);
  if (stored === null || stored === 'page' || isFollowUp) {
    const tokensRun = isFollowUp ? null : tokensReturned;
    return { tokensReturned, tokensRun, isEstimate: false, hasArtifact: false, isFollowUp, isTruncated };
  }
  const shown = stored.streams.map(({ field }) => envelope.data[field]);
  const isWhole = stored.streams.every(({ text }, index) => text === (shown[index] ?? ''));
  const hidden = bytesOf(stored.streams.map(({ text }) => text)) - bytesOf(shown.map((text) => String(text ?? '')));
  const estimate = tokensReturned + Math.round(hidden * (tokensReturned / Buffer.byteLength(line)));
  const tokensRun = isWhole ? tokensReturned : Math.max(estimate, 0);
  return { tokensReturned, tokensRun, isEstimate: !isWhole, hasArtifact: true, isFollowUp, isTruncated };
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}
