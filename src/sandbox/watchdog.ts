import { readdirSync, readFileSync, type StatsFs, statfsSync } from 'node:fs';
import { isErrno } from '../core/errors.ts';
import { OWN_PROCESSES } from './cgroup/files.ts';
import type { TemporaryMount } from './policy.ts';

/**
 * Milliseconds between two looks; longer if a look takes long, so that looking uses less than a twentieth of a
 * processor.
 */
const LOOK_EVERY_MS = 200;
const REST_FACTOR = 20;
/** Share of the memory limit above which the exact sum is computed: the cheap sum may be a little too small. */
const EXACT_FROM = 0.9;
const KIB = 1024;

/** What is cheap to read about a process. */
export interface ProcessGlance {
  readonly threads: number;
  /** Resident bytes; shared pages are counted in full. */
  readonly residentBytes: number;
  /** Further bytes of this process alone: page tables, and what was swapped out. */
  readonly furtherBytes: number;
}

/** What the watchdog reads about a process; null or nothing if the process is gone. */
export interface ProcessReader {
  /** Distinguishes a process from a later process with the same pid. */
  startTime(pid: number): string | null;
  glance(pid: number): ProcessGlance | null;
  threadIds(pid: number): readonly number[];
  children(pid: number, thread: number): readonly number[];
  /** Resident bytes, with shared pages counted by share; null if it may not be read. Walks the page tables. */
  shareBytes(pid: number): number | null;
  /** Bytes of the in-memory files of the sandbox in which the process runs; null if it is in no sandbox. */
  temporaryBytes(pid: number): number | null;
  /** True if the whole machine is nearly out of memory. */
  isMachineShort(): boolean;
}

export interface WatchOptions {
  /** bubblewrap's pid on the host: everything in the sandbox descends from it. */
  readonly rootPid: number;
  readonly memoryBytes: number;
  /** Processes and threads the command may have, without the sandbox's own two. */
  readonly pids: number;
  /** The sandbox's files in memory. */
  readonly temporary: readonly TemporaryMount[];
  /** Called once; the watch ends with it. */
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
 * Without a cgroup: adds up the memory and the processes of a sandbox, and reports if they exceed a limit. In-memory
 * files count, and a mapped page of such a file counts twice. One look costs a few reads per process and never more
 * than the limit on processes allows. The filter refuses what cannot be counted from outside (docs/decisions/0018).
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
 * The limit that is exceeded now, or null. A machine without memory ends every sandbox, because nothing shows which one
 * used it up.
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

/** All processes inside see the same files; the outermost process is outside. */
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

/** `root` and every process below it; null as soon as they have more than `max` threads. */
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

/** Field 22; null if the process only waits to be reaped. */
function startTimeIn(stat: string | null): string | null {
  const fields = stat?.replace(/^.*\) /s, '').split(' ');
  return fields === undefined || fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
}

/** A process that waits to be reaped is still listed and has no memory. */
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
/** What the kernel uses for each file of a tmpfs besides its content: an inode and a directory entry. */
const FILE_BYTES = 1024;
/** Share of the machine's memory that must be free; below it, every sandbox without a cgroup is ended. */
const RESERVE = 0.05;

/**
 * Bytes of the in-memory files of the sandbox that `pid` runs in, including deleted files that are still open; null if
 * it is gone or not built yet.
 */
function temporaryBytes(pid: number, temporary: readonly TemporaryMount[]): number | null {
  let sum = 0;
  for (const { dest, sizeBytes } of temporary) {
    const found = statOf(`/proc/${pid}/root${dest}`);
    // Until bubblewrap has changed its root, these are directories of the host.
    if (found === null || found.type !== TMPFS_MAGIC || found.blocks * found.bsize !== sizeBytes) return null;
    sum += (found.blocks - found.bfree) * found.bsize + (found.files - found.ffree) * FILE_BYTES;
  }
  return sum;
}

/**
 * True if the machine has nearly no memory left; `meminfo` is the text of /proc/meminfo. This is the last resort: no
 * other sum includes the buffers of pipes and sockets and other memory that the kernel uses for a sandbox.
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
