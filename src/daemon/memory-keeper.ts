import type { CallGate } from './call-gate.ts';
import type { Part } from './lifecycle.ts';

export interface MemoryKeeperDeps {
  gate: Pick<CallGate, 'active' | 'answered'>;
  /** Give back what their heap no longer needs; at once, and without a call to disturb. */
  collectors: readonly (() => void)[];
}

/** Gives memory back after a time without calls: V8 itself keeps the heap as large as its busiest moment made it. */
export interface MemoryKeeper extends Part {
  /** What the timer does: collects when no call came or ended since the last look, once until calls come again. */
  look(): void;
}

/** Milliseconds between two looks: memory is given back after one to two of them without a call. */
const LOOK_EVERY_MS = 5_000;

export function createMemoryKeeper({ gate, collectors }: MemoryKeeperDeps): MemoryKeeper {
  let timer: NodeJS.Timeout | undefined;
  let lastAnswered = gate.answered();
  let isCollected = false;
  const look = (): void => {
    const answered = gate.answered();
    const isAtRest = gate.active() === 0 && answered === lastAnswered;
    lastAnswered = answered;
    if (isAtRest && !isCollected) for (const collect of collectors) collect();
    isCollected = isAtRest;
  };
  return {
    name: 'memory',
    look,
    async start() {
      timer = setInterval(look, LOOK_EVERY_MS).unref();
    },
    async stop() {
      clearInterval(timer);
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
