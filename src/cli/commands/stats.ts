import { ContextdError } from '../../core/errors.ts';
import { inThousands } from '../../core/thousands.ts';
import type { StatsRow__Output as StatsRow } from '../../protocol/generated/management.ts';
import { withClient } from '../client.ts';
import { defineCommand, type Parameter, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { projectOption } from '../project-root.ts';
import type { View } from '../render.ts';
import { readSteps, type StepSum, stepTable } from '../stats/steps.ts';

/** The keys that rows can be grouped by. */
const GROUPINGS = ['day', 'tool', 'session'] as const;
type Grouping = (typeof GROUPINGS)[number];

/** Session ids are unique only within a project. */
const KEYS = { day: ['day'], tool: ['tool'], session: ['project', 'session'] } as const;

type Key = (typeof KEYS)[Grouping][number];

const DAYS_DEFAULT = 7;
const DAYS_MAX = 366;

interface Stats {
  /** How long the steps of calls took; null unless it was asked for. */
  steps: readonly StepSum[] | null;
  rows: readonly StatsSum[];
  by: Grouping | undefined;
  days: number;
  /** True for the table; otherwise one sentence. */
  hasTable: boolean;
}

/** Which records are summed up. */
export const STATS_OPTIONS: readonly Parameter[] = [
  {
    syntax: '--days <count>',
    help: `number of UTC days including today (default ${DAYS_DEFAULT}, at most ${DAYS_MAX})`,
  },
  { syntax: '--project [dir]', help: 'only calls of a project (default: the current project)' },
];

/** The rows that `STATS_OPTIONS` ask for. */
export async function readStats(
  context: CliContext,
  args: ParsedArgs,
): Promise<{ rows: readonly StatsRow[]; days: number }> {
  const days = args.count('days', DAYS_DEFAULT, DAYS_MAX);
  const root = await projectOption(context, args);
  const { rows } = await withClient(context.paths, (client) => client.stats({ project_root: root, days }));
  return { rows, days };
}

/** Sums of the audit log. */
export const stats = defineCommand<Stats>({
  name: ['stats'],
  summary: 'Say what was saved; with --all or --by, sum up calls, tokens, secrets and times in a table.',
  options: [
    ...STATS_OPTIONS,
    { syntax: '--all', help: 'a table by day, tool and session' },
    { syntax: '--steps', help: 'how long each step of the calls took since the daemon started, instead' },
    { syntax: '--by <key>', help: `a table by one of ${GROUPINGS.join(', ')}` },
  ],
  async run(context, args) {
    const by = groupingOf(args);
    if (args.flag('steps')) return { steps: await readSteps(context), rows: [], by, days: 0, hasTable: false };
    const { rows, days } = await readStats(context, args);
    const hasTable = args.flag('all') || by !== undefined;
    return { rows: by === undefined ? rows : sumBy(rows, by), by, days, hasTable, steps: null };
  },
  bare: ({ rows, steps }) => JSON.stringify(steps ?? rows),
  view({ rows, by, days, hasTable, steps }) {
    if (steps !== null) return stepTable(steps);
    return hasTable ? statsView(rows, by) : { kind: 'lines', lines: [savedSentence(sumAll(rows), days)] };
  },
});

/**
 * What was saved, in one sentence. Everything that contextd printed counts against it: envelopes, status lines and
 * follow-up calls.
 */
export function savedSentence(sum: StatsSum, days: number): string {
  const period = days === 1 ? 'Today' : `In ${days} days`;
  if (!isCounted(sum)) return `${period} nothing was called.`;
  const run = Math.round(sum.tokens_run);
  const returned = Math.round(sum.tokens_returned);
  const saved = Math.round(sum.tokens_saved);
  const about = sum.estimated_calls > 0 ? 'about ' : '';
  const calls = `${inThousands(sum.counted_calls)} ${sum.counted_calls === 1 ? 'call' : 'calls'}`;
  const read = `${period} agents read ${inThousands(returned)} tokens of ${calls} that printed ${about}${inThousands(run)}`;
  if (saved <= 0) return `${read}: nothing was saved.`;
  return `${read}: ${about}${inThousands(saved)} tokens (${Math.floor((100 * saved) / run)} %) were saved, net of what contextd adds.`;
}

function groupingOf(args: ParsedArgs): Grouping | undefined {
  const asked = args.text('by');
  const by = GROUPINGS.find((one) => one === asked);
  if (asked === undefined || by !== undefined) return by;
  throw new ContextdError('ARGS_INVALID', `--by must be one of ${GROUPINGS.join(', ')}, not ${asked}`, {
    remedy: 'Pass one of these, or leave --by out.',
  });
}

/** One column. A column with a key is shown only if the rows have this key. */
interface Column {
  heading: string;
  show(sum: StatsSum): string;
  key?: Key;
}

/** For rows of an older version, which did not record the figure. */
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

/** A table with totals and, on a terminal, a chart of tokens, by tool if `by` is undefined. */
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

/** The sum of no calls. */
const NO_FIGURES = {
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
  kept: 0,
  retries: 0,
} satisfies Omit<StatsRow, Key | 'errors'>;

type Figures = typeof NO_FIGURES;
const FIGURE_NAMES = Object.keys(NO_FIGURES) as (keyof Figures)[];

/** Figures of some calls, and the keys that these calls share. */
export type StatsSum = Figures & Partial<Pick<StatsRow, Key | 'errors'>>;

/** One sum for each value of the key, in the order of first appearance. */
export function sumBy(rows: readonly StatsSum[], by: Grouping): StatsSum[] {
  const sums = new Map<string, StatsSum>();
  for (const row of rows) {
    const keys: Partial<Pick<StatsRow, Key>> = Object.fromEntries(KEYS[by].map((name) => [name, row[name] ?? '']));
    const key = JSON.stringify(keys);
    sums.set(key, add(sums.get(key) ?? { ...keys, ...NO_FIGURES }, row));
  }
  return [...sums.values()];
}

export function sumAll(rows: readonly StatsSum[]): StatsSum {
  return rows.reduce<StatsSum>(add, NO_FIGURES);
}

function add(sum: StatsSum, row: StatsSum): StatsSum {
  const added = { ...sum };
  for (const name of FIGURE_NAMES) added[name] += row[name];
  const errors = { ...sum.errors };
  for (const [code, count] of Object.entries(row.errors ?? {})) errors[code] = (errors[code] ?? 0) + count;
  return { ...added, errors };
}
