import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { silentLogger } from '#src/core/log.js';
import { Cgroups } from '#src/sandbox/cgroup.js';
import type { CgroupFiles } from '#src/sandbox/cgroup-files.js';
import { locateCgroups } from '#src/sandbox/cgroup-locate.js';
import { openV1 } from '#src/sandbox/cgroup-v1.js';
import { openV2 } from '#src/sandbox/cgroup-v2.js';

const LIMITS = { memoryBytes: 1000, pids: 8, fileBytes: 1, openFiles: 1, cpu: 1.5 };

function refuse(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** The rules of a cgroup2 tree that matter: no children's controllers while processes are in the group itself. */
function kernelV2(options: {
  writable: boolean;
  others: number[];
  enabled?: string;
}): CgroupFiles & { log: string[]; inPlace: Set<number> } {
  const dirs = new Set(['/cg']);
  const inPlace = new Set([42, ...options.others]);
  const log: string[] = [];
  const files = new Map([
    ['/cg/cgroup.controllers', 'cpu io memory pids\n'],
    ['/cg/cgroup.subtree_control', options.enabled ?? ''],
  ]);
  const offered = ['memory.swap.max', 'memory.oom.group', 'cpu.max', 'cgroup.kill'];
  return {
    log,
    inPlace,
    exists: (path) =>
      dirs.has(path) || files.has(path) || (dirs.has(dirname(path)) && offered.some((name) => path.endsWith(name))),
    read: (path) => files.get(path) ?? '',
    listDirs: () => [...dirs].filter((dir) => dir !== '/cg').map((dir) => dir.slice(4)),
    removeDir: (path) => log.push(`rmdir ${path}`) > 0 && dirs.delete(path),
    makeDir(path) {
      if (!options.writable) throw refuse('EACCES');
      log.push(`mkdir ${path}`);
      dirs.add(path);
    },
    write(path, text) {
      if (!options.writable) throw refuse('EACCES');
      if (path === '/cg/cgroup.subtree_control' && text.startsWith('+') && inPlace.size > 0) throw refuse('EBUSY');
      log.push(`${path} ${text}`);
      if (path.endsWith('-daemon/cgroup.procs')) inPlace.delete(Number(text));
      if (path === '/cg/cgroup.procs') inPlace.add(Number(text));
    },
  };
}

describe('SEC-2.5 cgroup v2', () => {
  test('the daemon moves aside first, then controllers go to the children, and all of it is undone at the end', () => {
    const kernel = kernelV2({ writable: true, others: [] });
    const backend = openV2('/cg', kernel, 42);
    expect(kernel.log).toEqual([
      'mkdir /cg/contextd-42-daemon',
      '/cg/contextd-42-daemon/cgroup.procs 42',
      '/cg/cgroup.subtree_control +memory +pids +cpu',
    ]);
    kernel.log.length = 0;
    backend?.close();
    expect(kernel.log).toEqual([
      '/cg/cgroup.subtree_control -memory -pids -cpu',
      '/cg/cgroup.procs 42',
      'rmdir /cg/contextd-42-daemon',
    ]);
  });

  test('a group gets its limits, is joined through cgroup.procs, dies as one', () => {
    const kernel = kernelV2({ writable: true, others: [] });
    const backend = openV2('/cg', kernel, 42);
    kernel.log.length = 0;
    const group = backend?.create('contextd-42-0', LIMITS);
    group?.kill();
    expect(group?.joinFiles).toEqual(['/cg/contextd-42-0/cgroup.procs']);
    expect(kernel.log).toEqual([
      'mkdir /cg/contextd-42-0',
      '/cg/contextd-42-0/memory.max 1000',
      '/cg/contextd-42-0/memory.swap.max 0',
      '/cg/contextd-42-0/memory.oom.group 1',
      '/cg/contextd-42-0/pids.max 10',
      '/cg/contextd-42-0/cpu.max 150000 100000',
      '/cg/contextd-42-0/cgroup.kill 1',
    ]);
  });

  test('where others live too it is left as it was; controllers that were on stay on', () => {
    const busy = kernelV2({ writable: true, others: [7] });
    expect(openV2('/cg', busy, 42)).toBeNull();
    expect([...busy.inPlace].sort()).toEqual([42, 7]);
    expect(busy.log.at(-1)).toBe('rmdir /cg/contextd-42-daemon');
    const shared = kernelV2({ writable: true, others: [], enabled: 'memory pids cpu' });
    openV2('/cg', shared, 42)?.close();
    expect(shared.log.some((line) => line.includes('subtree_control'))).toBe(false);
  });

  test('not delegated is no backend', () => {
    expect(openV2('/cg', kernelV2({ writable: false, others: [] }), 42)).toBeNull();
  });
});

test('SEC-2.5 cgroup v1: one directory per controller, joined through tasks; read-only is no backend', () => {
  const log: string[] = [];
  const made = new Set<string>();
  const kernel: CgroupFiles = {
    exists: (path) => path.endsWith('/tasks') || path.endsWith('memsw.limit_in_bytes'),
    read: (path) => (path.endsWith('oom_control') ? 'oom_kill_disable 0\nunder_oom 0\noom_kill 2\n' : 'max 3\n'),
    write: (path, text) => log.push(`${path} ${text}`),
    makeDir: (path) => made.add(path),
    removeDir: (path) => made.delete(path),
    listDirs: () => ['contextd-1-0', 'other'],
  };
  const backend = openV1({ memory: '/m', pids: '/p', cpu: '/c' }, kernel);
  const group = backend?.create('contextd-42-0', LIMITS);
  expect([...made]).toEqual(['/m/contextd-42-0', '/p/contextd-42-0', '/c/contextd-42-0']);
  expect(group?.joinFiles).toEqual([...made].map((dir) => join(dir, 'tasks')));
  expect(log).toEqual([
    '/m/contextd-42-0/memory.limit_in_bytes 1000',
    '/m/contextd-42-0/memory.memsw.limit_in_bytes 1000',
    '/p/contextd-42-0/pids.max 10',
    '/c/contextd-42-0/cpu.cfs_period_us 100000',
    '/c/contextd-42-0/cpu.cfs_quota_us 150000',
  ]);
  expect(group?.events()).toEqual({ oomKills: 2, pidsRefused: 3 });
  expect(backend?.list()).toEqual(['contextd-1-0']);
  const readOnly = {
    ...kernel,
    makeDir: () => {
      throw refuse('EROFS');
    },
  };
  expect(openV1({ memory: '/m', pids: '/p', cpu: null }, readOnly)).toBeNull();
});

test('SEC-2.5 a group is used again only when no dead process counts in it any more', async () => {
  const charged = new Map<string, string>();
  const made: string[] = [];
  const files: CgroupFiles = {
    exists: () => true,
    read: (path) => (path.endsWith('pids.current') ? (charged.get(dirname(path)) ?? '0') : ''),
    write() {},
    makeDir: (path) => made.push(path),
    removeDir: () => true,
    listDirs: () => [],
  };
  const backend = openV1({ memory: '/m', pids: '/p', cpu: null }, files);
  if (backend === null) throw new Error('no backend');
  const cgroups = new Cgroups(backend, files, silentLogger);
  const first = cgroups.create(LIMITS);
  const [, pidsDir = ''] = first.dirs;
  charged.set(pidsDir, '1\n');
  cgroups.remove(first);
  const second = cgroups.create(LIMITS);
  expect(second.dirs).not.toEqual(first.dirs);
  charged.set(pidsDir, '0\n');
  expect(cgroups.create(LIMITS).dirs).toEqual(first.dirs);
  expect(cgroups.create({ ...LIMITS, pids: 9 }).dirs).not.toEqual(second.dirs);
  await cgroups.stop();
});

test('the own group is found on a host, on a hybrid one, and in a container that sees a part of the tree', () => {
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
