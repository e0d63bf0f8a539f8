import type { CallAnswer, CallRequest, Refuse } from '../call/request.ts';
import { ContextdError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type { TokenCounter } from '../tokens/counter.ts';
import { type AuditDeps, endRecord, startFacts } from './audit.ts';
import { turnedAway } from './budget.ts';
import { identify } from './identify.ts';
import { withheld } from './scrub.ts';

export interface RefuseDeps extends AuditDeps {
  counter: TokenCounter;
  logger: Logger;
}

/** For calls that do not reach dispatch: each leaves a record, as all others do. */
export function createRefuse(deps: RefuseDeps): Refuse {
  return async (request: CallRequest, why: ContextdError): Promise<CallAnswer> => {
    const call = identify(request, deps.clock);
    const { answer, tally } = turnedAway(call.requestId, why, deps.counter);
    try {
      const told = { line: answer.line, tally };
      const outcome = { ...withheld(why), failure: why };
      await deps.auditLog.append(endRecord(call, startFacts(call, deps), outcome, told, deps));
      return answer;
    } catch (thrown) {
      deps.logger.error('call.unrecorded', { request_id: call.requestId }, thrown);
      return turnedAway(call.requestId, unrecorded(ContextdError.from(thrown)), deps.counter).answer;
    }
  };
}

/** No record, no answer. What the answer would have been is not said: it would be an unrecorded answer. */
export function unrecorded(cause: ContextdError): ContextdError {
  const code = cause.code === 'STORAGE_FULL' ? 'STORAGE_FULL' : 'AUDIT_FAILED';
  return new ContextdError(code, 'the call could not be recorded, so its answer is withheld', {
    remedy: cause.remedy ?? 'Free disk space or make the state directory writable, then see `ctxd doctor`.',
    cause,
  });
}
