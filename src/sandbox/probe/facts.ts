import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { release } from 'node:os';
import { isErrno } from '../../core/errors.ts';
import { locateCgroups } from '../cgroup/locate.ts';
import type { BubblewrapFeatures } from '../policy.ts';
import { type ContainerKind, containerOf, type Distribution, distributionOf, wslOf } from './machine-kind.ts';

/** How facts are read, so that another machine's recorded files can stand in. Nothing throws: null is "not there". */
export interface FactReaders {
  read(path: string): string | null;
  stat(path: string): FileFacts | null;
  isWritable(path: string): boolean;
  isExecutable(path: string): boolean;
  readonly uid: number;
  /** As `uname -r` says it. */
  readonly kernel: string;
  readonly arch: string;
}

export interface FileFacts {
  readonly mtimeMs: number;
  readonly size: number;
  readonly mode: number;
}

export interface Bubblewrap {
  readonly path: string;
  /** As it names itself, such as `0.8.0`. */
  readonly version: string;
  readonly features: BubblewrapFeatures;
}

/** What decides how well a machine can isolate, and what a remedy depends on. */
export interface MachineFacts {
  readonly kernel: string;
  readonly arch: string;
  readonly uid: number;
  readonly distribution: Distribution;
  readonly container: ContainerKind | null;
  readonly wsl: 1 | 2 | null;
  /** systemd is the init of this system. */
  readonly systemd: boolean;
  /** Null where the kernel has no such setting. */
  readonly sysctls: {
    readonly maxUserNamespaces: number | null;
    readonly unprivilegedUsernsClone: number | null;
    readonly apparmorRestrictUserns: number | null;
  };
  readonly cgroup: CgroupFacts;
  readonly bubblewrap: (FileFacts & Bubblewrap) | null;
  /** Programs of util-linux that the launcher needs and that are not there. */
  readonly missingPrograms: readonly string[];
  /** taskset is installed: without a cgroup, processors can still be chosen. */
  readonly taskset: boolean;
  /** Whether the kernel has seccomp at all. */
  readonly seccomp: boolean;
  /** /proc is mounted with hidepid. */
  readonly hidepid: boolean;
}

export interface CgroupFacts {
  readonly v1: { readonly path: string; readonly writable: boolean; readonly cpu: boolean } | null;
  readonly v2: { readonly path: string; readonly writable: boolean; readonly controllers: readonly string[] } | null;
  /** False where the kernel was started without it. */
  readonly memoryController: boolean;
}

const UTIL_LINUX = ['setpriv', 'prlimit', 'unshare'] as const;
const PROGRAM_DIRS = ['/usr/sbin', '/usr/bin', '/sbin', '/bin'] as const;

/** All facts of this machine, some dozen small files. `bubblewrap` is what was found of it. */
export function gatherFacts(bubblewrap: Bubblewrap | null, readers: FactReaders = hostReaders()): MachineFacts {
  const { read } = readers;
  const bubblewrapFile = bubblewrap === null ? null : readers.stat(bubblewrap.path);
  return {
    kernel: readers.kernel,
    arch: readers.arch,
    uid: readers.uid,
    distribution: distributionOf(read('/etc/os-release') ?? read('/usr/lib/os-release') ?? ''),
    container: containerOf(readers),
    wsl: wslOf(readers),
    systemd: readers.stat('/run/systemd/system') !== null,
    sysctls: {
      maxUserNamespaces: sysctl(readers, 'user/max_user_namespaces'),
      unprivilegedUsernsClone: sysctl(readers, 'kernel/unprivileged_userns_clone'),
      apparmorRestrictUserns: sysctl(readers, 'kernel/apparmor_restrict_unprivileged_userns'),
    },
    cgroup: cgroupFacts(readers),
    bubblewrap: bubblewrap === null || bubblewrapFile === null ? null : { ...bubblewrap, ...bubblewrapFile },
    missingPrograms: UTIL_LINUX.filter((name) => !isInstalled(name, readers)),
    taskset: isInstalled('taskset', readers),
    seccomp: /^Seccomp:/m.test(read('/proc/self/status') ?? ''),
    hidepid: /^\S+ \S+ \S+ \S+ \/proc .*\bhidepid=(?!0|off)/m.test(read('/proc/self/mountinfo') ?? ''),
  };
}

function isInstalled(name: string, readers: FactReaders): boolean {
  return PROGRAM_DIRS.some((dir) => readers.isExecutable(`${dir}/${name}`));
}

function sysctl(readers: FactReaders, name: string): number | null {
  const text = readers.read(`/proc/sys/${name}`)?.trim();
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : null;
}

/** The daemon's own group before it moved into a child of it: that child is named anew by every daemon. */
const OWN_CHILD = /\/contextd-\d+-[^/.]*$/;

function cgroupFacts(readers: FactReaders): CgroupFacts {
  const places = locateCgroups(readers.read('/proc/self/mountinfo') ?? '', readers.read('/proc/self/cgroup') ?? '');
  const v2 = places.v2?.replace(OWN_CHILD, '') ?? null;
  return {
    v1: places.v1 === null ? null : v1Facts(readers, places.v1),
    v2: v2 === null ? null : v2Facts(readers, v2),
    memoryController: !/^memory\s+\d+\s+\d+\s+0$/m.test(readers.read('/proc/cgroups') ?? ''),
  };
}

function v1Facts(
  readers: FactReaders,
  places: { memory: string; pids: string; cpu: string | null },
): CgroupFacts['v1'] {
  return {
    path: places.memory,
    writable: readers.isWritable(places.memory) && readers.isWritable(places.pids),
    cpu: places.cpu !== null && readers.isWritable(places.cpu),
  };
}

function v2Facts(readers: FactReaders, path: string): CgroupFacts['v2'] {
  const controllers = readers.read(`${path}/cgroup.controllers`)?.trim() ?? '';
  return {
    path,
    writable: readers.isWritable(path) && readers.isWritable(`${path}/cgroup.procs`),
    controllers: controllers === '' ? [] : controllers.split(/\s+/),
  };
}

/** The machine this runs on. */
function hostReaders(): FactReaders {
  return {
    read: (path) => orNull(() => readFileSync(path, 'utf8')),
    stat: (path) =>
      orNull(() => {
        const { mtimeMs, size, mode } = statSync(path);
        return { mtimeMs, size, mode };
      }),
    isWritable: (path) => isAccessible(path, constants.W_OK),
    isExecutable: (path) => isAccessible(path, constants.X_OK),
    uid: process.getuid?.() ?? 0,
    kernel: release(),
    arch: process.arch,
  };
}

export function isAccessible(path: string, mode: number): boolean {
  return orNull(() => accessSync(path, mode) ?? true) ?? false;
}

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}
