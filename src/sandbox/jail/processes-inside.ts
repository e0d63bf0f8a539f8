import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { isErrno } from '../../core/errors.ts';
import type { CommandUsage } from '../contract/command.ts';

/** The kernel reports times in hundredths of a second and memory in pages. */
const MS_PER_TICK = 10;
const PAGE_BYTES = 4096;

/**
 * The processes in the pid namespace of a sandbox's init, without the init itself, as the host numbers them. A process
 * that ends meanwhile is left out.
 */
export function processesInside(initPid: number): number[] {
  const namespace = namespaceOf(initPid);
  if (namespace === null) return [];
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== initPid && namespaceOf(pid) === namespace);
}

/**
 * The first process that the init started: what contextd runs. What the command leaves behind becomes a child of the init
 * later.
 */
export function firstInside(initPid: number): number | null {
  const [first = ''] = read(`/proc/${initPid}/task/${initPid}/children`).split(' ');
  return first === '' ? null : Number(first);
}

/**
 * Sends a signal to each of them but `helper` and returns how many got it. The namespace is looked up just before each
 * kill, so that the signal does not reach a process of the host that got the number of a process that has ended.
 */
export function signalInside(initPid: number, signal: NodeJS.Signals, helper: number | null = null): number {
  const namespace = namespaceOf(initPid);
  return processesInside(initPid).filter((pid) => pid !== helper && namespaceOf(pid) === namespace && kill(pid, signal))
    .length;
}

/** What they use now. Memory that two processes share counts twice. */
export function usageInside(initPid: number): CommandUsage {
  const pids = processesInside(initPid);
  const used = [initPid, ...pids].map(readUsage);
  return {
    processes: pids.length,
    memoryBytes: used.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0),
    cpuMs: used.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
  };
}

function readUsage(pid: number): { memoryBytes: number; cpuMs: number } {
  // After the name, which may hold blanks: utime, stime, and those of the children that it has waited for.
  const stat = read(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ');
  const ticks = [11, 12, 13, 14].reduce((sum, field) => sum + (Number(stat[field]) || 0), 0);
  const pages = Number(read(`/proc/${pid}/statm`).split(' ')[1]) || 0;
  return { memoryBytes: pages * PAGE_BYTES, cpuMs: ticks * MS_PER_TICK };
}

function kill(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (cause) {
    if (isErrno(cause, 'ESRCH', 'EPERM')) return false;
    throw cause;
  }
}

function namespaceOf(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if (isErrno(cause)) return '';
    throw cause;
  }
}
