import type { SessionRef } from '../call/session.ts';
import { BUDGET_MIN_TOKENS } from '../core/limits.ts';
import type { VerifiedCall } from './call.ts';

/** The branches of sessions, as far as a call must know them. A branch folds work away: only its report reaches its parent. */
export interface CallBranches {
  /**
   * What a call of the tool may use of the branch `session.branch`. Throws NOT_FOUND for a branch that the session does not
   * have, CONFLICT for a closed one and RESOURCE_LIMIT for one that has used up its tokens or its time.
   */
  enter(session: SessionRef, tool: string): Promise<BranchAllowance>;
  /** What an answer of `tokens` must warn of, or null. */
  warning(session: SessionRef, tokens: number): string | null;
  /** Charges an answer to the branch, unless the call closed it. Returns when it is on record. */
  charge(session: SessionRef, answer: ChargedAnswer): Promise<void>;
}

export interface BranchAllowance {
  tokens: number;
  ms: number;
}

export interface ChargedAnswer {
  requestId: string;
  tool: string;
  tokens: number;
}

/** The call in the branch that its arguments name, or else its environment, within the budget of that branch. */
export async function onBranch(call: VerifiedCall, branches: Pick<CallBranches, 'enter'>): Promise<VerifiedCall> {
  const branch = call.options.branch ?? call.request.branchHint;
  if (branch === '') return call;
  const session = { ...call.session, branch };
  const left = await branches.enter(session, call.tool.manifest.name);
  const options = {
    ...call.options,
    maxTokens: Math.max(BUDGET_MIN_TOKENS, Math.min(call.options.maxTokens, left.tokens)),
    timeoutMs: Math.max(1, Math.min(call.options.timeoutMs, left.ms)),
  };
  return { ...call, session, options };
}
