import type { ErrorCode } from '../core/errors.ts';
import type { StartFacts } from '../stores/audit.ts';
import type { Journal } from '../stores/journal.ts';
import { type AuditDeps, endRecord, startFacts, type Told } from './audit.ts';
import type { Call } from './call.ts';
import type { ScrubbedOutcome } from './scrub.ts';

/** What is written down of one call: in the journal while it runs, in the audit log for good. */
export interface CallRecord {
  /**
   * Before anything runs. CONFLICT for a request id that was used before, STORAGE_FULL or AUDIT_FAILED when it cannot
   * be written: no record, no run.
   */
  begin(tool: string): Promise<void>;
  /** Step 9, for every outcome. AUDIT_FAILED when it cannot be written: no record, no answer. */
  end(outcome: ScrubbedOutcome, told: Told): Promise<void>;
}

export interface CallRecordDeps extends AuditDeps {
  journal: Journal;
}

export function createCallRecord(call: Call, deps: CallRecordDeps): CallRecord {
  const { auditLog, journal } = deps;
  const { requestId, sessionKey } = call;
  // A call that could not begin does not end the one whose request id it took.
  let isInJournal = false;
  let start: StartFacts | null = null;
  return {
    async begin(tool) {
      await journal.begin({ requestId, tool, sessionKey });
      isInJournal = true;
      const facts = startFacts(call, deps);
      await auditLog.begin(facts);
      start = facts;
    },
    async end(outcome, told) {
      // Secrets that the call brought to light may be in its input: then that is masked once more.
      const facts = start === null || outcome.secrets.length > 0 ? startFacts(call, deps) : start;
      const record = endRecord(call, facts, outcome, told, deps);
      await (start === null ? auditLog.append(record) : auditLog.end(record));
      const errorCode: ErrorCode | null = outcome.failure?.code ?? null;
      if (isInJournal) await journal.finish(requestId, errorCode);
    },
  };
}
