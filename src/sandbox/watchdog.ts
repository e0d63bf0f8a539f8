import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isErrno } from '../core/errors.ts';
import { OWN_PROCESSES } from './cgroup/files.ts';

/** Milliseconds between two looks; more when a look takes long, so that looking stays below a twentieth of a processor. */
const LOOK_EVERY_MS = 200;
const REST_FACTOR = 20;
/** Share of the memory limit from which the sum is made exactly: the cheap one may be a little too small. */
const EXACT_FROM = 0.9;
const KIB = 1024;

/** What one look at a process costs little to learn. */
export interface ProcessGlance {
  readonly threads: number;
  /** Bytes in memory, pages shared with others counted in full. */
  readonly residentBytes: number;
}

/** What the watchdog reads of a process; for one that is gone null, or nothing. */
export interface ProcessReader {
  /** Tells a process from a later one with its pid. */
  startTime(pid: number): string | null;
  glance(pid: number): ProcessGlance | null;
  threadIds(pid: number): readonly number[];
  children(pid: number, thread: number): readonly number[];
  /** Bytes in memory, shared pages counted by share; null when it may not be read. Walks the page tables. */
  shareBytes(pid: number): number | null;
}

export interface WatchOptions {
  /** bubblewrap, as the host sees it: everything in the sandbox descends from it. */
  readonly rootPid: number;
  readonly memoryBytes: number;
  /** Processes and threads the command may have; the sandbox's own two come on top. */
  readonly pids: number;
  /** Called once; nothing is watched after it. */
  onExceeded(what: 'oom' | 'pids'): void;
  /** The sandbox is over. */
  readonly signal: AbortSignal;
}

export interface WatchTools {
  readonly reader: ProcessReader;
  /** Calls `then` after `ms`; returns how to call it off. */
  later(ms: number, then: () => void): () => void;
  /** Monotonic milliseconds. */
  now(): number;
}

const hostTools: WatchTools = {
  reader: hostReader(),
  later(ms, then) {
    const timer = setTimeout(then, ms).unref();
    return () => clearTimeout(timer);
  },
  now: () => performance.now(),
};

/** False on a kernel that does not list the children of a process (CONFIG_PROC_CHILDREN): nothing can be watched there. */
export function canWatch(): boolean {
  return existsSync(`/proc/${process.pid}/task/${process.pid}/children`);
}

/**
 * Where no cgroup can: sums the memory and the processes of a sandbox, and tells when it has too much. One look costs
 * a few reads for each process, and never more than the limit on processes allows. Files in /tmp and /dev/shm, which are
 * memory too, have limits of their own and are not in the sum.
 */
export function watchTree(options: WatchOptions, tools: WatchTools = hostTools): void {
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

/** What is exceeded now, if anything. */
export function measure(
  { rootPid, memoryBytes, pids }: Pick<WatchOptions, 'rootPid' | 'memoryBytes' | 'pids'>,
  reader: ProcessReader,
): 'oom' | 'pids' | null {
  const tree = collect(rootPid, pids + OWN_PROCESSES, reader);
  if (tree === null) return 'pids';
  const roughly = [...tree.values()].reduce((sum, bytes) => sum + bytes, 0);
  if (roughly <= memoryBytes * EXACT_FROM) return null;
  const exactly = [...tree].reduce((sum, [pid, bytes]) => sum + (reader.shareBytes(pid) ?? bytes), 0);
  return exactly > memoryBytes ? 'oom' : null;
}

/**
 * The resident bytes of `root` and of every process below it; null when they have more than `max` threads, and then no
 * more of them is read.
 */
function collect(root: number, max: number, reader: ProcessReader): Map<number, number> | null {
  const resident = new Map([[root, 0]]);
  let threadCount = 0;
  for (const pid of resident.keys()) {
    const glance = reader.glance(pid);
    if (glance === null) continue;
    threadCount += glance.threads;
    if (threadCount > max) return null;
    resident.set(pid, glance.residentBytes);
    for (const child of childrenOf(pid, glance.threads, reader)) if (!resident.has(child)) resident.set(child, 0);
  }
  return resident;
}

function childrenOf(pid: number, threads: number, reader: ProcessReader): readonly number[] {
  if (threads === 1) return reader.children(pid, pid);
  return reader.threadIds(pid).flatMap((thread) => reader.children(pid, thread));
}

function hostReader(): ProcessReader {
  return {
    startTime: (pid) => startTimeIn(readText(`/proc/${pid}/stat`)),
    glance: (pid) => glanceIn(readText(`/proc/${pid}/status`)),
    threadIds: (pid) => numbersIn(listNames(`/proc/${pid}/task`)),
    children: (pid, thread) => numbersIn((readText(`/proc/${pid}/task/${thread}/children`) ?? '').split(' ')),
    shareBytes: (pid) => field(readText(`/proc/${pid}/smaps_rollup`), /^Pss:\s+(\d+) kB$/m, KIB),
  };
}

/** Field 22; null for a process that only waits to be reaped. */
function startTimeIn(stat: string | null): string | null {
  const fields = stat?.replace(/^.*\) /s, '').split(' ');
  return fields === undefined || fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
}

/** A process that only waits to be reaped is there still, and has no memory. */
function glanceIn(status: string | null): ProcessGlance | null {
  const threads = field(status, /^Threads:\s+(\d+)$/m, 1);
  return threads === null ? null : { threads, residentBytes: field(status, /^VmRSS:\s+(\d+) kB$/m, KIB) ?? 0 };
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
