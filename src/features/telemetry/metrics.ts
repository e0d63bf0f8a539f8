import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api';
import { AggregationTemporality, type DataPoint, DataPointType, type MetricData } from '@opentelemetry/sdk-metrics';
import { DURATION_BOUNDS_MS, type Figures, type StepFigures, type ToolFigures } from '../../call/live.ts';
import { DURATION_BOUNDS_US } from '../../core/histogram.ts';
import { hrTime } from './spans.ts';

/** Names that callers made up are one series. */
export const OTHER_TOOL = 'other';

/** The sums and histograms that the daemon has anyway, as OpenTelemetry has them. `isTool`: whether a tool has this name. */
export function metricsOf(figures: Figures, nowMs: number, isTool: (name: string) => boolean): MetricData[] {
  const times = { startTime: hrTime(figures.startedMs * 1000), endTime: hrTime(nowMs * 1000) };
  const one = (value: number, attributes: Attributes = {}): DataPoint<number> => ({ ...times, attributes, value });
  const tools = mergedTools(figures.tools, isTool);
  return [
    sum(
      'contextd.calls',
      '{call}',
      'Ended calls by tool and result.',
      resultsOf(tools).map(([value, attributes]) => one(value, attributes)),
    ),
    histogram(
      'contextd.call.duration',
      'How long calls took.',
      tools.map((tool) => durationOf(tool, times)),
    ),
    histogram(
      'contextd.step.duration',
      'How long the steps of calls took.',
      figures.steps.map((step) => stepOf(step, times)),
    ),
    sum('contextd.tokens', '{token}', 'Tokens of whole outputs (run) and of answers (returned).', [
      one(figures.tokensRun, { of: 'run' }),
      one(figures.tokensReturned, { of: 'returned' }),
    ]),
    sum('contextd.secrets_found', '{secret}', 'Secrets masked in answers.', [one(figures.secretsFound)]),
    sum('contextd.scrub.duration', 's', 'Time of the search for secrets.', [one(figures.scrubMs / 1000)]),
    sum('contextd.answers_from_cache', '{call}', 'Answers kept from an equal call.', [one(figures.fromCache)]),
    gauge('contextd.calls.running', '{call}', 'Calls under way.', [one(figures.callsRunning)]),
    gauge('contextd.calls.waiting', '{call}', 'Calls that wait for a slot.', [one(figures.callsWaiting)]),
    gauge('process.memory.usage', 'By', 'Resident memory of the daemon.', [one(figures.residentBytes)]),
  ];
}

function mergedTools(tools: readonly ToolFigures[], isTool: (name: string) => boolean): ToolFigures[] {
  const others = tools.filter(({ tool }) => !isTool(tool));
  const known = tools.filter(({ tool }) => isTool(tool));
  return others.length === 0 ? known : [...known, others.reduce(added, nothingOf(OTHER_TOOL))];
}

function nothingOf(tool: string): ToolFigures {
  return { tool, results: {}, durations: DURATION_BOUNDS_MS.map(() => 0), durationMs: 0 };
}

function added(all: ToolFigures, one: ToolFigures): ToolFigures {
  const results = { ...all.results };
  for (const [result, count] of Object.entries(one.results)) results[result] = (results[result] ?? 0) + count;
  const durations = all.durations.map((count, bucket) => count + (one.durations[bucket] ?? 0));
  return { tool: all.tool, results, durations, durationMs: all.durationMs + one.durationMs };
}

function resultsOf(tools: readonly ToolFigures[]): [number, Attributes][] {
  return tools.flatMap(({ tool, results }) =>
    Object.entries(results).map(([result, count]): [number, Attributes] => [count, { tool, result }]),
  );
}

interface Times {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

type HistogramPoint = Extract<MetricData, { dataPointType: DataPointType.HISTOGRAM }>['dataPoints'][number];

/** `durations` count all calls up to a bound; here each call is in one bucket. */
function durationOf({ tool, results, durations, durationMs }: ToolFigures, times: Times): HistogramPoint {
  const count = Object.values(results).reduce((total, one) => total + one, 0);
  const counts = [...durations, count].map((upTo, bucket) => upTo - (durations[bucket - 1] ?? 0));
  const boundaries = DURATION_BOUNDS_MS.map((ms) => ms / 1000);
  return { ...times, attributes: { tool }, value: { buckets: { boundaries, counts }, count, sum: durationMs / 1000 } };
}

function stepOf({ step, counts, count, sumUs }: StepFigures, times: Times): HistogramPoint {
  const boundaries = DURATION_BOUNDS_US.map((us) => us / 1_000_000);
  const buckets = { boundaries, counts: [...counts] };
  return { ...times, attributes: { step }, value: { buckets, count, sum: sumUs / 1_000_000 } };
}

const COMMON = { aggregationTemporality: AggregationTemporality.CUMULATIVE };

function descriptorOf(name: string, unit: string, description: string) {
  return { name, unit, description, valueType: ValueType.DOUBLE };
}

function sum(name: string, unit: string, description: string, dataPoints: DataPoint<number>[]): MetricData {
  const descriptor = descriptorOf(name, unit, description);
  return { ...COMMON, descriptor, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
}

function gauge(name: string, unit: string, description: string, dataPoints: DataPoint<number>[]): MetricData {
  return {
    ...COMMON,
    descriptor: descriptorOf(name, unit, description),
    dataPointType: DataPointType.GAUGE,
    dataPoints,
  };
}

function histogram(name: string, description: string, dataPoints: HistogramPoint[]): MetricData {
  return {
    ...COMMON,
    descriptor: descriptorOf(name, 's', description),
    dataPointType: DataPointType.HISTOGRAM,
    dataPoints,
  };
}
