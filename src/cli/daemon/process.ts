import { readdir, readFile, readlink, realpath } from 'node:fs/promises';
import type { Paths } from '../../config/paths.ts';
import { isErrno } from '../../core/errors.ts';

/** A zombie, which nobody in a container may ever collect, counts as gone. */
export async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return isErrno(error, 'EPERM');
  }
  const state = /^\d+ \(.*\) (\S)/s.exec((await readProc(pid, 'stat')) ?? '')?.[1];
  return state !== 'Z' && state !== 'X';
}

/** The number may belong to another process by now: its command line must name this installation. */
export async function isOurDaemon(pid: number, installRoot: string): Promise<boolean> {
  const commandLine = await readProc(pid, 'cmdline');
  return commandLine === undefined || commandLine.split('\0').some((word) => word.startsWith(`${installRoot}/`));
}

/** Undefined where there is no /proc. */
async function readProc(pid: number, name: string): Promise<string | undefined> {
  try {
    return await readFile(`/proc/${pid}/${name}`, 'utf8');
  } catch (error) {
    if (isErrno(error)) return undefined;
    throw error;
  }
}

/**
 * The daemon that owns this state although it does not answer: the process of this installation that has the state
 * database open, which only one can. Undefined when there is none, and where there is no /proc.
 */
export async function findDaemon(paths: Pick<Paths, 'stateDb' | 'installRoot'>): Promise<number | undefined> {
  const database = await realpath(paths.stateDb).catch(() => undefined);
  if (database === undefined) return undefined;
  const pids = (await listOrNone('/proc')).map(Number).filter((pid) => Number.isInteger(pid) && pid !== process.pid);
  for (const pid of pids) {
    if ((await hasOpen(pid, database)) && (await isOurDaemon(pid, paths.installRoot))) return pid;
  }
  return undefined;
}

async function hasOpen(pid: number, file: string): Promise<boolean> {
  const directory = `/proc/${pid}/fd`;
  for (const descriptor of await listOrNone(directory)) {
    if ((await readlink(`${directory}/${descriptor}`).catch(() => undefined)) === file) return true;
  }
  return false;
}

/** Nothing for a directory that is gone or belongs to another user. */
async function listOrNone(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isErrno(error)) return [];
    throw error;
  }
}
