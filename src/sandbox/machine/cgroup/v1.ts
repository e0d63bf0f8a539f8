import { join } from 'node:path';
import { isErrno } from '../../../core/errors.ts';
import {
  amount,
  type BackendSetup,
  type CgroupBackend,
  type CgroupFiles,
  CPU_PERIOD_US,
  counter,
  cpuQuotaUs,
  type GroupFiles,
  type GroupLimits,
  type GroupTree,
  isTopGroup,
  killListed,
  OWN_PROCESSES,
  type TotalLimits,
  withChildren,
} from './files.ts';
import type { V1Places } from './locate.ts';

/**
 * v1: one directory for each controller. Processes join through `tasks`, which is 100 times faster than `cgroup.procs`.
 * Null if it is not writable.
 */
export function openV1(own: V1Places, files: CgroupFiles, { name, total }: BackendSetup): CgroupBackend | null {
  const top = makeTop(own, name, files);
  if (top === null) return null;
  limitTotal(top, total, files);
  const places = [...new Set([own.memory, own.pids, ...(own.cpu === null ? [] : [own.cpu])])];
  const tree = (dirs: readonly string[]): GroupTree => ({
    dirs: dirs.flatMap((dir) => withChildren(dir, files)),
    kill() {
      for (const dir of this.dirs) killListed(files.read(join(dir, 'cgroup.procs')));
    },
  });
  return {
    kind: 'v1',
    tree: () => tree(dirsOf(top)),
    find: (found) => tree(places.map((place) => join(place, found))),
    list: () => [...new Set(places.flatMap((place) => files.listDirs(place)))].filter(isTopGroup),
    close() {},
    create(child, limits) {
      const group = below(top, child);
      for (const dir of dirsOf(group)) files.makeDir(dir);
      limit(group, limits, files);
      return describe(group, files);
    },
    limit(group, limits) {
      const [memory, pids, cpu] = group.dirs;
      if (memory !== undefined) limit({ memory, pids: pids ?? memory, cpu: cpu ?? null }, limits, files);
    },
    totals: () => ({
      memoryBytes: amount(files.read(join(top.memory, 'memory.usage_in_bytes'))),
      memoryMaxBytes: amount(files.read(join(top.memory, 'memory.limit_in_bytes'))),
      pids: amount(files.read(join(top.pids, 'pids.current'))),
      pidsMax: amount(files.read(join(top.pids, 'pids.max'))),
    }),
  };
}

/**
 * Only making a group proves that it can be made: permission bits do not, for root in a container with read-only
 * cgroups.
 */
function makeTop(own: V1Places, name: string, files: CgroupFiles): V1Places | null {
  const top = below(own, name);
  if (!isMade(top.memory, files)) return null;
  if (!isMade(top.pids, files) || !files.exists(join(top.memory, 'tasks'))) {
    for (const dir of [top.pids, top.memory]) files.removeDir(dir);
    return null;
  }
  return { ...top, cpu: top.cpu !== null && isMade(top.cpu, files) ? top.cpu : null };
}

function isMade(dir: string, files: CgroupFiles): boolean {
  if (files.exists(dir)) return true;
  try {
    files.makeDir(dir);
    return true;
  } catch (cause) {
    if (isErrno(cause)) return false;
    throw cause;
  }
}

/** Kernels before 5.11 apply a parent's limit to its children only if this is set before the first child. */
function limitTotal(top: V1Places, total: TotalLimits, files: CgroupFiles): void {
  const hierarchy = join(top.memory, 'memory.use_hierarchy');
  if (files.read(hierarchy).trim() === '0') files.write(hierarchy, '1');
  limitMemory(top.memory, total.memoryBytes, files);
  files.write(join(top.pids, 'pids.max'), String(total.pids));
}

function limit(group: V1Places, limits: GroupLimits, files: CgroupFiles): void {
  limitMemory(group.memory, limits.memoryBytes, files);
  files.write(join(group.pids, 'pids.max'), String(limits.pids + OWN_PROCESSES));
  if (group.cpu === null) return;
  const quota = cpuQuotaUs(limits.cpus);
  const file = join(group.cpu, 'cpu.cfs_quota_us');
  if (quota === null && files.read(file).trim() === '-1') return;
  if (quota !== null) files.write(join(group.cpu, 'cpu.cfs_period_us'), String(CPU_PERIOD_US));
  files.write(file, String(quota ?? -1));
}

/** The limit with swap may never be below the limit without. */
function limitMemory(dir: string, bytes: number, files: CgroupFiles): void {
  const plain = join(dir, 'memory.limit_in_bytes');
  const withSwap = join(dir, 'memory.memsw.limit_in_bytes');
  const order = !files.exists(withSwap)
    ? [plain]
    : bytes > amount(files.read(withSwap))
      ? [withSwap, plain]
      : [plain, withSwap];
  for (const file of order) files.write(file, String(bytes));
}

function below(places: V1Places, name: string): V1Places {
  const { memory, pids, cpu } = places;
  return { memory: join(memory, name), pids: join(pids, name), cpu: cpu === null ? null : join(cpu, name) };
}

function dirsOf({ memory, pids, cpu }: V1Places): string[] {
  return [...new Set([memory, pids, ...(cpu === null ? [] : [cpu])])];
}

function describe(group: V1Places, files: CgroupFiles): GroupFiles {
  const dirs = dirsOf(group);
  return {
    dirs,
    joinFiles: dirs.map((dir) => join(dir, 'tasks')),
    events: () => ({
      oomKills: counter(files.read(join(group.memory, 'memory.oom_control')), 'oom_kill'),
      pidsRefused: counter(files.read(join(group.pids, 'pids.events')), 'max'),
    }),
    kill: () => killListed(files.read(join(group.pids, 'cgroup.procs'))),
  };
}
