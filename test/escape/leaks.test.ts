import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shapeRuns } from '../helpers/property-runs.ts';
import { Ground, identitiesHere, type RunChange, usualIdentity } from '../helpers/sandbox-identities.ts';
import { cgroupsOf, descendantsOf, mountCount, openDescriptors, residentBytes } from './processes.ts';

const MIB = 1024 * 1024;
/**
 * Sandboxes in a row, 500 at night; of the identities other than the usual one a few show that nothing of theirs stays. A
 * single process, descriptor, cgroup, mount or file too many fails, so that a leak shows in the first of them.
 */
const ROUNDS = { usual: Math.min(shapeRuns(120), 500), other: Math.min(shapeRuns(24), 500) };
/** Commands that end in one of the ways below. */
const ENDED = 12;
const SETTLES = { timeout: 15_000, interval: 50 };

/** How commands end. Other identities than the usual one are killed in another way, and do the rest with the same code. */
const ENDINGS: readonly (readonly [how: string, change: RunChange])[] = [
  ['a timeout', { argv: ['sleep', '9'], timeoutMs: 20 }],
  ['a flood', { argv: ['yes'], outputMaxBytes: 4096 }],
  ['a program that is not there', { argv: ['no-such-program'] }],
  ['an impossible argument', { argv: ['true', 'a\0b'] }],
  ['an impossible variable', { env: { 'A=B': 'x' } }],
  ['a directory that is not there', { cwd: '/nowhere' }],
  ['a workspace that is not there', { policy: { workspace: { path: '/nowhere', layer: null } } }],
  ['a workspace that is refused', { policy: { workspace: { path: '/usr', layer: null } } }],
  ['an input', { stdin: Buffer.alloc(100_000, 'x') }],
  ['an input that nobody reads, cut short', { argv: ['sleep', '9'], stdin: Buffer.alloc(100_000), timeoutMs: 20 }],
];
/** The first of them, whose sandboxes are killed. */
const KILLED = 2;

/** The resources of the machine that a process and its descendants hold. */
interface Holdings {
  readonly processes: number;
  readonly descriptors: readonly number[];
  readonly cgroups: number;
  readonly mounts: readonly number[];
  readonly files: number;
}

describe.each(identitiesHere())('leaks, %s', (identity) => {
  let ground: Ground;
  let hosts: number[];
  beforeAll(async () => {
    ground = await Ground.open(identity);
    await inBatches(40, {});
    const spawner = await ground.spawnerPid();
    hosts = [ground.hostPid, ...(spawner === null ? [] : [spawner])];
  });
  afterAll(() => ground.close());

  /** Runs commands four at a time, as a daemon's callers would. */
  async function inBatches(count: number, change: RunChange): Promise<void> {
    for (let done = 0; done < count; done += 4) {
      const batch = Array.from({ length: 4 }, () => ground.run('true', change).catch(() => null));
      await Promise.all(batch);
    }
  }

  function holdings(): Holdings {
    return {
      processes: descendantsOf(ground.hostPid).length,
      descriptors: hosts.map(openDescriptors),
      cgroups: cgroupsOf(hosts).length,
      mounts: [...hosts, 'self' as const].map(mountCount),
      files: filesBelow(join(ground.base, 'contextd')),
    };
  }

  /** Waits until nothing changes any more: the pool of ready sandboxes is full. */
  async function settled(): Promise<Holdings> {
    let last = '';
    await expect
      .poll(async () => {
        const before = last;
        last = JSON.stringify([holdings(), await ground.readyCount()]);
        return last === before;
      }, SETTLES)
      .toBe(true);
    return holdings();
  }

  /** Expects no more than before; the number of ready sandboxes may vary. */
  async function noMoreThan(before: Holdings): Promise<void> {
    const more = () => {
      const now = holdings();
      return {
        processes: Math.max(0, now.processes - before.processes),
        descriptors: now.descriptors.map((count, i) => Math.max(0, count - (before.descriptors[i] ?? 0))),
        cgroups: Math.max(0, now.cgroups - before.cgroups),
        mounts: now.mounts.map((count, i) => count - (before.mounts[i] ?? 0)),
        files: Math.max(0, now.files - before.files),
      };
    };
    const none = before.descriptors.map(() => 0);
    await expect
      .poll(more, SETTLES)
      .toEqual({ processes: 0, descriptors: none, cgroups: 0, mounts: before.mounts.map(() => 0), files: 0 });
  }

  const isUsual = usualIdentity().includes(identity);
  const rounds = isUsual ? ROUNDS.usual : ROUNDS.other;

  test(`SEC-2.5 do not occur in ${rounds} sandboxes in a row: no process, descriptor, cgroup, mount, file or memory`, async () => {
    const before = await settled();
    const heap = await ground.heapBytes();
    const resident = hosts.map(residentBytes);
    await inBatches(rounds, {});
    await noMoreThan(before);
    expect((await ground.heapBytes()) - heap).toBeLessThan(4 * MIB);
    hosts.forEach((pid, i) => {
      expect(residentBytes(pid) - (resident[i] ?? 0)).toBeLessThan(64 * MIB);
    });
  });

  test.each(isUsual ? ENDINGS : ENDINGS.slice(0, KILLED))(
    'SEC-2.5 do not occur when twelve commands end by %s',
    async (_, change) => {
      await inBatches(4, change);
      const before = await settled();
      await inBatches(ENDED, change);
      await noMoreThan(before);
    },
  );

  test('SEC-2.5 do not occur after stop(): nothing at all is left', async () => {
    const other = await Ground.open(identity);
    const running = [1, 2, 3].map(() => other.run('sleep 60').catch(() => null));
    await other.run('true');
    const spawner = await other.spawnerPid();
    const pids = [other.hostPid, ...(spawner === null ? [] : [spawner])];
    const below = descendantsOf(other.hostPid);
    await other.close();
    await Promise.all(running);
    await expect.poll(() => below.filter((pid) => descendantsOf(1).includes(pid)), SETTLES).toEqual([]);
    expect(cgroupsOf(pids)).toEqual([]);
  });
});

/** Counts files except named pipes, of which some are kept ready. */
function filesBelow(dir: string): number {
  return readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isFIFO()).length;
}
