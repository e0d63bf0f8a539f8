import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { isErrno } from '../core/errors.ts';
import type { SandboxLimits } from './sandbox.ts';

/** How groups are made on this machine. */
export interface CgroupBackend {
  readonly kind: 'v1' | 'v2';
  /** One group for one sandbox, with its limits. */
  create(name: string, limits: SandboxLimits): GroupFiles;
  /** Names of groups that `create` made, by any daemon. */
  list(): string[];
  /** The group of that name, for removal. */
  find(name: string): GroupFiles;
  /** Undoes what opening did. */
  close(): void;
}

export interface GroupFiles {
  /** Files into which a process writes `0` to join. */
  readonly joinFiles: readonly string[];
  /** Directories, children before parents. */
  readonly dirs: readonly string[];
  /** How often the kernel killed for memory, and refused a process. */
  events(): { oomKills: number; pidsRefused: number };
  /** Kills whatever is in it. */
  kill(): void;
}

/** Processes of the sandbox itself that count: bubblewrap outside and its init inside. */
export const OWN_PROCESSES = 2;

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

/** The number after `key` in a file of `key number` lines; 0 when it is not there. */
export function counter(text: string, key: string): number {
  for (const line of text.split('\n')) {
    const [name, value] = line.split(' ');
    if (name === key) return Number(value) || 0;
  }
  return 0;
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
