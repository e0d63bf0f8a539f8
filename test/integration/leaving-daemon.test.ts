import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '#src/core/clock.js';
import { silentLogger } from '#src/core/log.js';
import { buildId } from '#src/features/hand-over/build-id.js';
import { Departure } from '#src/features/hand-over/departure.js';
import { type ComposedDaemon, composeDaemon } from '../helpers/composed-daemon.ts';

let at: ComposedDaemon;
let dir: string;
beforeEach(async () => {
  at = await composeDaemon({});
  dir = mkdtempSync(join(tmpdir(), 'next-daemon-'));
});
afterEach(async () => {
  await at.remove();
  rmSync(dir, { recursive: true });
});

/** A program that takes over whatever it is given, says so in a file, and is ready once there is a file `go`. */
function nextDaemon(taken: string): string {
  const launcher = join(dir, 'launcher.mjs');
  const pair = join(import.meta.dirname, '../../dist/src/features/hand-over/pair.js');
  const text = `#!${process.execPath}
import { existsSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { Pair } from ${JSON.stringify(pair)};
const pair = new Pair(new Socket({ fd: 3, readable: true, writable: true }), {
  async answer(name) {
    if (name !== 'takeOver') return null;
    writeFileSync(${JSON.stringify(taken)}, '');
    while (!existsSync(${JSON.stringify(join(dir, 'go'))})) await setTimeout(5);
    return null;
  },
  told() {},
  frame() {},
  closed: () => process.exit(),
});
pair.tell('ready', ${JSON.stringify(buildId())});
`;
  writeFileSync(launcher, text, { mode: 0o755 });
  return launcher;
}

function departureTo(taken: string): Departure {
  const departure = new Departure({
    ...at,
    paths: { launcher: nextDaemon(taken), logFile: join(dir, 'log') },
    environment: {},
    drainMs: 1,
    isAllowed: true,
    clock: systemClock,
    logger: silentLogger,
    requestStop() {},
    endNow() {},
    leaveLog() {},
  });
  departure.connect({
    background: [],
    flush: async () => {},
    database: { stop: async () => {} },
    keepStarts: () => () => {},
    leaveDoors() {},
    earlierGone: Promise.resolve(),
  });
  return departure;
}

it('NFR-2.3: the state of a daemon moves once its chores are over, however long they take, and none begins meanwhile', async () => {
  const taken = join(dir, 'taken');
  writeFileSync(join(dir, 'go'), '');
  const departure = departureTo(taken);
  const chore = Promise.withResolvers<void>();
  const underWay = at.moves.chores.run(() => chore.promise);
  const replaced = departure.run('');
  replaced.catch(() => {});
  await expect.poll(() => at.moves.chores.isPaused, { timeout: 30_000 }).toBe(true);
  expect(existsSync(taken)).toBe(false);
  chore.resolve();
  await underWay;
  expect(await replaced).toMatchObject({ calls: 0, jobs: 0 });
  expect([existsSync(taken), at.moves.chores.isPaused]).toEqual([true, true]);
});

it('NFR-2.3: a daemon that is asked to stop while its state moves begins with that when the next one has it', async () => {
  const taken = join(dir, 'taken');
  const departure = departureTo(taken);
  const replaced = departure.run('');
  await expect.poll(() => existsSync(taken), { timeout: 30_000 }).toBe(true);
  const drained = departure.drain(0, 'signal');
  expect(at.gate.isStopping).toBe(false);
  writeFileSync(join(dir, 'go'), '');
  expect(await replaced).toMatchObject({ calls: 0, jobs: 0 });
  expect(await drained).toMatchObject({ ended: 0 });
  expect(at.gate.isStopping).toBe(true);
});

it('NFR-2.3: a daemon that was replaced removes nothing of the search of the next one when it ends', async () => {
  await at.auditor.stop();
  const search = join(at.personHome, 'ctx/state/gitleaks/run-of-the-next');
  mkdirSync(search, { recursive: true });
  await at.auditor.stop();
  expect(existsSync(search)).toBe(true);
});
