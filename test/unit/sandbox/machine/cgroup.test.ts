import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { silentLogger } from '#src/core/log.js';
import { Cgroups, resolveTotal } from '#src/sandbox/machine/cgroup/cgroup.js';
import {
  type BackendSetup,
  type CgroupBackend,
  homeNameOf,
  isHome,
  isLeftover,
  topGroupName,
} from '#src/sandbox/machine/cgroup/files.js';
import { locateCgroups } from '#src/sandbox/machine/cgroup/locate.js';
import { openV1 } from '#src/sandbox/machine/cgroup/v1.js';
import { openV2 } from '#src/sandbox/machine/cgroup/v2.js';
import { KernelV1, KernelV2 } from '../../../fixtures/cgroup-kernel.ts';

const LIMITS = { memoryBytes: 1000, pids: 8, cpus: 1.5 };
const TOTAL = { memoryBytes: 5000, pids: 64 };
/** Spawner 42 was started at tick 7, daemon 41 before it. */
const startTimeOf = (pid: number): number | null => ({ 42: 7, 41: 5 })[pid] ?? null;
const NAME = topGroupName(42, startTimeOf);
const SETUP: BackendSetup = { name: NAME, total: TOTAL, movedPids: [42] };
const [TOP, HOME] = [`/cg/${NAME}`, `/cg/${homeNameOf(NAME)}`];
const V1_PLACES = { memory: '/m', pids: '/p', cpu: '/c' };

function opened(backend: CgroupBackend | null): CgroupBackend {
  if (backend === null) throw new Error('no backend');
  return backend;
}

describe('SEC-2.5 cgroup v2', () => {
  test('the spawner moves into a leaf, controllers are enabled on two levels, the total is set before any sandbox, and closing undoes it all', async () => {
    const kernel = new KernelV2({ procs: [42] });
    const backend = opened(openV2('/cg', kernel, SETUP));
    expect(kernel.log).toEqual([
      `mkdir ${HOME}`,
      `${HOME}/cgroup.procs 42`,
      '/cg/cgroup.subtree_control +cpu +memory +pids',
      `mkdir ${TOP}`,
      `${TOP}/memory.max 5000`,
      `${TOP}/memory.swap.max 0`,
      `${TOP}/pids.max 64`,
      `${TOP}/cgroup.subtree_control +cpu +memory +pids`,
    ]);
    kernel.log.length = 0;
    await new Cgroups(backend, kernel, silentLogger, startTimeOf).stop();
    expect(kernel.log).toEqual([
      `${TOP}/cgroup.kill 1`,
      `rmdir ${TOP}`,
      '/cg/cgroup.subtree_control -cpu -memory -pids',
      '/cg/cgroup.procs 42',
      `rmdir ${HOME}`,
    ]);
    expect(kernel.procsIn('/cg')).toEqual([42]);
  });

  test('a group gets its limits, is joined through cgroup.procs and dies as one', () => {
    const kernel = new KernelV2({ procs: [42] });
    const backend = opened(openV2('/cg', kernel, SETUP));
    kernel.log.length = 0;
    const group = backend.create('0', LIMITS);
    kernel.write(group.joinFiles[0] ?? '', '42');
    group.kill();
    expect(kernel.killed).toEqual([42]);
    expect(kernel.log).toEqual([
      `mkdir ${TOP}/0`,
      `${TOP}/0/memory.swap.max 0`,
      `${TOP}/0/memory.oom.group 1`,
      `${TOP}/0/memory.max 1000`,
      `${TOP}/0/pids.max 10`,
      `${TOP}/0/cpu.max 150000 100000`,
      `${TOP}/0/cgroup.procs 42`,
      `${TOP}/0/cgroup.kill 1`,
    ]);
  });

  test('the daemon in the same group moves too; otherwise the kernel answers EBUSY and everything is undone', () => {
    const together = new KernelV2({ procs: [41, 42] });
    const backend = opened(openV2('/cg', together, { ...SETUP, movedPids: [42, 41] }));
    expect(together.procsIn(HOME)).toEqual([41, 42]);
    backend.close();
    const busy = new KernelV2({ procs: [41, 42] });
    expect(openV2('/cg', busy, SETUP)).toBeNull();
    expect(busy.procsIn('/cg')).toEqual([41, 42]);
    expect(busy.dirs()).toEqual([]);
  });

  test('a process of contextd in another group stays there', () => {
    const kernel = new KernelV2({ procs: [42] });
    kernel.makeDir('/cg/other');
    kernel.place(41, '/cg/other');
    expect(openV2('/cg', kernel, { ...SETUP, movedPids: [42, 41] })).not.toBeNull();
    expect([kernel.procsIn('/cg/other'), kernel.procsIn(HOME)]).toEqual([[41], [42]]);
  });

  test('controllers that were enabled stay enabled, and a controller that is not available is not needed', () => {
    const shared = new KernelV2({ procs: [], handedDown: 'memory pids', controllers: 'memory pids' });
    shared.makeDir('/cg/app');
    shared.place(42, '/cg/app');
    const backend = opened(openV2('/cg', shared, SETUP));
    backend.create('0', LIMITS);
    expect(shared.log).not.toContainEqual(expect.stringContaining('/cg/cgroup.subtree_control'));
    expect(shared.log).not.toContainEqual(expect.stringContaining('cpu.max'));
  });

  test('without delegation, memory or pids, or if a step is refused, there is no backend and nothing is left behind', () => {
    expect(openV2('/cg', new KernelV2({ procs: [42], writable: false }), SETUP)).toBeNull();
    const poor = new KernelV2({ procs: [42], controllers: 'cpu memory' });
    expect(openV2('/cg', poor, SETUP)).toBeNull();
    const halfway = new KernelV2({ procs: [42] });
    halfway.makeDir(TOP);
    halfway.log.length = 0;
    expect(openV2('/cg', halfway, SETUP)).toBeNull();
    expect(halfway.procsIn('/cg')).toEqual([42]);
    expect(halfway.dirs()).not.toContain(HOME);
  });

  test('a spawner that follows a killed one removes its whole tree and does not harm the daemon', async () => {
    const kernel = new KernelV2({ procs: [41, 30] });
    const deadName = topGroupName(30, () => 3);
    const dead = opened(openV2('/cg', kernel, { name: deadName, total: TOTAL, movedPids: [30, 41] }));
    const orphan = dead.create('0', LIMITS);
    kernel.place(30, orphan.dirs[0] ?? '');
    // The new spawner is a child of the daemon, so it starts in the daemon's group.
    const own = `/cg/${homeNameOf(deadName)}`;
    kernel.place(42, own);
    const backend = opened(openV2(own, kernel, { ...SETUP, movedPids: [42, 41] }));
    const cgroups = new Cgroups(backend, kernel, silentLogger, startTimeOf);
    expect(kernel.killed).toEqual([30]);
    expect(kernel.procsIn(HOME)).toEqual([41, 42]);
    expect(kernel.dirs()).toEqual([TOP, HOME].sort());
    await cgroups.stop();
  });

  test('the limits of a group in use change, and the totals of all groups are reported', () => {
    const kernel = new KernelV2({ procs: [42] });
    const cgroups = new Cgroups(opened(openV2('/cg', kernel, SETUP)), kernel, silentLogger, startTimeOf);
    const group = cgroups.create(LIMITS);
    kernel.log.length = 0;
    cgroups.setLimits(group, { memoryBytes: 2000, pids: 4, cpus: 0 });
    cgroups.setLimits(group, { memoryBytes: 2000, pids: 4, cpus: 0 });
    expect(kernel.log).toEqual([`${TOP}/0/memory.max 2000`, `${TOP}/0/pids.max 6`, `${TOP}/0/cpu.max max 100000`]);
    kernel.write(`${TOP}/memory.current`, '700');
    kernel.write(`${TOP}/pids.current`, '3');
    expect(cgroups.totals()).toEqual({ memoryBytes: 700, memoryMaxBytes: 5000, pids: 3, pidsMax: 64 });
  });
});

describe('SEC-2.5 cgroup v1', () => {
  test('there is one directory per controller below one that limits them all, joined through tasks', () => {
    const kernel = new KernelV1();
    const backend = opened(openV1(V1_PLACES, kernel, SETUP));
    expect(kernel.log).toEqual([
      `/m/${NAME}/memory.limit_in_bytes 5000`,
      `/m/${NAME}/memory.memsw.limit_in_bytes 5000`,
      `/p/${NAME}/pids.max 64`,
    ]);
    kernel.log.length = 0;
    const group = backend.create('0', LIMITS);
    const dirs = [`/m/${NAME}/0`, `/p/${NAME}/0`, `/c/${NAME}/0`];
    expect(group.dirs).toEqual(dirs);
    expect(group.joinFiles).toEqual(dirs.map((dir) => join(dir, 'tasks')));
    expect(kernel.log).toEqual([
      `/m/${NAME}/0/memory.limit_in_bytes 1000`,
      `/m/${NAME}/0/memory.memsw.limit_in_bytes 1000`,
      `/p/${NAME}/0/pids.max 10`,
      `/c/${NAME}/0/cpu.cfs_period_us 100000`,
      `/c/${NAME}/0/cpu.cfs_quota_us 150000`,
    ]);
    kernel.values.set(`/m/${NAME}/0/memory.oom_control`, 'oom_kill_disable 0\nunder_oom 0\noom_kill 2\n');
    kernel.values.set(`/p/${NAME}/0/pids.events`, 'max 3\n');
    expect(group.events()).toEqual({ oomKills: 2, pidsRefused: 3 });
  });

  test("an older kernel is asked to apply a parent's limit to its children", () => {
    const kernel = new KernelV1();
    kernel.values.set(`/m/${NAME}/memory.use_hierarchy`, '0\n');
    openV1(V1_PLACES, kernel, SETUP);
    expect(kernel.log[0]).toBe(`/m/${NAME}/memory.use_hierarchy 1`);
  });

  test('limits can be raised and lowered again', () => {
    const kernel = new KernelV1();
    const cgroups = new Cgroups(opened(openV1(V1_PLACES, kernel, SETUP)), kernel, silentLogger, startTimeOf);
    const group = cgroups.create(LIMITS);
    cgroups.setLimits(group, { ...LIMITS, memoryBytes: 4000 });
    cgroups.setLimits(group, { memoryBytes: 500, pids: 8, cpus: 0 });
    expect(kernel.read(`/m/${NAME}/0/memory.memsw.limit_in_bytes`)).toBe('500');
    expect(kernel.read(`/c/${NAME}/0/cpu.cfs_quota_us`)).toBe('-1');
  });

  test('if the hierarchy is read-only, there is no backend and nothing is left behind; without a cpu hierarchy the backend works', () => {
    const half = new KernelV1(['/p']);
    expect(openV1(V1_PLACES, half, SETUP)).toBeNull();
    expect([...half.made]).toEqual([]);
    const noCpu = opened(openV1(V1_PLACES, new KernelV1(['/c']), SETUP));
    expect(noCpu.create('0', LIMITS).dirs).toEqual([`/m/${NAME}/0`, `/p/${NAME}/0`]);
  });

  test('what a killed spawner left is removed with everything below it; the groups of a live spawner and of others stay', () => {
    const kernel = new KernelV1();
    const [dead, reused, alive] = [topGroupName(30, () => 3), topGroupName(42, () => 1), topGroupName(41, startTimeOf)];
    for (const name of [dead, reused, alive, 'contextd', 'other']) kernel.makeDir(`/m/${name}`);
    for (const child of [`/m/${dead}/0`, `/m/${dead}/1`, `/p/${dead}`, `/p/${dead}/0`]) kernel.makeDir(child);
    new Cgroups(opened(openV1(V1_PLACES, kernel, SETUP)), kernel, silentLogger, startTimeOf);
    const left = [...kernel.made].filter((dir) => basename(dir) !== NAME).sort();
    expect(left).toEqual([`/m/${alive}`, '/m/contextd', '/m/other'].sort());
  });
});

test('SEC-2.5 a group is used again only when no dead process counts in it', async () => {
  const kernel = new KernelV1();
  const cgroups = new Cgroups(opened(openV1(V1_PLACES, kernel, SETUP)), kernel, silentLogger, startTimeOf);
  const first = cgroups.create(LIMITS);
  const charge = (count: string): unknown => kernel.values.set(join(first.dirs[1] ?? '', 'pids.current'), count);
  charge('1\n');
  cgroups.remove(first);
  const second = cgroups.create(LIMITS);
  expect(second.dirs).not.toEqual(first.dirs);
  charge('0\n');
  expect(cgroups.create(LIMITS).dirs).toEqual(first.dirs);
  expect(cgroups.create({ ...LIMITS, pids: 9 }).dirs).not.toEqual(second.dirs);
  await cgroups.stop();
  expect([...kernel.made]).toEqual([]);
});

test('SEC-2.5 a group whose limits were changed is used again for the new limits; returning it twice keeps it once', () => {
  const kernel = new KernelV1();
  const cgroups = new Cgroups(opened(openV1(V1_PLACES, kernel, SETUP)), kernel, silentLogger, startTimeOf);
  const group = cgroups.create(LIMITS);
  cgroups.setLimits(group, { ...LIMITS, pids: 9 });
  cgroups.remove(group);
  cgroups.remove(group);
  expect(cgroups.create(LIMITS).dirs).not.toEqual(group.dirs);
  expect(cgroups.create({ ...LIMITS, pids: 9 }).dirs).toEqual(group.dirs);
  expect(cgroups.create({ ...LIMITS, pids: 9 }).dirs).not.toEqual(group.dirs);
});

test('SEC-2.5 counts of an earlier use are subtracted', () => {
  const kernel = new KernelV1();
  const cgroups = new Cgroups(opened(openV1(V1_PLACES, kernel, SETUP)), kernel, silentLogger, startTimeOf);
  const first = cgroups.create(LIMITS);
  const events = join(first.dirs[0] ?? '', 'memory.oom_control');
  kernel.values.set(events, 'oom_kill 2\n');
  cgroups.remove(first);
  const second = cgroups.create(LIMITS);
  expect([second.dirs, second.events().oomKills]).toEqual([first.dirs, 0]);
  kernel.values.set(events, 'oom_kill 3\n');
  expect(second.events().oomKills).toBe(1);
});

test('the name of a group identifies its spawner, even if the pid is used again', () => {
  expect(NAME).toMatch(/^contextd-42-[0-9a-f]{20}$/);
  expect(isLeftover(NAME, startTimeOf)).toBe(false);
  expect(isLeftover(NAME, () => 8)).toBe(true);
  expect(isLeftover(NAME, () => null)).toBe(true);
  expect(isLeftover('contextd-42-trial', () => null)).toBe(false);
  expect([isHome(homeNameOf(NAME)), isHome(NAME)]).toEqual([true, false]);
  expect(isLeftover(topGroupName(process.pid))).toBe(false);
});

describe('SEC-2.5 the total of memory', () => {
  const GIB = 1024 ** 3;
  const MEMINFO = 'MemTotal:        8388608 kB\nMemFree:         1048576 kB\n';
  const nothing = { v1: null, v2: null };

  test('is the configured total, or three quarters of the machine', () => {
    const files = new KernelV1();
    expect(resolveTotal(TOTAL, MEMINFO, nothing, files)).toEqual(TOTAL);
    expect(resolveTotal({ memoryBytes: 0, pids: 9 }, MEMINFO, nothing, files)).toEqual({
      memoryBytes: 6 * GIB,
      pids: 9,
    });
  });

  test("is three quarters of contextd's own limit if that is less", () => {
    const asked = { memoryBytes: 0, pids: 9 };
    const v1 = new KernelV1();
    v1.values.set('/m/memory.stat', `cache 5\nhierarchical_memory_limit ${4 * GIB}\n`);
    expect(resolveTotal(asked, MEMINFO, { v1: V1_PLACES, v2: null }, v1).memoryBytes).toBe(3 * GIB);
    const v2 = new KernelV2({ procs: [], handedDown: 'memory', memoryMax: String(2 * GIB) });
    v2.makeDir('/cg/app');
    v2.write('/cg/app/memory.max', 'max');
    expect(resolveTotal(asked, MEMINFO, { v1: null, v2: '/cg/app' }, v2).memoryBytes).toBe(1.5 * GIB);
  });
});

test('the own group is found on a host, on a hybrid host, and in a container that sees part of the tree', () => {
  const v1 =
    '1 2 0:1 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n2 2 0:2 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n';
  const v2 = '3 2 0:3 / /sys/fs/cgroup/unified rw shared:9 - cgroup2 cgroup2 rw\n';
  expect(locateCgroups(v1 + v2, '4:memory:/a/b\n3:pids:/\n0::/user\n')).toEqual({
    v1: { memory: '/sys/fs/cgroup/memory/a/b', pids: '/sys/fs/cgroup/pids', cpu: null },
    v2: '/sys/fs/cgroup/unified/user',
  });
  const part = '1 2 0:1 /docker/x /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n';
  expect(locateCgroups(part, '0::/docker/x/in\n')).toEqual({ v1: null, v2: '/sys/fs/cgroup/in' });
  expect(locateCgroups(part, '0::/\n').v2).toBe('/sys/fs/cgroup');
  expect(locateCgroups('', '')).toEqual({ v1: null, v2: null });
});
