import { quantileUs } from '../../core/histogram.ts';
import type { StepLatency__Output as StepLatency } from '../../protocol/generated/management.ts';
import { withClient } from '../client.ts';
import type { CliContext } from '../context.ts';
import type { View } from '../render.ts';

/** How long one step of the calls took. Quantiles are the upper bounds of their buckets, null beyond the last bound. */
export interface StepSum {
  readonly step: string;
  readonly count: number;
  readonly mean_ms: number;
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
}

/** The steps of the running daemon, in the order of a call. */
export async function readSteps({ paths }: CliContext): Promise<StepSum[]> {
  const { steps } = await withClient(paths, (client) => client.serverStatus({}));
  return steps.map(sumOf);
}

function sumOf(latency: StepLatency): StepSum {
  const { step, count, sum_us } = latency;
  return {
    step,
    count,
    mean_ms: count === 0 ? 0 : Math.round(sum_us / count) / 1000,
    p50_ms: quantileMs(latency, 0.5),
    p99_ms: quantileMs(latency, 0.99),
  };
}

function quantileMs(latency: StepLatency, quantile: number): number | null {
  const us = quantileUs(latency, quantile);
  return Number.isFinite(us) ? us / 1000 : null;
}

export function stepTable(steps: readonly StepSum[]): View {
  const shown = (ms: number | null): string => (ms === null ? 'more' : String(ms));
  return {
    kind: 'table',
    columns: ['STEP', 'COUNT', 'MEAN MS', 'P50 MS', 'P99 MS'],
    numbers: [1, 2, 3, 4],
    rows: steps.map(({ step, count, mean_ms, p50_ms, p99_ms }) => [
      step,
      String(count),
      mean_ms.toFixed(2),
      shown(p50_ms),
      shown(p99_ms),
    ]),
    empty: 'no calls since the daemon started',
  };
}
