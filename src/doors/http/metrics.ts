import { DURATION_BOUNDS_MS, type Figures, type StepFigures } from '../../call/live.ts';
import { DURATION_BOUNDS_US } from '../../core/histogram.ts';

/** Text format 0.0.4 of Prometheus. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [suffix: string, labels: Labels, value: number];

/** `connections`: open connections by door. */
export function renderMetrics(figures: Figures, connections: Readonly<Record<string, number>>): string {
  const { tools } = figures;
  const results = tools.flatMap(({ tool, results }) =>
    Object.entries(results).map(([result, count]): Sample => ['', { tool, result }, count]),
  );
  return [
    family('contextd_calls_total', 'counter', 'Ended calls by tool and result.', results),
    family('contextd_call_duration_seconds', 'histogram', 'How long calls took.', tools.flatMap(histogramOf)),
    family(
      'contextd_step_duration_seconds',
      'histogram',
      'How long the steps of calls took.',
      figures.steps.flatMap(stepOf),
    ),
    family('contextd_tokens_total', 'counter', 'Tokens of whole outputs (run) and of answers (returned).', [
      ['', { of: 'run' }, figures.tokensRun],
      ['', { of: 'returned' }, figures.tokensReturned],
    ]),
    single('contextd_secrets_found_total', 'counter', 'Secrets masked in answers.', figures.secretsFound),
    single('contextd_scrub_seconds_total', 'counter', 'Time of the search for secrets.', figures.scrubMs / 1000),
    single('contextd_answers_from_cache_total', 'counter', 'Answers kept from an equal call.', figures.fromCache),
    single('contextd_calls_running', 'gauge', 'Calls under way.', figures.callsRunning),
    single('contextd_calls_waiting', 'gauge', 'Calls that wait for a slot.', figures.callsWaiting),
    family(
      'contextd_connections',
      'gauge',
      'Open connections by door.',
      Object.entries(connections).map(([door, count]): Sample => ['', { door }, count]),
    ),
    single('process_resident_memory_bytes', 'gauge', 'Resident memory of the daemon.', figures.residentBytes),
    single('process_start_time_seconds', 'gauge', 'When the daemon started.', figures.startedMs / 1000),
  ].join('');
}

function histogramOf({ tool, results, durations, durationMs }: Figures['tools'][number]): Sample[] {
  const count = Object.values(results).reduce((sum, one) => sum + one, 0);
  const buckets = DURATION_BOUNDS_MS.map(
    (bound, index): Sample => ['_bucket', { tool, le: String(bound / 1000) }, durations[index] ?? 0],
  );
  return [
    ...buckets,
    ['_bucket', { tool, le: '+Inf' }, count],
    ['_sum', { tool }, durationMs / 1000],
    ['_count', { tool }, count],
  ];
}

/** The buckets of this format hold all values up to their bound. */
function stepOf({ step, counts, count, sumUs }: StepFigures): Sample[] {
  let below = 0;
  const buckets = DURATION_BOUNDS_US.map((bound, index): Sample => {
    below += counts[index] ?? 0;
    return ['_bucket', { step, le: String(bound / 1_000_000) }, below];
  });
  return [
    ...buckets,
    ['_bucket', { step, le: '+Inf' }, count],
    ['_sum', { step }, sumUs / 1_000_000],
    ['_count', { step }, count],
  ];
}

function single(name: string, type: string, help: string, value: number): string {
  return family(name, type, help, [['', {}, value]]);
}

function family(name: string, type: string, help: string, samples: readonly Sample[]): string {
  const lines = samples.map(([suffix, labels, value]) => `${name}${suffix}${labelsOf(labels)} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function labelsOf(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
