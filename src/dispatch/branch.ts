import type { SessionEffect } from '../call/effects.ts';
import type { SessionRef } from '../call/session.ts';
import { BUDGET_MIN_TOKENS } from '../core/limits.ts';
import type { VerifiedCall } from './call.ts';

/** Session branches as a call sees them. A branch folds work away: only its report reaches its parent. */
export interface CallBranches {
  /**
   * Returns the tokens and time that a call with this effect may use of the branch `session.branch`. Throws NOT_FOUND
   * if the session has no such branch, CONFLICT if it is closed, RESOURCE_LIMIT if its tokens or time are used up.
   */
  enter(session: SessionRef, effect: SessionEffect): Promise<BranchAllowance>;
  /** The warning for an answer of `tokens`, or null. */
  warning(session: SessionRef, tokens: number): string | null;
  /** Charges an answer to the branch, unless the call closed it. Resolves once the charge is recorded. */
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

/** Moves the call to the branch named by its arguments, else by its environment, within that branch's budget. */
export async function onBranch(call: VerifiedCall, branches: Pick<CallBranches, 'enter'>): Promise<VerifiedCall> {
  const branch = call.options.branch ?? call.request.branchHint;
  if (branch === '') return call;
  const session = { ...call.session, branch };
  const left = await branches.enter(session, call.tool.manifest.effects.session);
  const options = {
    ...call.options,
    maxTokens: Math.max(BUDGET_MIN_TOKENS, Math.min(call.options.maxTokens, left.tokens)),
    cutTokens: Math.max(BUDGET_MIN_TOKENS, Math.min(call.options.cutTokens, left.tokens)),
    timeoutMs: Math.max(1, Math.min(call.options.timeoutMs, left.ms)),
  };
  return { ...call, session, options };
}
