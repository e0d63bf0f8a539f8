import type { CallAnswer, CallRequest, Refuse } from '../call/request.ts';
import { ContextdError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type { TokenCounter } from '../tokens/counter.ts';
import { type AuditDeps, endRecord, startFacts } from './audit.ts';
import { turnedAway } from './budget.ts';
import type { Call } from './call.ts';
import { type IdentifyDeps, identify } from './identify.ts';
import { withheld } from './scrub.ts';
import type { Budgeted } from './tally.ts';
import { turnedAway as turnedAwayText } from './text/budget-text.ts';

export interface RefuseDeps extends AuditDeps, IdentifyDeps {
  counter: TokenCounter;
  logger: Logger;
}

/** Answers calls that never reach dispatch. Each is recorded, like every other call. */
export function createRefuse(deps: RefuseDeps): Refuse {
  return async (request: CallRequest, why: ContextdError): Promise<CallAnswer> => {
    const call = identify(request, deps);
    const told = answerOf(call, why, deps.counter);
    try {
      const outcome = { ...withheld(why), failure: why };
      await deps.auditLog.append(endRecord(call, startFacts(call, deps), outcome, told, deps));
      return told.answer;
    } catch (thrown) {
      deps.logger.error('call.unrecorded', { request_id: call.requestId }, thrown);
      return answerOf(call, unrecorded(ContextdError.from(thrown)), deps.counter).answer;
    }
  };
}

/** The answer of a call that failed without output. */
export function answerOf(
  { request, requestId }: Pick<Call, 'request' | 'requestId'>,
  why: ContextdError,
  counter: TokenCounter,
): Budgeted {
  return request.form === 'text' ? turnedAwayText(why, withheld(why), counter) : turnedAway(requestId, why, counter);
}

/** The error for a call that could not be recorded. It does not describe the withheld answer. */
export function unrecorded(cause: ContextdError): ContextdError {
  const code = cause.code === 'STORAGE_FULL' ? 'STORAGE_FULL' : 'AUDIT_FAILED';
  const why = cause.code === code ? `: ${cause.message}` : '';
  return new ContextdError(code, `the call could not be recorded, so its answer is withheld${why}`, {
    remedy: cause.remedy ?? 'Free disk space or make the state directory writable, then see `ctxd doctor`.',
    cause,
  });
}
