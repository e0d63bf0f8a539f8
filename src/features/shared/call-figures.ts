import type { AuditRecord } from '../../audit/log.ts';
import { DURATION_BOUNDS_MS, type Figures, type ToolFigures } from '../../call/live.ts';

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
  #tokensRun = 0;
  #tokensReturned = 0;
  #secretsFound = 0;
  #scrubMs = 0;

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
  }

  read(): Pick<Figures, 'tools' | 'tokensRun' | 'tokensReturned' | 'secretsFound' | 'scrubMs'> {
    const tools = [...this.#tools].map(([tool, sums]): ToolFigures => ({ tool, ...structuredClone(sums) }));
    return {
      tools,
      tokensRun: this.#tokensRun,
      tokensReturned: this.#tokensReturned,
      secretsFound: this.#secretsFound,
      scrubMs: this.#scrubMs,
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
