import { joinFacts } from '../call/fact-operations.ts';
import type { RunFacts } from '../call/outcome.ts';
import { ContextdError } from '../core/errors.ts';
import { NO_RUN_FACTS } from './call-facts.ts';
import type { ToolRun } from './runner.ts';

/** A call that failed. Without `facts`: before the host did anything for it. */
export function failedRun(thrown: unknown, facts: RunFacts = NO_RUN_FACTS): ToolRun {
  return { outcome: ContextdError.from(thrown), facts };
}

/**
 * Adds the facts that are known only after a call. If they cannot be found, the call fails with that reason and keeps its
 * other facts.
 */
export async function withLaterFacts(
  { outcome, facts }: ToolRun,
  find: () => Promise<Partial<RunFacts>>,
): Promise<ToolRun> {
  try {
    return { outcome, facts: joinFacts(facts, await find()) };
  } catch (thrown) {
    return failedRun(thrown, facts);
  }
}
