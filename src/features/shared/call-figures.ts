import type { AuditRecord } from '../../audit/log.ts';
import { DURATION_BOUNDS_MS, type Figures, type StepFigures, type ToolFigures } from '../../call/live.ts';
import { DURATION_BOUNDS_US, Histogram } from '../../core/histogram.ts';
import { isJsonObject } from '../../core/json.ts';
import type { StepLatency__Output as StepLatency } from '../../protocol/generated/management.ts';
import type { SandboxWait } from '../../sandbox/contract/command.ts';

interface Sums {
  results: Record<string, number>;
  durations: number[];
  durationMs: number;
}

/** A caller may name any tool, so the number of names is bounded. */
const TOOLS_MAX = 200;
const OTHER_TOOLS = 'other';

/** Sums over the ended calls that the audit log was given since the daemon started. */
export class CallFigures {
  readonly #tools = new Map<string, Sums>();
  readonly #steps = new Map<string, Histogram>();
  readonly #loopDelay = new Histogram();
  #tokensRun = 0;
  #tokensReturned = 0;
  #secretsFound = 0;
  #scrubMs = 0;
  #fromCache = 0;

  record(record: AuditRecord): void {
    if (record.kind !== undefined || record.job !== undefined) return;
    const sums = this.#sumsOf(record.tool);
    const result = record.error_code ?? 'ok';
    sums.results[result] = (sums.results[result] ?? 0) + 1;
    sums.durationMs += record.duration_ms;
    for (const [index, bound] of DURATION_BOUNDS_MS.entries()) {
      if (record.duration_ms <= bound) sums.durations[index] = (sums.durations[index] ?? 0) + 1;
    }
    this.#tokensRun += record.tokens_run ?? 0;
    this.#tokensReturned += record.tokens_returned ?? 0;
    this.#secretsFound += record.secrets_found;
    this.#scrubMs += record.scrub_ms ?? 0;
    if (isJsonObject(record.provenance) && record.provenance.cache_hit === true) this.#fromCache += 1;
  }

  /** Times of the steps of a call that was answered, in microseconds, as `<step>_us`. */
  took(times: Readonly<Record<string, number>>): void {
    for (const name in times) {
      const histogram = this.#steps.get(name) ?? new Histogram();
      this.#steps.set(name, histogram);
      histogram.add(times[name] ?? 0);
    }
  }

  /** A command has its sandbox. */
  sandboxTaken({ ms, wasReady }: SandboxWait): void {
    this.took({ [wasReady ? 'ready_sandbox_us' : 'new_sandbox_us']: Math.round(ms * 1000) });
  }

  /** How late the event loop was, in microseconds. */
  loopWasLate(us: number): void {
    this.#loopDelay.add(us);
  }

  /** In the order of a call. */
  steps(): StepFigures[] {
    const steps = [...this.#steps].map(([name, histogram]) => ({
      step: name.replace(/_us$/, ''),
      ...histogram.read(),
    }));
    return [...steps, { step: 'event_loop', ...this.#loopDelay.read() }].filter(({ count }) => count > 0);
  }

  /** The same for `ctxd server status`. */
  latencies(): StepLatency[] {
    return this.steps().map(({ step, count, sumUs, counts }) => ({
      step,
      count,
      sum_us: sumUs,
      bounds_us: [...DURATION_BOUNDS_US],
      counts: [...counts],
    }));
  }

  read(): Pick<Figures, 'tools' | 'steps' | 'tokensRun' | 'tokensReturned' | 'secretsFound' | 'scrubMs' | 'fromCache'> {
    const tools = [...this.#tools].map(([tool, sums]): ToolFigures => ({ tool, ...structuredClone(sums) }));
    return {
      tools,
      steps: this.steps(),
      tokensRun: this.#tokensRun,
      tokensReturned: this.#tokensReturned,
      secretsFound: this.#secretsFound,
      scrubMs: this.#scrubMs,
      fromCache: this.#fromCache,
    };
  }

  #sumsOf(tool: string): Sums {
    const name = this.#tools.has(tool) || this.#tools.size < TOOLS_MAX ? tool : OTHER_TOOLS;
    const known = this.#tools.get(name);
    if (known !== undefined) return known;
    const sums = { results: {}, durations: DURATION_BOUNDS_MS.map(() => 0), durationMs: 0 };
    this.#tools.set(name, sums);
    return sums;
  }
}
