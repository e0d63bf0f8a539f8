import { join } from 'node:path';
import { isErrno } from '../core/errors.ts';
import {
  type CgroupBackend,
  type CgroupFiles,
  counter,
  type GroupFiles,
  killListed,
  OWN_PROCESSES,
} from './cgroup-files.ts';
import type { SandboxLimits } from './sandbox.ts';

const CPU_PERIOD_US = 100_000;

/**
 * v2, in a subtree that was delegated to the daemon (`systemd-run --user --scope -p Delegate=yes`). A group with
 * processes cannot hand controllers to children, so the daemon first moves into a child of its own; where another
 * process remains, that is EBUSY, everything is undone and there is no backend.
 */
export function openV2(place: string, files: CgroupFiles, daemonPid: number): CgroupBackend | null {
  const wanted = wantedControllers(place, files);
  if (wanted === null) return null;
  const home = join(place, `contextd-${daemonPid}-daemon`);
  const close = (): void => leave(place, home, files, daemonPid, wanted);
  try {
    files.makeDir(home);
    files.write(join(home, 'cgroup.procs'), String(daemonPid));
    if (wanted.length > 0)
      files.write(join(place, 'cgroup.subtree_control'), wanted.map((name) => `+${name}`).join(' '));
  } catch (cause) {
    if (!isErrno(cause)) throw cause;
    if (files.exists(home)) close();
    return null;
  }
  return backend(place, files, close);
}

function backend(place: string, files: CgroupFiles, close: () => void): CgroupBackend {
  return {
    kind: 'v2',
    close,
    find: (name) => describe(join(place, name), files),
    list: () => files.listDirs(place).filter((name) => name.startsWith('contextd-')),
    create(name, limits) {
      const dir = join(place, name);
      files.makeDir(dir);
      limit(dir, limits, files);
      return describe(dir, files);
    },
  };
}

/** Controllers still to be handed to children; null when memory or pids is not offered here. */
function wantedControllers(place: string, files: CgroupFiles): string[] | null {
  const offered = words(files.read(join(place, 'cgroup.controllers')));
  if (!offered.includes('memory') || !offered.includes('pids')) return null;
  const enabled = words(files.read(join(place, 'cgroup.subtree_control')));
  return ['memory', 'pids', 'cpu'].filter((name) => offered.includes(name) && !enabled.includes(name));
}

function words(text: string): string[] {
  return text
    .trim()
    .split(/\s+/)
    .filter((word) => word !== '');
}

function limit(dir: string, limits: SandboxLimits, files: CgroupFiles): void {
  files.write(join(dir, 'memory.max'), String(limits.memoryBytes));
  for (const [name, value] of [
    ['memory.swap.max', '0'],
    ['memory.oom.group', '1'],
  ] as const) {
    if (files.exists(join(dir, name))) files.write(join(dir, name), value);
  }
  files.write(join(dir, 'pids.max'), String(limits.pids + OWN_PROCESSES));
  if (limits.cpu !== undefined && files.exists(join(dir, 'cpu.max'))) {
    files.write(join(dir, 'cpu.max'), `${Math.round(limits.cpu * CPU_PERIOD_US)} ${CPU_PERIOD_US}`);
  }
}

function describe(dir: string, files: CgroupFiles): GroupFiles {
  return {
    dirs: [dir],
    joinFiles: [join(dir, 'cgroup.procs')],
    events: () => ({
      oomKills: counter(files.read(join(dir, 'memory.events')), 'oom_kill'),
      pidsRefused: counter(files.read(join(dir, 'pids.events')), 'max'),
    }),
    kill() {
      if (files.exists(join(dir, 'cgroup.kill'))) files.write(join(dir, 'cgroup.kill'), '1');
      else killListed(files.read(join(dir, 'cgroup.procs')));
    },
  };
}

/** Back to where the daemon was. What was enabled goes first: a group that hands out controllers takes no process. */
function leave(place: string, home: string, files: CgroupFiles, daemonPid: number, enabled: readonly string[]): void {
  try {
    if (enabled.length > 0) {
      files.write(join(place, 'cgroup.subtree_control'), enabled.map((name) => `-${name}`).join(' '));
    }
    files.write(join(place, 'cgroup.procs'), String(daemonPid));
  } catch (cause) {
    if (!isErrno(cause)) throw cause;
  }
  files.removeDir(home);
}
