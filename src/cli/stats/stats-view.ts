import type { View } from '../render.ts';
import { type Grouping, type Key, type StatsSum, sumAll, sumBy } from './sums.ts';

/** One column: its heading, what a row shows in it, and the key that the rows must have for it to be there at all. */
interface Column {
  heading: string;
  show(sum: StatsSum): string;
  key?: Key;
}

/** Nothing is known of the calls of an older version: that is not a figure of 0. */
const UNKNOWN = '-';

const COLUMNS: readonly Column[] = [
  { heading: 'DAY', key: 'day', show: (sum) => sum.day ?? '' },
  { heading: 'TOOL', key: 'tool', show: (sum) => sum.tool ?? '' },
  figure('CALLS', (sum) => sum.calls),
  figure('FAILED', (sum) => sum.failed),
  figure('FOLLOW-UPS', (sum) => sum.follow_ups),
  figure('COUNTED', (sum) => sum.counted_calls),
  figure('ESTIMATED', (sum) => sum.estimated_calls),
  figure('TOKENS RUN', (sum) => sum.tokens_run, isCounted),
  figure('RETURNED', (sum) => sum.tokens_returned, isCounted),
  figure('SAVED', (sum) => sum.tokens_saved, isCounted),
  figure('ARTIFACTS', (sum) => sum.artifacts, isCounted),
  figure('CUT', (sum) => sum.truncated, isCounted),
  figure('SECRETS', (sum) => sum.secrets),
  figure('MISSED BY 1ST PASS', (sum) => sum.missed_by_first_pass),
  figure('MISSED BY ENGINE', (sum) => sum.missed_by_engine),
  figure('MS', (sum) => sum.duration_ms),
  figure('MS SCRUBBING', (sum) => sum.scrub_ms),
  figure(
    'MS ADDED',
    (sum) => sum.added_ms,
    (sum) => sum.timed_calls > 0,
  ),
  { heading: 'SESSION', key: 'session', show: (sum) => sum.session ?? '' },
  { heading: 'PROJECT', key: 'project', show: (sum) => sum.project ?? '' },
];

/** The rows as a table with their total; on a terminal also a chart of tokens, by tool unless asked otherwise. */
export function statsView(rows: readonly StatsSum[], by: Grouping | undefined): View {
  return { kind: 'stack', views: [tableOf(rows), ...chartOf(rows, by ?? 'tool')] };
}

function tableOf(rows: readonly StatsSum[]): View {
  const columns = COLUMNS.filter(({ key }) => key === undefined || rows.some((row) => row[key] !== undefined));
  const total = sumAll(rows);
  const [, ...totals] = columns.map((column) => column.show(total));
  return {
    kind: 'table',
    columns: columns.map(({ heading }) => heading),
    numbers: columns.flatMap(({ key }, index) => (key === undefined ? [index] : [])),
    rows: rows.map((row) => columns.map((column) => column.show(row))),
    totals: ['total', ...totals],
    empty: 'no calls in these days',
  };
}

function chartOf(rows: readonly StatsSum[], by: Grouping): View[] {
  const counted = sumBy(rows, by).filter(isCounted);
  if (counted.length === 0) return [];
  const groups = counted
    .toSorted((a, b) => (by === 'day' ? 0 : largest(b) - largest(a)))
    .map((sum) => ({ label: sum[by] ?? '', bars: [runBar(sum), bar('returned', sum.tokens_returned)] }));
  return [{ kind: 'chart', chart: { title: `TOKENS BY ${by.toUpperCase()}`, groups } }];
}

function runBar(sum: StatsSum): ReturnType<typeof bar> {
  const run = bar('run', sum.tokens_run);
  return sum.estimated_calls > 0 ? { ...run, text: `~${run.text}` } : run;
}

function bar(name: string, amount: number): { name: string; amount: number; text: string } {
  return { name, amount, text: String(Math.round(amount)) };
}

function largest(sum: StatsSum): number {
  return Math.max(sum.tokens_run, sum.tokens_returned);
}

function figure(
  heading: string,
  of: (sum: StatsSum) => number,
  isKnown: (sum: StatsSum) => boolean = () => true,
): Column {
  return { heading, show: (sum) => (isKnown(sum) ? String(Math.round(of(sum))) : UNKNOWN) };
}

function isCounted(sum: StatsSum): boolean {
  return sum.counted_calls > 0;
}
