import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../../../core/errors.ts';
import type { SandboxLimits } from '../../contract/policy.ts';

/** Microseconds over which the share of a processor is counted. */
export const CPU_PERIOD_US = 100_000;
/** The kernel accepts no smaller share. */
const CPU_QUOTA_MIN_US = 1000;

/** The sandbox's own processes that count: bubblewrap outside and its init inside. */
export const OWN_PROCESSES = 2;

/** The limits of one group. */
export type GroupLimits = Pick<SandboxLimits, 'memoryBytes' | 'pids' | 'cpus'>;

/** The limits of all sandboxes together. */
export interface TotalLimits {
  readonly memoryBytes: number;
  /** Processes and threads, including two of each sandbox itself. */
  readonly pids: number;
}

/** What all sandboxes together use and may use. */
export interface CgroupTotals {
  readonly memoryBytes: number;
  readonly memoryMaxBytes: number;
  readonly pids: number;
  readonly pidsMax: number;
}

/** How a backend is opened. */
export interface BackendSetup {
  /** Name of the group that contains all groups of sandboxes. */
  readonly name: string;
  readonly total: TotalLimits;
  /** v2: processes to move if they are in the spawner's group: the spawner and the daemon. */
  readonly movedPids: readonly number[];
}

/** How groups are made on this machine. */
export interface CgroupBackend {
  readonly kind: 'v1' | 'v2';
  /** The group that contains all sandboxes, with everything in it. */
  tree(): GroupTree;
  /** One group for one sandbox, with its limits. */
  create(name: string, limits: GroupLimits): GroupFiles;
  /** Changes the limits of a group. Throws the system's error, for example EBUSY if more memory is in use. */
  limit(group: GroupFiles, limits: GroupLimits): void;
  /** Names of top groups, of any spawner. */
  list(): string[];
  /** The top group with that name, for removal. */
  find(name: string): GroupTree;
  totals(): CgroupTotals;
  /** Undoes what opening did, except for the top group. */
  close(): void;
}

/** Groups that are removed together. */
export interface GroupTree {
  /** Directories, children before parents. */
  readonly dirs: readonly string[];
  /** Kills every process in it. */
  kill(): void;
}

export interface GroupFiles extends GroupTree {
  /** A process joins by writing `0` into these files. */
  readonly joinFiles: readonly string[];
  /** How often the kernel killed for memory (including the total limit) and how often it refused a process. */
  events(): { oomKills: number; pidsRefused: number };
}

/** The operations on a cgroup file system, so that tests can check their order against a model of the kernel. */
export interface CgroupFiles {
  exists(path: string): boolean;
  /** Empty if the file does not exist. */
  read(path: string): string;
  /** Throws the system's error. */
  write(path: string, text: string): void;
  /** Throws the system's error. */
  makeDir(path: string): void;
  /** True if it is gone; false while something is in it. */
  removeDir(path: string): boolean;
  listDirs(path: string): string[];
}

export const hostCgroupFiles: CgroupFiles = {
  exists: existsSync,
  read(path) {
    try {
      return readFileSync(path, 'utf8');
    } catch (cause) {
      if (isErrno(cause)) return '';
      throw cause;
    }
  },
  write: (path, text) => writeFileSync(path, text, { flag: 'w' }),
  makeDir: (path) => mkdirSync(path),
  removeDir(path) {
    try {
      rmdirSync(path);
      return true;
    } catch (cause) {
      if (isErrno(cause, 'ENOENT')) return true;
      if (isErrno(cause)) return false;
      throw cause;
    }
  },
  listDirs(path) {
    try {
      return readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
    } catch (cause) {
      if (isErrno(cause)) return [];
      throw cause;
    }
  },
};

/** A directory with everything below it, children before parents. */
export function withChildren(dir: string, files: CgroupFiles): string[] {
  return [...files.listDirs(dir).flatMap((name) => withChildren(join(dir, name), files)), dir];
}

/** The number after `key` in a file of `key number` lines; 0 if the key is missing. */
export function counter(text: string, key: string): number {
  for (const line of text.split('\n')) {
    const [name, value] = line.split(' ');
    if (name === key) return Number(value) || 0;
  }
  return 0;
}

/** A file that holds one number: `max` and numbers beyond every machine are Infinity, a missing file is 0. */
export function amount(text: string): number {
  const value = text.trim() === 'max' ? Number.POSITIVE_INFINITY : Number(text);
  return value > Number.MAX_SAFE_INTEGER ? Number.POSITIVE_INFINITY : value || 0;
}

/** Microseconds of processor time in each period; null: no limit. */
export function cpuQuotaUs(cpus: number): number | null {
  return cpus > 0 ? Math.max(CPU_QUOTA_MIN_US, Math.round(cpus * CPU_PERIOD_US)) : null;
}

/** Kills every process listed in a `cgroup.procs` file. */
export function killListed(procs: string): void {
  for (const line of procs.split('\n')) {
    const pid = Number(line);
    if (!Number.isInteger(pid) || pid <= 1 || pid === process.pid) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch (cause) {
      if (!isErrno(cause, 'ESRCH', 'EPERM')) throw cause;
    }
  }
}

/** Start time of a process, in the kernel's ticks since boot; null if the process is gone. */
export type StartTimeOf = (pid: number) => number | null;

const TOP_NAME = /^contextd-(\d+)-([0-9a-f]{12})[0-9a-f]{8}(-home)?$/;

/**
 * `contextd-<pid>-<start time and random, hexadecimal>`: pid and start time identify one process for ever, so the
 * leftovers of a killed spawner are not confused with the group of a later process that got its pid.
 */
export function topGroupName(pid: number, startTimeOf: StartTimeOf = hostStartTimeOf): string {
  const started = (startTimeOf(pid) ?? 0).toString(16).padStart(12, '0');
  return `contextd-${pid}-${started}${randomBytes(4).toString('hex')}`;
}

/** The leaf that v2 moves the spawner into. */
export function homeNameOf(topName: string): string {
  return `${topName}-home`;
}

export function isHome(name: string): boolean {
  return TOP_NAME.exec(name)?.[3] !== undefined;
}

export function isTopGroup(name: string): boolean {
  return TOP_NAME.test(name);
}

/** True for a group whose spawner is dead. */
export function isLeftover(name: string, startTimeOf: StartTimeOf = hostStartTimeOf): boolean {
  const match = TOP_NAME.exec(name);
  return match !== null && startTimeOf(Number(match[1])) !== Number.parseInt(match[2] ?? '', 16);
}

/** Field 22 of /proc/<pid>/stat. */
function hostStartTimeOf(pid: number): number | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '');
    return Number(fields.split(' ')[19]);
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}
