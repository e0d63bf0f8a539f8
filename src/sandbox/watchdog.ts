import { existsSync, readdirSync, readFileSync, type StatsFs, statfsSync } from 'node:fs';
import { isErrno } from '../core/errors.ts';
import { OWN_PROCESSES } from './cgroup/files.ts';
import { TEMPORARY } from './policy.ts';

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
  /** Bytes that are its alone and not in memory as pages of it: page tables, and what was swapped out. */
  readonly furtherBytes: number;
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
  /** Bytes of files in memory of the sandbox that the process runs in; null when it runs in none. */
  temporaryBytes(pid: number): number | null;
  /** The whole machine is nearly out of memory. */
  isMachineShort(): boolean;
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
 * Without a cgroup: adds up the memory and the processes of a sandbox, and reports when it has too much. Files in memory
 * count, and a page of one that is mapped counts twice. One look costs a few reads for each process, and never more than
 * the limit on processes allows. What nothing outside could count, the filter refuses (docs/decisions/0018).
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

/** What is exceeded now, if anything. A machine without memory ends every sandbox: whose fault it is cannot be seen. */
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

/** All processes inside see the same files; the outermost one is outside. */
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

/** `root` and every process below it; null when they have more than `max` threads, and then no more of them is read. */
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

function hostReader(): ProcessReader {
  return {
    startTime: (pid) => startTimeIn(readText(`/proc/${pid}/stat`)),
    glance: (pid) => glanceIn(readText(`/proc/${pid}/status`)),
    threadIds: (pid) => numbersIn(listNames(`/proc/${pid}/task`)),
    children: (pid, thread) => numbersIn((readText(`/proc/${pid}/task/${thread}/children`) ?? '').split(' ')),
    shareBytes: (pid) => field(readText(`/proc/${pid}/smaps_rollup`), /^Pss:\s+(\d+) kB$/m, KIB),
    temporaryBytes,
    isMachineShort: () => isMachineShort(),
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
/** What the kernel holds for each file of a tmpfs beside its content: an inode and a directory entry. */
const FILE_BYTES = 1024;
/** Share of the machine's memory below which no sandbox without a cgroup goes on. */
const RESERVE = 0.05;

/**
 * Bytes of the files in memory of the sandbox that `pid` runs in, deleted ones that are still open with them; null when
 * it is gone or not built yet.
 */
function temporaryBytes(pid: number): number | null {
  let sum = 0;
  for (const { dest, sizeBytes } of TEMPORARY) {
    const found = statOf(`/proc/${pid}/root${dest}`);
    // Until bubblewrap has changed its root, these are directories of the host.
    if (found === null || found.type !== TMPFS_MAGIC || found.blocks * found.bsize !== sizeBytes) return null;
    sum += (found.blocks - found.bfree) * found.bsize + (found.files - found.ffree) * FILE_BYTES;
  }
  return sum;
}

/**
 * True when the machine has nearly no memory left, `meminfo` being the text of /proc/meminfo. The last resort: buffers of
 * pipes and sockets, and what else the kernel holds for a sandbox, is in no sum but this one.
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
