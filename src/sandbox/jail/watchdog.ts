import { readdirSync, readFileSync, type StatsFs, statfsSync } from 'node:fs';
import { isErrno } from '../../core/errors.ts';
import { OWN_PROCESSES } from '../machine/cgroup/files.ts';
import type { TemporaryMount } from '../machine/mount-plan.ts';

/** Poll interval in milliseconds. Longer after a slow poll, to use less than a twentieth of a processor. */
const LOOK_EVERY_MS = 200;
const REST_FACTOR = 20;
/** Share of the memory limit above which the exact sum is computed: the cheap sum may be slightly too low. */
const EXACT_FROM = 0.9;
const KIB = 1024;

/** Facts about a process that are cheap to read. */
export interface ProcessGlance {
  readonly threads: number;
  /** Resident bytes; shared pages are counted in full. */
  readonly residentBytes: number;
  /** Further bytes of this process alone: page tables and swapped-out memory. */
  readonly furtherBytes: number;
}

/** Reads facts about a process. Results are null or empty if the process is gone. */
export interface ProcessReader {
  /** Distinguishes a process from a later process with the same pid. */
  startTime(pid: number): string | null;
  glance(pid: number): ProcessGlance | null;
  threadIds(pid: number): readonly number[];
  children(pid: number, thread: number): readonly number[];
  /** Proportional set size (PSS) in bytes; null if it cannot be read. Expensive: the kernel walks the page tables. */
  shareBytes(pid: number): number | null;
  /** Bytes of the in-memory files of the process's sandbox; null if it is not in a sandbox. */
  temporaryBytes(pid: number): number | null;
  /** True if the whole machine is nearly out of memory. */
  isMachineShort(): boolean;
}

export interface WatchOptions {
  /** Host pid of bubblewrap: everything in the sandbox descends from it. */
  readonly rootPid: number;
  readonly memoryBytes: number;
  /** Maximum number of processes and threads of the command, excluding the sandbox's own two. */
  readonly pids: number;
  /** The sandbox's in-memory file systems. */
  readonly temporary: readonly TemporaryMount[];
  /** Called once; ends the watch. */
  onExceeded(what: 'oom' | 'pids'): void;
  /** Aborts when the sandbox has ended. */
  readonly signal: AbortSignal;
}

export interface WatchTools {
  readonly reader: ProcessReader;
  /** Calls `then` after `ms`; returns a function that cancels it. */
  later(ms: number, then: () => void): () => void;
  /** Monotonic milliseconds. */
  now(): number;
}

function hostTools(temporary: readonly TemporaryMount[]): WatchTools {
  return {
    reader: hostReader(temporary),
    later(ms, then) {
      const timer = setTimeout(then, ms).unref();
      return () => clearTimeout(timer);
    },
    now: () => performance.now(),
  };
}

/**
 * Substitute for a cgroup: adds up the memory and processes of a sandbox, and reports if they exceed a limit. In-memory
 * files count; mapped pages of such files count twice. One look costs a few reads per process, and the limit on
 * processes bounds it. The seccomp filter refuses what cannot be counted from outside (docs/decisions/0018).
 */
export function watchTree(options: WatchOptions, tools: WatchTools = hostTools(options.temporary)): void {
  const { signal, rootPid } = options;
  if (signal.aborted) return;
  const startTime = tools.reader.startTime(rootPid);
  const look = (): void => {
    const startedAt = tools.now();
    if (startTime === null || tools.reader.startTime(rootPid) !== startTime) return;
    const exceeded = measure(options, tools.reader);
    if (exceeded !== null) options.onExceeded(exceeded);
    else callOff = tools.later(Math.max(LOOK_EVERY_MS, (tools.now() - startedAt) * REST_FACTOR), look);
  };
  let callOff = tools.later(LOOK_EVERY_MS, look);
  signal.addEventListener('abort', () => callOff(), { once: true });
}

/**
 * The limit that is exceeded now, or null. On a machine without memory every sandbox is over the limit, because it is
 * not known which one used the memory up.
 */
export function measure(
  { rootPid, memoryBytes, pids }: Pick<WatchOptions, 'rootPid' | 'memoryBytes' | 'pids'>,
  reader: ProcessReader,
): 'oom' | 'pids' | null {
  const tree = collect(rootPid, pids + OWN_PROCESSES, reader);
  if (tree === null) return 'pids';
  if (reader.isMachineShort()) return 'oom';
  const held = tree.furtherBytes + filesOf([...tree.resident.keys()], reader);
  const roughly = [...tree.resident.values()].reduce((sum, bytes) => sum + bytes, held);
  if (roughly <= memoryBytes * EXACT_FROM) return null;
  const exactly = [...tree.resident].reduce((sum, [pid, bytes]) => sum + (reader.shareBytes(pid) ?? bytes), held);
  return exactly > memoryBytes ? 'oom' : null;
}

/** All processes inside see the same files. The outermost process is outside, so it is skipped. */
function filesOf([, ...inside]: readonly number[], reader: ProcessReader): number {
  for (const pid of inside) {
    const bytes = reader.temporaryBytes(pid);
    if (bytes !== null) return bytes;
  }
  return 0;
}

interface ProcessTree {
  /** Resident bytes by pid. */
  readonly resident: Map<number, number>;
  readonly furtherBytes: number;
}

/** `root` and all its descendants; null once they have more than `max` threads. */
function collect(root: number, max: number, reader: ProcessReader): ProcessTree | null {
  const resident = new Map([[root, 0]]);
  let furtherBytes = 0;
  let threadCount = 0;
  for (const pid of resident.keys()) {
    const glance = reader.glance(pid);
    if (glance === null) continue;
    threadCount += glance.threads;
    if (threadCount > max) return null;
    resident.set(pid, glance.residentBytes);
    furtherBytes += glance.furtherBytes;
    for (const child of childrenOf(pid, glance.threads, reader)) if (!resident.has(child)) resident.set(child, 0);
  }
  return { resident, furtherBytes };
}

function childrenOf(pid: number, threads: number, reader: ProcessReader): readonly number[] {
  if (threads === 1) return reader.children(pid, pid);
  return reader.threadIds(pid).flatMap((thread) => reader.children(pid, thread));
}

function hostReader(temporary: readonly TemporaryMount[]): ProcessReader {
  return {
    startTime: (pid) => startTimeIn(readText(`/proc/${pid}/stat`)),
    glance: (pid) => glanceIn(readText(`/proc/${pid}/status`)),
    threadIds: (pid) => numbersIn(listNames(`/proc/${pid}/task`)),
    children: (pid, thread) => numbersIn((readText(`/proc/${pid}/task/${thread}/children`) ?? '').split(' ')),
    shareBytes: (pid) => field(readText(`/proc/${pid}/smaps_rollup`), /^Pss:\s+(\d+) kB$/m, KIB),
    temporaryBytes: (pid) => temporaryBytes(pid, temporary),
    isMachineShort: () => isMachineShort(),
  };
}

/** Field 22; null for a zombie. */
function startTimeIn(stat: string | null): string | null {
  const fields = stat?.replace(/^.*\) /s, '').split(' ');
  return fields === undefined || fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
}

/** A zombie is still listed, without memory. */
function glanceIn(status: string | null): ProcessGlance | null {
  const threads = field(status, /^Threads:\s+(\d+)$/m, 1);
  if (threads === null) return null;
  const kib = (name: string): number => field(status, new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm'), KIB) ?? 0;
  return { threads, residentBytes: kib('VmRSS'), furtherBytes: kib('VmPTE') + kib('VmSwap') };
}

function field(text: string | null, pattern: RegExp, unit: number): number | null {
  const value = text === null ? undefined : pattern.exec(text)?.[1];
  return value === undefined ? null : Number(value) * unit;
}

function numbersIn(words: readonly string[]): number[] {
  return words.flatMap((word) => (word === '' ? [] : [Number(word)]));
}

function listNames(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (cause) {
    if (isErrno(cause)) return [];
    throw cause;
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}

const TMPFS_MAGIC = 0x01021994;
/** Bytes the kernel uses per tmpfs file in addition to its content: an inode and a directory entry. */
const FILE_BYTES = 1024;
/** Share of the machine's memory that must be free. Below it, every sandbox without a cgroup is killed. */
const RESERVE = 0.05;

/**
 * Bytes of the in-memory files of the sandbox that `pid` runs in, including deleted files that are still open. Null if
 * the process is gone or the sandbox is not built yet.
 */
function temporaryBytes(pid: number, temporary: readonly TemporaryMount[]): number | null {
  let sum = 0;
  for (const { dest, sizeBytes } of temporary) {
    const found = statOf(`/proc/${pid}/root${dest}`);
    // Until bubblewrap has changed its root, these are host directories.
    if (found === null || found.type !== TMPFS_MAGIC || found.blocks * found.bsize !== sizeBytes) return null;
    sum += (found.blocks - found.bfree) * found.bsize + (found.files - found.ffree) * FILE_BYTES;
  }
  return sum;
}

/**
 * True if the machine is almost out of memory. `meminfo` is the text of /proc/meminfo. The last resort: only this
 * covers pipe and socket buffers and other kernel memory used for a sandbox.
 */
export function isMachineShort(meminfo: string = readFileSync('/proc/meminfo', 'latin1')): boolean {
  const amount = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(meminfo)?.[1] ?? NaN);
  return amount('MemAvailable') + amount('SwapFree') < amount('MemTotal') * RESERVE;
}

function statOf(path: string): StatsFs | null {
  try {
    return statfsSync(path);
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}
