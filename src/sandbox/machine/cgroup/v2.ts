import { basename, dirname, join } from 'node:path';
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
  homeNameOf,
  isHome,
  isTopGroup,
  killListed,
  OWN_PROCESSES,
  withChildren,
} from './files.ts';

/** What was changed when it was opened, and must be undone. */
interface Opened {
  readonly place: string;
  readonly home: string;
  readonly top: string;
  readonly movedPids: readonly number[];
  /** Controllers that were enabled for the children of `place`. */
  readonly enabled: readonly string[];
}

/**
 * v2, in a subtree that was delegated to contextd (`systemd-run --user --scope -p Delegate=yes`). A group with
 * processes cannot enable controllers for its children, so the spawner (and the daemon) first move into a leaf of their
 * own. If another process remains, the kernel answers EBUSY: then everything is undone and there is no backend.
 */
export function openV2(own: string, files: CgroupFiles, setup: BackendSetup): CgroupBackend | null {
  // A spawner that follows a dead one starts in the leaf that the daemon was moved into.
  const place = isHome(basename(own)) ? dirname(own) : own;
  const enabled = missingControllers(place, files);
  if (enabled === null) return null;
  const [home, top] = [join(place, homeNameOf(setup.name)), join(place, setup.name)];
  const inPlace = wordsOf(files.read(join(own, 'cgroup.procs')));
  const movedPids = setup.movedPids.filter((pid) => inPlace.includes(String(pid)));
  const opened: Opened = { place, home, top, movedPids, enabled };
  try {
    moveAside(opened, files);
    makeTop(opened, setup, files);
  } catch (cause) {
    if (!isErrno(cause)) throw cause;
    files.removeDir(top);
    leave(opened, files);
    return null;
  }
  return backend(opened, files);
}

function moveAside({ place, home, movedPids, enabled }: Opened, files: CgroupFiles): void {
  files.makeDir(home);
  for (const pid of movedPids) files.write(join(home, 'cgroup.procs'), String(pid));
  handDown(place, enabled, files);
}

/** The top group itself never has a process, so that it may enable controllers for its children too. */
function makeTop({ place, top }: Opened, { total }: BackendSetup, files: CgroupFiles): void {
  files.makeDir(top);
  files.write(join(top, 'memory.max'), String(total.memoryBytes));
  writeOffered(join(top, 'memory.swap.max'), '0', files);
  files.write(join(top, 'pids.max'), String(total.pids));
  handDown(top, wordsOf(files.read(join(place, 'cgroup.subtree_control'))).filter(isWanted), files);
}

function handDown(dir: string, controllers: readonly string[], files: CgroupFiles): void {
  if (controllers.length > 0) files.write(join(dir, 'cgroup.subtree_control'), `+${controllers.join(' +')}`);
}

function backend(opened: Opened, files: CgroupFiles): CgroupBackend {
  const { place, top } = opened;
  return {
    kind: 'v2',
    tree: () => treeOf(top, files),
    find: (name) => treeOf(join(place, name), files),
    list: () => files.listDirs(place).filter(isTopGroup),
    close: () => leave(opened, files),
    create(name, limits) {
      const dir = join(top, name);
      files.makeDir(dir);
      writeOffered(join(dir, 'memory.swap.max'), '0', files);
      writeOffered(join(dir, 'memory.oom.group'), '1', files);
      limit(dir, limits, files);
      return describe(dir, files);
    },
    limit(group, limits) {
      for (const dir of group.dirs) limit(dir, limits, files);
    },
    totals: () => ({
      memoryBytes: amount(files.read(join(top, 'memory.current'))),
      memoryMaxBytes: amount(files.read(join(top, 'memory.max'))),
      pids: amount(files.read(join(top, 'pids.current'))),
      pidsMax: amount(files.read(join(top, 'pids.max'))),
    }),
  };
}

/** Nothing is killed in a leaf that a daemon was moved into: it is removed when it is empty. */
function treeOf(dir: string, files: CgroupFiles): GroupTree {
  return { dirs: withChildren(dir, files), kill: isHome(basename(dir)) ? () => {} : () => killAll(dir, files) };
}

/** Controllers that must still be enabled for children; null if memory or pids is not available here. */
function missingControllers(place: string, files: CgroupFiles): string[] | null {
  const offered = wordsOf(files.read(join(place, 'cgroup.controllers')));
  if (!offered.includes('memory') || !offered.includes('pids')) return null;
  const enabled = wordsOf(files.read(join(place, 'cgroup.subtree_control')));
  return offered.filter((name) => isWanted(name) && !enabled.includes(name));
}

function isWanted(controller: string): boolean {
  return controller === 'memory' || controller === 'pids' || controller === 'cpu';
}

function wordsOf(text: string): string[] {
  return text
    .trim()
    .split(/\s+/)
    .filter((word) => word !== '');
}

function limit(dir: string, limits: GroupLimits, files: CgroupFiles): void {
  files.write(join(dir, 'memory.max'), String(limits.memoryBytes));
  files.write(join(dir, 'pids.max'), String(limits.pids + OWN_PROCESSES));
  writeOffered(join(dir, 'cpu.max'), `${cpuQuotaUs(limits.cpus) ?? 'max'} ${CPU_PERIOD_US}`, files);
}

/** For files that older kernels, and machines without swap or without the cpu controller, do not have. */
function writeOffered(file: string, text: string, files: CgroupFiles): void {
  if (files.exists(file)) files.write(file, text);
}

function describe(dir: string, files: CgroupFiles): GroupFiles {
  return {
    dirs: [dir],
    joinFiles: [join(dir, 'cgroup.procs')],
    events: () => ({
      oomKills: counter(files.read(join(dir, 'memory.events')), 'oom_kill'),
      pidsRefused: counter(files.read(join(dir, 'pids.events')), 'max'),
    }),
    kill: () => killAll(dir, files),
  };
}

/** `cgroup.kill` (Linux 5.14) kills the whole subtree. */
function killAll(dir: string, files: CgroupFiles): void {
  if (files.exists(join(dir, 'cgroup.kill'))) files.write(join(dir, 'cgroup.kill'), '1');
  else for (const one of withChildren(dir, files)) killListed(files.read(join(one, 'cgroup.procs')));
}

/**
 * Undoes the changes. Controllers are disabled first: a group that has them enabled for its children accepts no
 * process.
 */
function leave({ place, home, movedPids, enabled }: Opened, files: CgroupFiles): void {
  if (!files.exists(home)) return;
  attempt(() => {
    if (enabled.length > 0) files.write(join(place, 'cgroup.subtree_control'), `-${enabled.join(' -')}`);
  });
  for (const pid of movedPids) attempt(() => files.write(join(place, 'cgroup.procs'), String(pid)));
  files.removeDir(home);
}

/** Continues if a process is gone or if another spawner still uses a group. */
function attempt(step: () => void): void {
  try {
    step();
  } catch (cause) {
    if (!isErrno(cause)) throw cause;
  }
}
