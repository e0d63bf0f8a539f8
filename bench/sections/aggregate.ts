import { setTimeout as delay } from 'node:timers/promises';
import { type BenchInstallation, type Caller, installForBench } from '../lib/machine.ts';
import { spreadOf } from '../lib/measure.ts';
import type { Outcome, Section } from '../lib/section.ts';
import { compareHoldings, countHoldings, type Holdings } from '../lib/tree.ts';

/** Milliseconds until the pools are full and everything that did not leak is cleaned up. */
const SETTLE_MS = 2_000;
/** Calls before the first count, so that caches and pools have reached their size. */
const WARM_UP_CALLS = 50;

/**
 * Starts one sandbox after another through one daemon: what a call costs without a pause, and what remains afterwards.
 */
export const aggregateSection: Section = {
  async run({ sandboxes }) {
    const at = await installForBench({});
    try {
      return await at.withDaemon((daemon) => runInARow(at, daemon, sandboxes));
    } finally {
      await at.remove();
    }
  },
};

async function runInARow(at: BenchInstallation, daemon: Caller, sandboxes: number): Promise<Outcome> {
  await callAgain(daemon, WARM_UP_CALLS);
  const before = await count(at);
  const times = spreadOf(await callAgain(daemon, sandboxes));
  const after = await count(at);
  const row = { name: `safe_bash true, ${sandboxes} in a row, open channel`, times, note: '' };
  return {
    tables: [{ title: 'one call, ms', base: null, rows: [row], aims: [] }],
    facts: compareHoldings(before, after),
  };
}

async function callAgain(daemon: Caller, calls: number): Promise<number[]> {
  const samples: number[] = [];
  for (let i = 0; i < calls; i++) {
    const start = performance.now();
    await daemon.call('safe_bash', { command: 'true' });
    samples.push(performance.now() - start);
  }
  return samples;
}

async function count(at: BenchInstallation): Promise<Holdings> {
  await delay(SETTLE_MS);
  return countHoldings(await at.daemonPid(), [at.paths.sandboxDir, at.paths.runDir]);
}
