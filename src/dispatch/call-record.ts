import type { ErrorCode } from '../core/errors.ts';
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
  let isInLog = false;
  return {
    async begin(tool) {
      await journal.begin({ requestId, tool, sessionKey });
      isInJournal = true;
      await auditLog.begin(startFacts(call, deps));
      isInLog = true;
    },
    async end(outcome, told) {
      const record = endRecord(call, outcome, told, deps);
      await (isInLog ? auditLog.end(record) : auditLog.append(record));
      const errorCode: ErrorCode | null = outcome.failure?.code ?? null;
      if (isInJournal) await journal.finish(requestId, errorCode);
    },
  };
}
