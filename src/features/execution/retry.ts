import type { GatewaySettings, RetriedCode } from '../../config/gateway-schema.ts';
import { type Clock, pause, type Timer } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';

/** One piece of work that may be tried several times. */
export interface Attempts<T> {
  start(): Promise<T>;
  /** Called once, after the last attempt. */
  end(): void;
  signal: AbortSignal;
  /** Monotonic milliseconds after which no further attempt begins. */
  endsAt: number;
}

interface RetryDeps {
  clock: Pick<Clock, 'monotonic'>;
  timer: Timer;
  random(): number;
}

/** Repeats failures with one of the codes, with bounded exponential back-off. Throws the last failure. */
export async function attempted<T>(
  work: Attempts<T>,
  settings: GatewaySettings['retry'],
  deps: RetryDeps,
): Promise<{ value: T; attempts: number }> {
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        return { value: await work.start(), attempts: attempt };
      } catch (thrown) {
        const waitMs = delayOf(attempt, settings, deps.random());
        const isLast = attempt >= settings.max_attempts || deps.clock.monotonic() + waitMs >= work.endsAt;
        if (isLast || !isRetried(thrown, settings.codes) || work.signal.aborted) throw withAttempts(thrown, attempt);
        await pause(deps.timer, waitMs, work.signal);
      }
    }
  } finally {
    work.end();
  }
}

function isRetried(thrown: unknown, codes: readonly RetriedCode[]): boolean {
  return thrown instanceof ContextdError && codes.some((code) => code === thrown.code);
}

/** Milliseconds before the attempt after `attempt`. */
function delayOf(attempt: number, settings: GatewaySettings['retry'], random: number): number {
  const { base_delay_ms: base, max_delay_ms: max, jitter } = settings;
  const full = Math.min(max, base * 2 ** (attempt - 1));
  return jitter ? full / 2 + (full / 2) * random : full;
}

function withAttempts(thrown: unknown, attempts: number): unknown {
  if (attempts === 1 || !(thrown instanceof ContextdError)) return thrown;
  return new ContextdError(thrown.code, thrown.message, {
    ...(thrown.remedy === undefined ? {} : { remedy: thrown.remedy }),
    details: { ...thrown.details, attempts },
    ...(thrown.retryAfterMs === undefined ? {} : { retryAfterMs: thrown.retryAfterMs }),
    cause: thrown,
  });
}
