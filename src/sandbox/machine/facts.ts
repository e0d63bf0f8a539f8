import { execFile } from 'node:child_process';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { release } from 'node:os';
import { promisify } from 'node:util';
import { isErrno } from '../../core/errors.ts';
import { locateCgroups } from './cgroup/locate.ts';
import type { BubblewrapFeatures } from './mount-plan.ts';

/**
 * How facts are read, so that tests can use the recorded files of another machine. Nothing throws: null means "does not
 * exist".
 */
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
  /** As it prints it, for example `0.8.0`. */
  readonly version: string;
  readonly features: BubblewrapFeatures;
}

/** What decides how well a machine can isolate, and what the remedies depend on. */
export interface MachineFacts {
  readonly kernel: string;
  readonly arch: string;
  readonly uid: number;
  readonly distribution: Distribution;
  readonly container: ContainerKind | null;
  readonly wsl: 1 | 2 | null;
  /** True if systemd is the init of this system. */
  readonly systemd: boolean;
  /** Null if the kernel has no such setting. */
  readonly sysctls: {
    readonly maxUserNamespaces: number | null;
    readonly unprivilegedUsernsClone: number | null;
    readonly apparmorRestrictUserns: number | null;
  };
  readonly cgroup: CgroupFacts;
  readonly bubblewrap: (FileFacts & Bubblewrap) | null;
  /** Programs of util-linux that the launcher needs and that are not installed. */
  readonly missingPrograms: readonly string[];
  /** True if taskset is installed: without a cgroup, processors can still be chosen. */
  readonly taskset: boolean;
  /** True if the kernel has seccomp. */
  readonly seccomp: boolean;
  /** True if /proc is mounted with hidepid. */
  readonly hidepid: boolean;
}

export interface CgroupFacts {
  readonly v1: { readonly path: string; readonly writable: boolean; readonly cpu: boolean } | null;
  readonly v2: { readonly path: string; readonly writable: boolean; readonly controllers: readonly string[] } | null;
  /** False if the kernel was started without it. */
  readonly memoryController: boolean;
}

const UTIL_LINUX = ['setpriv', 'prlimit', 'unshare'] as const;
const PROGRAM_DIRS = ['/usr/sbin', '/usr/bin', '/sbin', '/bin'] as const;

/** All facts of this machine, from some dozen small files. `bubblewrap` is what was found of it. */
export function collectFacts(bubblewrap: Bubblewrap | null, readers: FactReaders = hostReaders()): MachineFacts {
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

/** The child group that the daemon moves into; every daemon gives it a new name, so the facts name its parent. */
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

/** Reads the facts of this machine. */
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

type ContainerKind = 'docker' | 'podman' | 'kubernetes' | 'lxc' | 'other';

/** The package manager decides how a missing program is installed. */
export interface Distribution {
  /** For a person to read; "" if the system does not say. */
  readonly name: string;
  readonly packages: 'apt' | 'dnf' | 'pacman' | 'zypper' | 'apk' | 'nix' | null;
}

const PACKAGES_BY_ID: Readonly<Record<string, Distribution['packages']>> = {
  debian: 'apt',
  ubuntu: 'apt',
  fedora: 'dnf',
  rhel: 'dnf',
  centos: 'dnf',
  amzn: 'dnf',
  arch: 'pacman',
  suse: 'zypper',
  opensuse: 'zypper',
  'opensuse-leap': 'zypper',
  'opensuse-tumbleweed': 'zypper',
  sles: 'zypper',
  alpine: 'apk',
  nixos: 'nix',
};

/** Pure: from the text of /etc/os-release. A derived distribution names the one it is based on. */
export function distributionOf(osRelease: string): Distribution {
  const value = (key: string): string =>
    new RegExp(`^${key}=(["']?)(.*)\\1$`, 'm').exec(osRelease)?.[2]?.trim().toLowerCase() ?? '';
  const ids = [value('ID'), ...value('ID_LIKE').split(/\s+/)];
  const known = ids.map((id) => PACKAGES_BY_ID[id]).find((packages) => packages !== undefined);
  return { name: value('ID'), packages: known ?? null };
}

/** Signs of a container, the most specific first: a pod is also a container of some runtime. */
function containerOf({ read, stat }: Pick<FactReaders, 'read' | 'stat'>): ContainerKind | null {
  const groups = `${read('/proc/self/cgroup') ?? ''}${read('/proc/1/cgroup') ?? ''}`;
  const root = (read('/proc/self/mountinfo') ?? '').split('\n').find((line) => line.split(' ')[4] === '/') ?? '';
  const manager = `${read('/run/systemd/container') ?? ''}${read('/run/host/container-manager') ?? ''}`.trim();
  if (stat('/var/run/secrets/kubernetes.io') !== null || /kubepods/.test(groups)) return 'kubernetes';
  if (stat('/run/.containerenv') !== null || /libpod/.test(groups) || manager === 'podman') return 'podman';
  if (stat('/.dockerenv') !== null || /\/docker[/-]/.test(groups) || /\/docker\//.test(root) || manager === 'docker')
    return 'docker';
  if (/\/lxc[/.]/.test(groups) || manager === 'lxc') return 'lxc';
  return manager === '' || manager === 'wsl' ? null : 'other';
}

/** WSL 1 translates system calls and has no kernel; WSL 2 is a kernel in a virtual machine. */
function wslOf({ read, stat, kernel }: Pick<FactReaders, 'read' | 'stat' | 'kernel'>): 1 | 2 | null {
  const version = `${kernel} ${read('/proc/version') ?? ''}`;
  if (/WSL2|microsoft-standard/i.test(version)) return 2;
  if (/-Microsoft\b/.test(version)) return 1;
  return stat('/proc/sys/fs/binfmt_misc/WSLInterop') === null ? null : 2;
}

/** Where bubblewrap is looked for: never on the caller's PATH, which a project may change. */
const BUBBLEWRAP_PLACES = ['/usr/bin/bwrap', '/bin/bwrap', '/usr/local/bin/bwrap', '/run/current-system/sw/bin/bwrap'];

/** The installed bubblewrap, or null. */
export async function findBubblewrap(places: readonly string[] = BUBBLEWRAP_PLACES): Promise<Bubblewrap | null> {
  const path = places.find((place) => isAccessible(place, constants.X_OK));
  if (path === undefined) return null;
  const options = { env: { PATH: '/usr/bin:/bin' }, timeout: 5000 };
  const [version, help] = await Promise.all(
    ['--version', '--help'].map(async (flag) => (await promisify(execFile)(path, [flag], options)).stdout),
  );
  return { path, version: version?.trim().replace(/^bubblewrap /, '') ?? '', features: readFeatures(help ?? '') };
}

export function readFeatures(help: string): BubblewrapFeatures {
  return { disableUserns: help.includes('--disable-userns'), bindFd: help.includes('--ro-bind-fd') };
}
