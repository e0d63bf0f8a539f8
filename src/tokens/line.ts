import type { Envelope } from '../core/envelope.ts';
import type { TokenCounter } from './counter.ts';

/** Half-open range of bytes of an artifact: the UTF-8 of its streams, one after the other in their order. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface Line {
  /** The exact JSON line, without its newline. */
  line: string;
  envelope: Envelope;
}

/** The line of `envelope` with its own token count in `tokens_used`; null if that is above `limit` (default: none). */
export function renderLine(
  counter: TokenCounter,
  envelope: Envelope,
  limit?: number,
): (Line & { tokens: number }) | null {
  const counted = counter.count(JSON.stringify({ ...envelope, tokens_used: 0 }), limit);
  const tokens = withOwnDigits(counted - 1);
  if (tokens > (limit ?? Number.MAX_SAFE_INTEGER)) return null;
  const final = { ...envelope, tokens_used: tokens };
  return { line: JSON.stringify(final), envelope: final, tokens };
}

/** cl100k counts a number one token per three digits; a line of `base` tokens and its own count has this many. */
function withOwnDigits(base: number): number {
  if (!Number.isFinite(base)) return base;
  let tokens = base + 1;
  while (base + Math.ceil(String(tokens).length / 3) > tokens) tokens++;
  return tokens;
}
