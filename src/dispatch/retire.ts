import type { CallRequest } from '../call/request.ts';
import type { CallSeals } from '../stores/call-seals.ts';
import type { Journal } from '../stores/journal.ts';
import { type AuditDeps, recordedTool } from './audit.ts';
import { type IdentifyDeps, identify } from './identify.ts';

export interface RetireDeps extends AuditDeps, IdentifyDeps {
  journal: Pick<Journal, 'retire'>;
  callSeals: Pick<CallSeals, 'of'>;
}

/**
 * Enters a call that was taken back and runs again under another id. A caller that lost its connection knows the first id only:
 * asking for it is INTERRUPTED, because the call may have run under the other.
 */
export function createRetire(deps: RetireDeps): (request: CallRequest) => Promise<void> {
  return async (request) => {
    const call = identify(request, deps);
    const { requestId, session } = call;
    await deps.journal.retire({
      requestId,
      tool: recordedTool(call, deps),
      session,
      tag: deps.callSeals.of(request).tag,
    });
  };
}
