import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isErrno } from '../core/errors.ts';
import { type AuditRecord, parseRecord } from './audit-record.ts';

/** The calls of one tool in one session of a project on one UTC day. */
export interface StatsRow extends StatsFigures {
  /** `2026-01-31`. */
  day: string;
  project: string;
  session: string;
  tool: string;
}

interface StatsFigures {
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
  /** Calls that ran nothing: they fetched more of an earlier output. */
  followUps: number;
  /** Calls whose tokens are known; the sums of tokens hold these and no others. */
  countedCalls: number;
  /** Calls of those whose share of `tokensRun` is an estimate. */
  estimatedCalls: number;
  /** Tokens that the whole outputs would have cost. */
  tokensRun: number;
  /** Tokens of all answers, follow-ups too. */
  tokensReturned: number;
  /** `tokensRun - tokensReturned`: net of what follow-ups cost. Negative when more came back than ran. */
  tokensSaved: number;
  /** Outputs that were stored. */
  artifacts: number;
  /** Answers that did not hold the whole output. */
  truncated: number;
  /** Calls whose time in the tool is known, and milliseconds that contextd added to these. */
  timedCalls: number;
  addedMs: number;
}

/** Rows of one answer. What would be a row more is summed up in one row of its day, so that no call is missing. */
const MAX_ROWS = 10_000;
const OTHERS = { project: '', session: '', tool: '(others)' };

/**
 * Sums up the audit log of some days, oldest first; a day without a file has no rows. `project` "": all. A call counts
 * once: by its end, or on the day of its start while that is all there is. `isLost`: true for the start of a call
 * whose end will not come, which counts as failed.
 */
export async function sumAuditLog(
  dir: string,
  days: readonly string[],
  project: string,
  isLost: (start: AuditRecord) => boolean,
  maxRows = MAX_ROWS,
): Promise<StatsRow[]> {
  const rows = new StatsRows(maxRows);
  const open = new Map<string, { day: string; start: AuditRecord }>();
  for (const day of days)
    for await (const record of recordsOf(join(dir, `audit-${day}.jsonl`))) {
      if (project !== '' && record.project !== project) continue;
      if (record.kind === 'started') {
        open.set(record.request_id, { day, start: record });
        continue;
      }
      if (record.began === true) open.delete(record.request_id);
      addRecord(rows.rowOf(day, record), record);
    }
  for (const { day, start } of open.values()) {
    const row = rows.rowOf(day, start);
    row.calls += 1;
    row.failed += isLost(start) ? 1 : 0;
  }
  return rows.all();
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

class StatsRows {
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
    const row = { day, project, session, tool, ...NOTHING };
    this.#rows.set(key, row);
    return row;
  }

  all(): StatsRow[] {
    return [...this.#rows.values()].sort((a, b) => (a.day < b.day ? -1 : Number(a.day > b.day)));
  }
}

function addRecord(row: StatsFigures, record: AuditRecord): void {
  if (record.kind === 'secret_missed') {
    row.missedByEngine += record.secrets_found;
    return;
  }
  row.calls += 1;
  row.failed += record.error_code === null ? 0 : 1;
  row.followUps += record.follow_up === true ? 1 : 0;
  row.artifacts += record.artifact === true ? 1 : 0;
  row.truncated += record.truncated === true ? 1 : 0;
  row.secrets += record.secrets_found;
  row.missedByFirstPass += record.missed_by_first_pass ?? 0;
  row.durationMs += record.duration_ms;
  row.scrubMs += record.scrub_ms ?? 0;
  addTokens(row, record);
  addTime(row, record);
}

/** A record with one of the two figures alone says nothing about a saving. */
function addTokens(row: StatsFigures, record: AuditRecord): void {
  const run = record.follow_up === true ? 0 : record.tokens_run;
  const returned = record.tokens_returned;
  if (run === undefined || returned === undefined) return;
  row.countedCalls += 1;
  row.estimatedCalls += record.tokens_estimated === true && record.follow_up !== true ? 1 : 0;
  row.tokensRun += run;
  row.tokensReturned += returned;
  row.tokensSaved += run - returned;
}

/** All the time of a follow-up is added time. Clocks are rounded: a difference below nothing is nothing. */
function addTime(row: StatsFigures, record: AuditRecord): void {
  const inTool = record.follow_up === true ? 0 : record.run_ms;
  if (inTool === undefined) return;
  row.timedCalls += 1;
  row.addedMs += Math.max(0, record.duration_ms - inTool);
}

const NOTHING: Readonly<StatsFigures> = {
  calls: 0,
  failed: 0,
  secrets: 0,
  missedByFirstPass: 0,
  missedByEngine: 0,
  durationMs: 0,
  scrubMs: 0,
  followUps: 0,
  countedCalls: 0,
  estimatedCalls: 0,
  tokensRun: 0,
  tokensReturned: 0,
  tokensSaved: 0,
  artifacts: 0,
  truncated: 0,
  timedCalls: 0,
  addedMs: 0,
};
