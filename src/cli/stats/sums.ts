import type { StatsRow } from '../client.ts';

/** What rows can be summed up by. */
export const GROUPINGS = ['day', 'tool', 'session'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** A session is one of its project. */
const KEYS = { day: ['day'], tool: ['tool'], session: ['project', 'session'] } as const;

export type Key = (typeof KEYS)[Grouping][number];

const FIGURES = [
  'calls',
  'failed',
  'follow_ups',
  'counted_calls',
  'estimated_calls',
  'tokens_run',
  'tokens_returned',
  'tokens_saved',
  'artifacts',
  'truncated',
  'secrets',
  'missed_by_first_pass',
  'missed_by_engine',
  'duration_ms',
  'scrub_ms',
  'timed_calls',
  'added_ms',
] as const satisfies readonly (keyof StatsRow)[];

/** Figures of some calls, and those keys that all of them share by the grouping. */
export type StatsSum = Pick<StatsRow, (typeof FIGURES)[number]> & Partial<Pick<StatsRow, Key>>;

/** One sum to each value of the grouping, in the order they first appear. */
export function sumBy(rows: readonly StatsSum[], by: Grouping): StatsSum[] {
  const sums = new Map<string, StatsSum>();
  for (const row of rows) {
    const keys: Partial<Pick<StatsRow, Key>> = Object.fromEntries(KEYS[by].map((name) => [name, row[name] ?? '']));
    const key = JSON.stringify(keys);
    sums.set(key, add(sums.get(key) ?? { ...keys, ...noFigures() }, row));
  }
  return [...sums.values()];
}

export function sumAll(rows: readonly StatsSum[]): StatsSum {
  return rows.reduce(add, noFigures());
}

function add(sum: StatsSum, row: StatsSum): StatsSum {
  const added = { ...sum };
  for (const name of FIGURES) added[name] += row[name];
  return added;
}

function noFigures(): StatsSum {
  return {
    calls: 0,
    failed: 0,
    follow_ups: 0,
    counted_calls: 0,
    estimated_calls: 0,
    tokens_run: 0,
    tokens_returned: 0,
    tokens_saved: 0,
    artifacts: 0,
    truncated: 0,
    secrets: 0,
    missed_by_first_pass: 0,
    missed_by_engine: 0,
    duration_ms: 0,
    scrub_ms: 0,
    timed_calls: 0,
    added_ms: 0,
  };
}
