import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import type { SandboxLimits } from '../sandbox.ts';

/** Microseconds over which a share of the processors is counted. */
export const CPU_PERIOD_US = 100_000;
/** The kernel takes no smaller share. */
const CPU_QUOTA_MIN_US = 1000;

/** Processes of the sandbox itself that count: bubblewrap outside and its init inside. */
export const OWN_PROCESSES = 2;

/** What bounds one group. */
export type GroupLimits = Pick<SandboxLimits, 'memoryBytes' | 'pids' | 'cpus'>;

/** What bounds all sandboxes together. */
export interface TotalLimits {
  readonly memoryBytes: number;
  /** Processes and threads, the sandboxes' own two each included. */
  readonly pids: number;
}

/** What all sandboxes together use, and may use. */
export interface CgroupTotals {
  readonly memoryBytes: number;
  readonly memoryMaxBytes: number;
  readonly pids: number;
  readonly pidsMax: number;
}

/** How a backend is opened. */
export interface BackendSetup {
  /** Of the group under which all groups of sandboxes lie. */
  readonly name: string;
  readonly total: TotalLimits;
  /** v2: processes to move aside where they are in the spawner's group: its own, and the daemon's. */
  readonly movedPids: readonly number[];
}

/** How groups are made on this machine. */
export interface CgroupBackend {
  readonly kind: 'v1' | 'v2';
  /** The group over all sandboxes, with everything in it. */
  tree(): GroupTree;
  /** One group for one sandbox, with its limits. */
  create(name: string, limits: GroupLimits): GroupFiles;
  /** Changes the limits of a group. Throws the system's error, such as EBUSY for less memory than is in use. */
  limit(group: GroupFiles, limits: GroupLimits): void;
  /** Names of top groups, made by any spawner. */
  list(): string[];
  /** The top group of that name, for removal. */
  find(name: string): GroupTree;
  totals(): CgroupTotals;
  /** Undoes what opening did, the top group excepted. */
  close(): void;
}

/** Groups to be removed together. */
export interface GroupTree {
  /** Directories, children before parents. */
  readonly dirs: readonly string[];
  /** Kills whatever is in it. */
  kill(): void;
}

export interface GroupFiles extends GroupTree {
  /** Files into which a process writes `0` to join. */
  readonly joinFiles: readonly string[];
  /** How often the kernel killed for memory (the total limit counts too), and refused a process. */
  events(): { oomKills: number; pidsRefused: number };
}

/** The few operations on a cgroup file system, so that the order of steps can be tested against a model of the kernel. */
export interface CgroupFiles {
  exists(path: string): boolean;
  /** Empty when the file is not there. */
  read(path: string): string;
  /** Throws the system's error. */
  write(path: string, text: string): void;
  /** Throws the system's error. */
  makeDir(path: string): void;
  /** True when it is gone; false while something is in it. */
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

/** A directory with all below it, children before parents. */
export function withChildren(dir: string, files: CgroupFiles): string[] {
  return [...files.listDirs(dir).flatMap((name) => withChildren(join(dir, name), files)), dir];
}

/** The number after `key` in a file of `key number` lines; 0 when it is not there. */
export function counter(text: string, key: string): number {
  for (const line of text.split('\n')) {
    const [name, value] = line.split(' ');
    if (name === key) return Number(value) || 0;
  }
  return 0;
}

/** A file that holds one number; `max` and a number past every machine are Infinity, an absent file is 0. */
export function amount(text: string): number {
  const value = text.trim() === 'max' ? Number.POSITIVE_INFINITY : Number(text);
  return value > Number.MAX_SAFE_INTEGER ? Number.POSITIVE_INFINITY : value || 0;
}

/** Microseconds of processor time in each period; null: not limited. */
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

/** Start time of a process, in the kernel's ticks since the system was started; null for one that is gone. */
export type StartTimeOf = (pid: number) => number | null;

const TOP_NAME = /^contextd-(\d+)-([0-9a-f]{12})[0-9a-f]{8}(-home)?$/;

/**
 * `contextd-<pid>-<start time and random, hexadecimal>`: pid and start time name one process for ever, so what a killed
 * spawner left is told from what a later process with its pid made.
 */
export function topGroupName(pid: number, startTimeOf: StartTimeOf = hostStartTimeOf): string {
  const started = (startTimeOf(pid) ?? 0).toString(16).padStart(12, '0');
  return `contextd-${pid}-${started}${randomBytes(4).toString('hex')}`;
}

/** The leaf into which v2 moves the spawner itself. */
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
