import type { Timer } from '../../core/clock.ts';
import type { Part } from '../../core/lifecycle.ts';
import type { Logger } from '../../core/log.ts';
import type { ArtifactStore } from '../../stores/artifacts.ts';
import type { CallGate } from './call-gate.ts';
import { Pausable } from './pausable.ts';

/** Background work that repeats for as long as the daemon runs. */
export interface Chore {
  /** For the log. */
  name: string;
  /** Milliseconds between the end of one run and the start of the next. The first run comes this long after the start. */
  everyMs: number;
  /** May return a promise. An error is logged with the chore's name, and the chore runs again at its next time. */
  run(): unknown;
}

interface ChoresDeps {
  timer: Timer;
  logger: Logger;
  /** While it is paused, chores that are due are left out until their next time. */
  pausable?: Pausable;
}

/** Runs each chore at its interval, and never twice at the same time. `stop` waits for the chores that are running. */
export function createChores(chores: readonly Chore[], { timer, logger, pausable = new Pausable() }: ChoresDeps): Part {
  const cancels = new Map<Chore, () => void>();
  const running = new Map<Chore, Promise<void>>();
  let isStopped = false;
  const schedule = (chore: Chore): void => {
    if (isStopped) return;
    const cancel = timer.after(chore.everyMs, () => running.set(chore, runOnce(chore)));
    cancels.set(chore, cancel);
  };
  const runOnce = async (chore: Chore): Promise<void> => {
    try {
      if (!pausable.isPaused) await pausable.run(async () => chore.run());
    } catch (cause) {
      logger.error('chore.failed', { chore: chore.name }, cause);
    }
    running.delete(chore);
    schedule(chore);
  };
  return {
    name: 'chores',
    async start() {
      for (const chore of chores) schedule(chore);
    },
    async stop() {
      isStopped = true;
      for (const cancel of cancels.values()) cancel();
      await Promise.all(running.values());
    },
  };
}

const PRUNE_EVERY_MS = 60 * 60 * 1000;
/** Soon after a clock was set to a time before the certificates, with which no client could connect. */
const RENEW_EVERY_MS = 60 * 1000;

/** Removes artifacts that are too old or over the quota. */
export function pruneChore(artifacts: Pick<ArtifactStore, 'prune'>): Chore {
  return { name: 'prune artifacts', everyMs: PRUNE_EVERY_MS, run: () => artifacts.prune() };
}

interface MemoryChoreDeps {
  gate: Pick<CallGate, 'active' | 'answered'>;
  /** Each gives back what its heap no longer needs. */
  collectors: readonly (() => void)[];
}

const COLLECT_EVERY_MS = 5_000;

/**
 * Gives memory back if no call was answered or active since the last run, once until calls come again. V8 itself keeps
 * the heap as large as its busiest moment made it.
 */
export function memoryChore({ gate, collectors }: MemoryChoreDeps): Chore {
  let lastAnswered = gate.answered();
  let isCollected = false;
  return {
    name: 'give memory back',
    everyMs: COLLECT_EVERY_MS,
    run() {
      const answered = gate.answered();
      const isIdle = gate.active() === 0 && answered === lastAnswered;
      lastAnswered = answered;
      if (isIdle && !isCollected) for (const collect of collectors) collect();
      isCollected = isIdle;
    },
  };
}

/**
 * A full collection of this thread's heap. "last-resort" also returns the pages that V8 keeps for later: 55 MB after
 * 1,500 calls. Does nothing unless Node runs with --expose-gc, as the launcher has it.
 */
export function collectMainHeap(): void {
  void globalThis.gc?.({ type: 'major', flavor: 'last-resort', execution: 'sync' });
}

interface GeneralChoreDeps extends MemoryChoreDeps {
  artifacts: Pick<ArtifactStore, 'prune'>;
  eventLog: { prune(): unknown };
  door: { renew?(): Promise<void> };
}

/** The chores of no feature: what is old goes, memory is given back, and certificates are replaced a month before their end. */
export function generalChores({ artifacts, eventLog, door, ...memory }: GeneralChoreDeps): Chore[] {
  return [
    pruneChore(artifacts),
    { name: 'prune events', everyMs: PRUNE_EVERY_MS, run: () => eventLog.prune() },
    memoryChore(memory),
    { name: 'renew certificates', everyMs: RENEW_EVERY_MS, run: () => door.renew?.() },
  ];
}
