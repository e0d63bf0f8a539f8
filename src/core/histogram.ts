/** Counts of durations in fixed buckets. To add one costs less than a microsecond and no memory. */
export class Histogram {
  readonly #counts = new Float64Array(DURATION_BOUNDS_US.length + 1);
  #sumUs = 0;

  add(us: number): void {
    let bucket = 0;
    while (bucket < DURATION_BOUNDS_US.length && us > (DURATION_BOUNDS_US[bucket] ?? 0)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sumUs += us;
  }

  read(): HistogramFigures {
    const counts = [...this.#counts];
    return { counts, count: counts.reduce((sum, one) => sum + one, 0), sumUs: this.#sumUs };
  }
}

/** Upper bounds of the buckets, in microseconds, included; the last bucket has none. */
export const DURATION_BOUNDS_US: readonly number[] = [
  ...[50, 100, 250, 500],
  ...[1_000, 2_500, 5_000, 10_000, 20_000, 50_000, 100_000, 250_000, 500_000],
  ...[1_000_000, 2_500_000, 5_000_000, 10_000_000, 30_000_000, 60_000_000],
];

export interface HistogramFigures {
  /** One more than DURATION_BOUNDS_US. */
  readonly counts: readonly number[];
  readonly count: number;
  readonly sumUs: number;
}

/** The upper bound of the bucket that holds the quantile, in microseconds; Infinity for the last one, 0 without values. */
export function quantileUs({ counts, count }: Pick<HistogramFigures, 'counts' | 'count'>, quantile: number): number {
  if (count === 0) return 0;
  // The number of the value in order, from 1. A product that is a hair above a whole number is that number.
  let left = Math.max(1, Math.ceil(quantile * count - 1e-9));
  for (const [bucket, inBucket] of counts.entries()) {
    left -= inBucket;
    if (left <= 0) return DURATION_BOUNDS_US[bucket] ?? Number.POSITIVE_INFINITY;
  }
  return Number.POSITIVE_INFINITY;
}
