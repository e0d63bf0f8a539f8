import { setTimeout as delay } from 'node:timers/promises';
import type { CheckedPolicy } from './checked-policy.ts';
import { directoryIdentity } from './directory-identity.ts';
import type { QuarantineReport } from './quarantine.ts';
import type { RunWatch, WorkspaceGuard } from './workspace/guard.ts';
import type { Protection } from './workspace/protection.ts';

/** Milliseconds between two checks of the protected paths below a long-lived process. */
const STALE_LOOK_MS = 1_000;
/** Milliseconds between two searches while a command runs that outlives its call. */
const SEARCH_EVERY_MS = 5_000;
/** A search that takes long is repeated less often: it may take a tenth of the time. */
const SEARCH_SHARE = 10;

/** Checks every second whether the protected paths are still those that were mounted; calls back once. */
export function lookForStaleness(guard: WorkspaceGuard, protection: Protection, onStale: () => void): NodeJS.Timeout {
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
 * What the run created and what was moved away. Nothing if another directory replaced the project meanwhile: the run
 * was in the old one and has nothing to do with the files in the new one.
 */
export async function endWatch(
  { guard, directory, policy }: CheckedPolicy,
  watch: RunWatch,
): Promise<QuarantineReport> {
  if (directoryIdentity(policy.workspace.path) === directory) return guard.finish(watch);
  guard.forget(watch);
  return { quarantined: [], complete: true };
}

/**
 * Searches again and again while a command runs for hours: a file that it leaves must not wait for its end, because a
 * program on the host may run the file before. Ends when `signal` aborts; a fault is reported by the search at the end.
 */
export async function searchMeanwhile(
  checked: CheckedPolicy,
  protection: Protection,
  signal: AbortSignal,
): Promise<void> {
  let waitMs = SEARCH_EVERY_MS;
  while (await delay(waitMs, true, { signal, ref: false }).catch(() => false)) {
    const startedAt = performance.now();
    await endWatch(checked, checked.guard.begin(protection)).catch(() => {});
    await checked.guard.settled().catch(() => {});
    waitMs = Math.max(SEARCH_EVERY_MS, SEARCH_SHARE * (performance.now() - startedAt));
  }
}
