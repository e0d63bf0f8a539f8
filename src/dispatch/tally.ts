import type { CallAnswer } from '../call/request.ts';
import type { BudgetOutput } from '../tokens/fit.ts';
import type { TextOutput } from '../tokens/fit-text.ts';
import type { StoredOutput } from './store.ts';

/** An answer and its cost. */
export interface Budgeted {
  answer: CallAnswer;
  tally: Tally;
}

/** The cost of an answer, for the audit log and the statistics. */
export interface Tally {
  /** Tokens of the printed line. */
  tokensReturned: number;
  /** Tokens of the line if it held the whole output; null for a view of an earlier output. */
  tokensRun: number | null;
  isEstimate: boolean;
  hasArtifact: boolean;
  /** True if it shows more of an earlier output: its tokens are subtracted from what the earlier call saved. */
  isFollowUp: boolean;
  isTruncated: boolean;
}

/**
 * Counts an answer made from `stored`, which is null for an answer without text. Hidden bytes are estimated at the
 * tokens per byte of the printed line; bytes that were never stored do not count.
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

/** Counts a text answer that shows `shownTokens` of `allTokens` of an output. */
export function tallyOfText(
  { tokens, shownTokens, omitted }: Pick<TextOutput, 'tokens' | 'shownTokens' | 'omitted'>,
  allTokens: number,
  stored: StoredOutput | 'page' | null,
): Tally {
  const isTruncated = omitted.length > 0;
  const isFollowUp = stored === 'page' || (stored?.isEarlier ?? false);
  return {
    tokensReturned: tokens,
    tokensRun: isFollowUp ? null : Math.max(tokens, tokens + allTokens - shownTokens),
    isEstimate: isTruncated && !isFollowUp,
    hasArtifact: stored !== null && !isFollowUp,
    isFollowUp,
    isTruncated,
  };
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}
