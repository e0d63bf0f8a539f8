import { setTimeout as delay } from 'node:timers/promises';
import type { GuardSet, TreeProtection } from '../../guard/client/guard-set.ts';

/** Poll interval (ms) for the protected paths of a long-lived process. */
const STALE_LOOK_MS = 1_000;
/** Interval in milliseconds between searches while a command that outlives its call runs. */
const SEARCH_EVERY_MS = 5_000;
/** Milliseconds until the next search after a find. */
const HURRY_MS = 500;
/** Slow searches run less often, so that they take at most a tenth of the time. */
const SEARCH_SHARE = 10;

/** Checks every second whether the protected paths are still the ones that were mounted. Calls back once. */
export function lookForStaleness(guard: GuardSet, protection: TreeProtection, onStale: () => void): NodeJS.Timeout {
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    const now = await guard.protection().catch(() => null);
    isLooking = false;
    if (now?.fingerprint === protection.fingerprint) return;
    clearInterval(timer);
    onStale();
  };
  const timer = setInterval(() => void look(), STALE_LOOK_MS);
  return timer.unref();
}

/**
 * Searches periodically during a long command: a file that it leaves cannot wait for its end, because a program on the
 * host may run the file first. Errors are reported by the search at the end.
 */
export class SearchMeanwhile {
  #hurry = new AbortController();

  /** Called after a find: the command may create more right away. */
  hurry(): void {
    this.#hurry.abort();
  }

  /** Ends when `signal` aborts. */
  async run(guard: GuardSet, signal: AbortSignal): Promise<void> {
    let waitMs = SEARCH_EVERY_MS;
    while (!signal.aborted) {
      await delay(waitMs, undefined, { signal: AbortSignal.any([signal, this.#hurry.signal]), ref: false }).catch(
        () => {},
      );
      if (this.#hurry.signal.aborted) await delay(HURRY_MS, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      this.#hurry = new AbortController();
      const startedAt = performance.now();
      await guard.search().catch(() => {});
      waitMs = Math.max(SEARCH_EVERY_MS, SEARCH_SHARE * (performance.now() - startedAt));
    }
  }
}
