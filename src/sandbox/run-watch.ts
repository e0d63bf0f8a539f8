import { setTimeout as delay } from 'node:timers/promises';
import type { GuardSet, TreeProtection } from './workspace/guard-set.ts';

/** Milliseconds between two checks of the protected paths below a long-lived process. */
const STALE_LOOK_MS = 1_000;
/** Milliseconds between two searches while a command runs that outlives its call. */
const SEARCH_EVERY_MS = 5_000;
/** Milliseconds until the next search after something was found. */
const HURRY_MS = 500;
/** A search that takes long is repeated less often: it may take a tenth of the time. */
const SEARCH_SHARE = 10;

/** Checks every second whether the protected paths are still those that were mounted; calls back once. */
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
 * Searches again and again while a command runs for long: a file that it leaves must not wait for its end, because a program
 * on the host may run the file before. A fault is reported by the search at the end.
 */
export class SearchMeanwhile {
  #hurry = new AbortController();

  /** Something was set aside: the command may make it again at once. */
  hurry(): void {
    this.#hurry.abort();
  }

  /** Ends when `signal` aborts. */
  async run(guard: GuardSet, protection: TreeProtection, signal: AbortSignal): Promise<void> {
    let waitMs = SEARCH_EVERY_MS;
    while (!signal.aborted) {
      await delay(waitMs, undefined, { signal: AbortSignal.any([signal, this.#hurry.signal]), ref: false }).catch(
        () => {},
      );
      if (this.#hurry.signal.aborted) await delay(HURRY_MS, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      this.#hurry = new AbortController();
      const startedAt = performance.now();
      await guard.finish(guard.begin(protection)).catch(() => {});
      await Promise.all(guard.hostTrees.map((tree) => tree.guard.settled())).catch(() => {});
      waitMs = Math.max(SEARCH_EVERY_MS, SEARCH_SHARE * (performance.now() - startedAt));
    }
  }
}
