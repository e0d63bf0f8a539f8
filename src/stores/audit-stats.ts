import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isErrno } from '../core/errors.ts';
import { type AuditRecord, parseRecord } from './audit-record.ts';

/** The calls of one tool in one session of a project on one UTC day. */
export interface StatsRow {
  /** `2026-01-31`. */
  day: string;
  project: string;
  session: string;
  tool: string;
  calls: number;
  failed: number;
  /** Secrets masked in answers. */
  secrets: number;
  /** What only the daemon's search found, not the one in the tool's process. */
  missedByFirstPass: number;
  /** What gitleaks found in stored outputs later. */
  missedByEngine: number;
  /** Milliseconds of all calls, and of their search for secrets. */
  durationMs: number;
  scrubMs: number;
}

/** Rows of one answer; a row more is left out. */
const MAX_ROWS = 10_000;

/** Sums up the audit log of some days, oldest first; a day without a file has no rows. `project` "": all. */
export async function sumAuditLog(dir: string, days: readonly string[], project: string): Promise<StatsRow[]> {
  const rows = new Map<string, StatsRow>();
  for (const day of days)
    for await (const record of recordsOf(join(dir, `audit-${day}.jsonl`)))
      if (project === '' || record.project === project) addRecord(rows, day, record);
  return [...rows.values()];
}

async function* recordsOf(path: string): AsyncGenerator<AuditRecord> {
  try {
    for await (const line of createInterface({ input: createReadStream(path) })) {
      const record = parseRecord(Buffer.from(line));
      if (record !== null) yield record;
    }
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
}

function addRecord(rows: Map<string, StatsRow>, day: string, record: AuditRecord): void {
  const { project, session, tool } = record;
  const key = JSON.stringify([day, project, session, tool]);
  const row = rows.get(key) ?? emptyRow(day, project, session, tool);
  if (!rows.has(key) && rows.size >= MAX_ROWS) return;
  rows.set(key, row);
  if (record.kind === 'secret_missed') {
    row.missedByEngine += record.secrets_found;
    return;
  }
  row.calls += 1;
  row.failed += record.error_code === null ? 0 : 1;
  row.secrets += record.secrets_found;
  row.missedByFirstPass += record.missed_by_first_pass ?? 0;
  row.durationMs += record.duration_ms;
  row.scrubMs += record.scrub_ms ?? 0;
}

function emptyRow(day: string, project: string, session: string, tool: string): StatsRow {
  const none = { calls: 0, failed: 0, secrets: 0, missedByFirstPass: 0, missedByEngine: 0, durationMs: 0, scrubMs: 0 };
  return { day, project, session, tool, ...none };
}
