import type { StatsRow } from '../call/management.ts';
import { isErrno } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';
import { type Line, linesForwards } from './lines.ts';
import { type AuditRecord, PERSON_DOOR, parseRecord } from './record.ts';
import { dayOf, listSegments, type Segment } from './segments.ts';

/** Most rows of one answer. Calls that would need another row are added to the row `OTHERS` of their day. */
const MAX_ROWS = 10_000;
const OTHERS = { project: '', session: '', tool: '(others)' };

type Figures = Omit<StatsRow, 'day' | 'project' | 'session' | 'tool'>;

/** Kinds of records that are no call, or no end of one. */
const UNCOUNTED = ['asked', 'connections', 'person'] as const;

/** A call that has begun. `day`: the UTC day on which it did. */
export type OpenStart = Pick<AuditRecord, 'request_id' | 'project' | 'session' | 'tool'> & { readonly day: string };

/** What one segment adds to the sums, as far as it was read. */
export interface SegmentSums {
  /** For all projects and without a limit. */
  readonly rows: StatsRow[];
  /** Calls that began in it and did not end in it. */
  readonly open: OpenStart[];
  /** Request ids of calls that ended in it and began in an earlier one. */
  readonly ended: string[];
}

/**
 * Sums up the audit log from the UTC day `since` on; a day without calls has no rows. `project` "" is every project. A
 * call counts once: on the day of its end, or of its start if it has no end yet. The clock of the call says which day that is, and
 * not the name of the segment: if the clock went back, a segment has calls of earlier days, and days after today have calls.
 * `isLost` returns true for the start of a call whose end will never be written; the call counts as failed. `sumsOf`: where the
 * sums of a segment come from.
 */
export async function sumAuditLog(
  dir: string,
  since: string,
  project: string,
  isLost: (start: OpenStart) => boolean,
  { maxRows = MAX_ROWS, sumsOf = readSums }: { maxRows?: number; sumsOf?: SumsOf } = {},
): Promise<StatsRow[]> {
  const rows = new Rows(maxRows);
  const open = new Map<string, OpenStart>();
  const isAsked = (one: { day: string; project: string }): boolean =>
    one.day >= since && (project === '' || one.project === project);
  // A segment has no call of a later day than its own.
  for (const segment of (await listSegments(dir)).filter(({ day }) => day >= since)) {
    const sums = await sumsOf(segment);
    for (const id of sums.ended) open.delete(id);
    for (const row of sums.rows) if (isAsked(row)) addRow(rows.rowOf(row.day, row), row);
    for (const start of sums.open) if (isAsked(start)) open.set(start.request_id, start);
  }
  for (const start of open.values()) {
    const row = rows.rowOf(start.day, start);
    row.calls += 1;
    if (isLost(start)) addFailure(row, 'INTERRUPTED');
  }
  return rows.all();
}

export type SumsOf = (segment: Segment) => Promise<SegmentSums>;

/** Reads the whole segment. */
async function readSums(segment: Segment): Promise<SegmentSums> {
  const sums = new SegmentSum(segment.day);
  try {
    for await (const line of linesForwards(segment.path)) sums.add(line);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
  return sums.read();
}

/** Of a Date. */
const TIME_MAX_MS = 8.64e15;

/** Adds up the lines of one segment. */
export class SegmentSum {
  readonly #day: string;
  readonly #rows = new Rows(Number.POSITIVE_INFINITY);
  readonly #open = new Map<string, OpenStart>();
  readonly #ended: string[] = [];

  /** `known`: the sums of the lines before. */
  constructor(day: string, known?: SegmentSums) {
    this.#day = day;
    for (const row of known?.rows ?? []) addRow(this.#rows.rowOf(row.day, row), row);
    for (const start of known?.open ?? []) this.#open.set(start.request_id, start);
    this.#ended.push(...(known?.ended ?? []));
  }

  add(line: Line): void {
    const record = parseRecord(line);
    if (record === null) return;
    // The call that started the job is counted, and what the job printed is counted with the calls that show it.
    if (record.job !== undefined || UNCOUNTED.some((kind) => kind === record.kind)) return;
    const { request_id, project, session, tool } = record;
    if (record.kind === 'started') {
      const start = { request_id, project, session, tool, day: this.#dayOf(record.time, 0) };
      if (record.door !== PERSON_DOOR) this.#open.set(request_id, start);
      return;
    }
    if (record.began === true && !this.#open.delete(request_id)) this.#ended.push(request_id);
    addRecord(this.#rows.rowOf(this.#dayOf(record.time, record.duration_ms), record), record);
  }

  /** The segment's for a record without a time. */
  #dayOf(time: string, durationMs: number): string {
    const ms = Date.parse(time) + durationMs;
    return Number.isFinite(ms) && Math.abs(ms) <= TIME_MAX_MS ? dayOf(ms) : this.#day;
  }

  read(): SegmentSums {
    return { rows: this.#rows.all(), open: [...this.#open.values()], ended: this.#ended };
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

function addRow(row: Figures, more: Figures): void {
  for (const name of FIGURE_NAMES) row[name] += more[name];
  for (const [code, count] of Object.entries(more.errors)) row.errors[code] = (row.errors[code] ?? 0) + count;
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

/** The names of the sums, which tell apart what other versions have stored. */
export const FIGURE_NAMES = Object.keys(NO_FIGURES) as (keyof typeof NO_FIGURES)[];
