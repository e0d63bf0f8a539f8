import type { StatsRow } from '../call/management.ts';
import { isErrno } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';
import { type AuditRecord, PERSON_DOOR, parseRecord } from './record.ts';
import { listSegments } from './segments.ts';
import { linesForwards } from './tail.ts';

/** Most rows of one answer. Calls that would need another row are added to the row `OTHERS` of their day. */
const MAX_ROWS = 10_000;
const OTHERS = { project: '', session: '', tool: '(others)' };

type Figures = Omit<StatsRow, 'day' | 'project' | 'session' | 'tool'>;

/** Kinds of records that are no call, or no end of one. */
const UNCOUNTED = ['asked', 'connections', 'person'] as const;

/**
 * Sums up the audit log of some days; a day without a file has no rows. `project` "" is every project. A
 * call counts once: by its end, or by its start on that day if it has no end yet. `isLost` returns true for the start
 * of a call whose end will never be written; the call counts as failed.
 */
export async function sumAuditLog(
  dir: string,
  days: readonly string[],
  project: string,
  isLost: (start: AuditRecord) => boolean,
  maxRows = MAX_ROWS,
): Promise<StatsRow[]> {
  const rows = new Rows(maxRows);
  const open = new Map<string, { day: string; start: AuditRecord }>();
  for (const { day, path } of (await listSegments(dir)).filter((segment) => days.includes(segment.day)))
    for await (const record of recordsOf(path)) {
      if (project !== '' && record.project !== project) continue;
      // The call that started the job is counted, and what the job printed is counted with the calls that show it.
      if (record.job !== undefined || UNCOUNTED.some((kind) => kind === record.kind)) continue;
      if (record.kind === 'started') {
        if (record.door === PERSON_DOOR) continue;
        open.set(record.request_id, { day, start: record });
        continue;
      }
      if (record.began === true) open.delete(record.request_id);
      addRecord(rows.rowOf(day, record), record);
    }
  for (const { day, start } of open.values()) {
    const row = rows.rowOf(day, start);
    row.calls += 1;
    if (isLost(start)) addFailure(row, 'INTERRUPTED');
  }
  return rows.all();
}

async function* recordsOf(path: string): AsyncGenerator<AuditRecord> {
  try {
    for await (const { bytes } of linesForwards(path)) {
      const record = parseRecord(bytes);
      if (record !== null) yield record;
    }
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
}

class Rows {
  readonly #rows = new Map<string, StatsRow>();
  readonly #maxRows: number;

  constructor(maxRows: number) {
    this.#maxRows = maxRows;
  }

  rowOf(day: string, { project, session, tool }: Pick<StatsRow, 'project' | 'session' | 'tool'>): StatsRow {
    const key = JSON.stringify([day, project, session, tool]);
    const known = this.#rows.get(key);
    if (known !== undefined) return known;
    const isOthers = project === OTHERS.project && session === OTHERS.session && tool === OTHERS.tool;
    if (this.#rows.size >= this.#maxRows && !isOthers) return this.rowOf(day, OTHERS);
    const row = { day, project, session, tool, ...NO_FIGURES, errors: {} };
    this.#rows.set(key, row);
    return row;
  }

  all(): StatsRow[] {
    return [...this.#rows.values()].sort((a, b) => (a.day < b.day ? -1 : Number(a.day > b.day)));
  }
}

function addRecord(row: Figures, record: AuditRecord): void {
  if (record.kind === 'secret_missed') {
    row.missed_by_engine += record.secrets_found;
    return;
  }
  row.calls += 1;
  if (record.error_code !== null) addFailure(row, record.error_code);
  row.follow_ups += record.follow_up === true ? 1 : 0;
  row.artifacts += record.artifact === true ? 1 : 0;
  row.truncated += record.truncated === true ? 1 : 0;
  row.secrets += record.secrets_found;
  row.missed_by_first_pass += record.missed_by_first_pass ?? 0;
  row.duration_ms += record.duration_ms;
  row.scrub_ms += record.scrub_ms ?? 0;
  const { cache_hit: isKept, attempts } = isJsonObject(record.provenance) ? record.provenance : {};
  row.kept += isKept === true ? 1 : 0;
  row.retries += typeof attempts === 'number' ? Math.max(0, attempts - 1) : 0;
  addTokens(row, record);
  addTime(row, record);
}

function addFailure(row: Figures, code: string): void {
  row.failed += 1;
  row.errors[code] = (row.errors[code] ?? 0) + 1;
}

/** A record with only one of the two figures says nothing about a saving. */
function addTokens(row: Figures, record: AuditRecord): void {
  const run = record.follow_up === true ? 0 : record.tokens_run;
  const returned = record.tokens_returned;
  if (run === undefined || returned === undefined) return;
  row.counted_calls += 1;
  row.estimated_calls += record.tokens_estimated === true && record.follow_up !== true ? 1 : 0;
  row.tokens_run += run;
  row.tokens_returned += returned;
  row.tokens_saved += run - returned;
}

/** All the time of a follow-up is added time. Clocks are rounded, so a negative difference counts as 0. */
function addTime(row: Figures, record: AuditRecord): void {
  const inTool = record.follow_up === true ? 0 : record.run_ms;
  if (inTool === undefined) return;
  row.timed_calls += 1;
  row.added_ms += Math.max(0, record.duration_ms - inTool);
}

const NO_FIGURES: Readonly<Omit<Figures, 'errors'>> = {
  calls: 0,
  failed: 0,
  secrets: 0,
  missed_by_first_pass: 0,
  missed_by_engine: 0,
  duration_ms: 0,
  scrub_ms: 0,
  follow_ups: 0,
  counted_calls: 0,
  estimated_calls: 0,
  tokens_run: 0,
  tokens_returned: 0,
  tokens_saved: 0,
  artifacts: 0,
  truncated: 0,
  timed_calls: 0,
  added_ms: 0,
  kept: 0,
  retries: 0,
};
