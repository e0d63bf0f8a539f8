import { metaOfFacts } from '../call/fact-operations.ts';
import type { EnvelopeMeta } from '../core/envelope.ts';
import type { ContextdError } from '../core/errors.ts';
import { missingLines } from '../core/gap.ts';
import type { ScrubbedOutcome } from './scrub.ts';
import type { StoredOutput } from './store.ts';

/** Omits empty optional keys, because an agent pays for each. */
export function metaOf(requestId: string, outcome: ScrubbedOutcome): EnvelopeMeta {
  return {
    version: 'response-v2',
    request_id: requestId,
    ...metaOfFacts(outcome.facts),
    ...rateLimitOf(outcome.failure),
  };
}

/** The stored output, the ids that the tool found, and the ref that undoes the call. */
export function refsOf({ facts }: Pick<ScrubbedOutcome, 'facts'>, artifacts: readonly string[]): string[] {
  const undo = facts.fileChanges?.ref ?? null;
  return [...artifacts, ...facts.refs, ...(undo === null ? [] : [undo])];
}

function rateLimitOf(failure: ContextdError | null): Pick<EnvelopeMeta, 'rate_limit'> {
  if (failure?.code !== 'RATE_LIMITED' || typeof failure.details.limit !== 'number') return {};
  return { rate_limit: { limit: failure.details.limit, remaining: 0, retry_after_ms: failure.retryAfterMs ?? 0 } };
}

/** Missing lines of each text, as `12-900`. */
export function droppedLines({ streams }: StoredOutput): Pick<EnvelopeMeta, 'dropped_lines'> {
  const entries = streams.flatMap(({ field, gap }) => (gap === undefined ? [] : [[field, missingLines(gap)] as const]));
  return entries.length === 0 ? {} : { dropped_lines: Object.fromEntries(entries) };
}
