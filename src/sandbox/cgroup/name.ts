import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isErrno } from '../../core/errors.ts';

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
