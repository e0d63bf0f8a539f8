import type { CallAnswer } from '../call/request.ts';
import type { TokenCounter } from '../tokens/counter.ts';
import { type BudgetOutput, TOKENS_PER_BYTE } from '../tokens/fit.ts';
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
  /** Tokens of the whole output, without contextd's additions; null for a view of an earlier output. */
  tokensRun: number | null;
  isEstimate: boolean;
  /** Id of the artifact that the call stored, or null. */
  artifact: string | null;
  /** True if it shows more of an earlier output. Its tokens are subtracted from the savings of the earlier call. */
  isFollowUp: boolean;
  isTruncated: boolean;
}

/**
 * Counts an answer made from `stored`, which is null for an answer without text: its data is then the whole output.
 * Hidden bytes are estimated at the tokens per byte of the shown text. Bytes that were never stored do not count.
 */
export function tallyOf(counter: TokenCounter, output: BudgetOutput, stored: StoredOutput | 'page' | null): Tally {
  const { envelope } = output;
  const { tokens_used: tokensReturned, truncated: isTruncated } = envelope;
  const isFollowUp = stored === 'page' || (stored?.isEarlier ?? false);
  if (stored === null || stored === 'page' || isFollowUp) {
    const tokensRun = isFollowUp ? null : tokensReturned;
    return { tokensReturned, tokensRun, isEstimate: false, artifact: null, isFollowUp, isTruncated };
  }
  const shown = stored.streams.map(({ field, isData }) =>
    isData === true ? JSON.stringify(envelope.data) : String(envelope.data[field] ?? ''),
  );
  const isWhole = stored.streams.every(({ text }, index) => text === shown[index]);
  const shownTokens = shown.reduce((sum, text) => sum + counter.count(text), 0);
  const [shownBytes, allBytes] = [bytesOf(shown), bytesOf(stored.streams.map(({ text }) => text))];
  const tokensPerByte = shownBytes === 0 ? TOKENS_PER_BYTE : shownTokens / shownBytes;
  const tokensRun = isWhole ? shownTokens : Math.max(0, Math.round(allBytes * tokensPerByte));
  return { tokensReturned, tokensRun, isEstimate: !isWhole, artifact: stored.artifactId, isFollowUp, isTruncated };
}

/** Counts a text answer about an output of `allTokens` tokens. */
export function tallyOfText(
  { tokens, omitted }: Pick<TextOutput, 'tokens' | 'omitted'>,
  allTokens: number,
  stored: StoredOutput | 'page' | null,
): Tally {
  const isTruncated = omitted.length > 0;
  const isFollowUp = stored === 'page' || (stored?.isEarlier ?? false);
  return {
    tokensReturned: tokens,
    tokensRun: isFollowUp ? null : allTokens,
    isEstimate: isTruncated && !isFollowUp,
    artifact: stored === null || stored === 'page' || isFollowUp ? null : stored.artifactId,
    isFollowUp,
    isTruncated,
  };
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}
