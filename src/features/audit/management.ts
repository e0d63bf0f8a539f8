import type { AuditLog } from '../../audit/log.ts';
import { RecordReader } from '../../audit/record-reader.ts';
import type { Management } from '../../protocol/management-contract.ts';

const RECORDS_DEFAULT = 20;
const RECORDS_MAX = 1000;

/** What `ctxd audit tail` and `ctxd stats` ask the daemon, which knows the calls that run. */
export function createAuditManagement({
  auditLog,
}: {
  auditLog: Pick<AuditLog, 'tail' | 'stats'>;
}): Pick<Management, 'tailAudit' | 'stats'> {
  return {
    async tailAudit({ limit, project_root }) {
      const newest = Math.min(limit || RECORDS_DEFAULT, RECORDS_MAX);
      const reader = new RecordReader();
      const records = await auditLog.tail(newest, project_root === '' ? undefined : project_root, reader);
      return { records_json: records.map((record) => JSON.stringify(record)), unreadable: reader.unreadable };
    },
    stats: async ({ project_root, days }) => ({ rows: await auditLog.stats(days, project_root) }),
  };
}
