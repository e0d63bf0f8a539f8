import { readdir, readFile, readlink, realpath } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Paths } from '../../config/paths.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { isBelow } from '../../core/paths.ts';
import type { RunningItem__Output as RunningItem } from '../../protocol/generated/management.ts';
import { withClient } from '../client.ts';
import type { CliContext } from '../context.ts';
import { countOf } from '../render.ts';
import { drainMs } from './drain-ms.ts';
import { statusOrAbsent } from './launch.ts';

interface Stopped {
  /** Undefined if no daemon was running. */
  pid: number | undefined;
  /** Calls in flight when it was asked to stop. */
  activeCalls: number;
  /** How many of these calls it ended because they took too long; undefined if it did not say. */
  endedCalls: number | undefined;
  /** Background jobs that ended with it; undefined if it did not say. */
  endedJobs: number | undefined;
  /** False if it had to be stopped by SIGTERM. */
  asked: boolean;
}

export interface StopOptions {
  /** Calls that are ended say that the daemon was restarted. */
  readonly isRestart: boolean;
  /** Called before background jobs would end, if there are any. Throws if the daemon must keep running. */
  confirmJobs(jobs: readonly RunningItem[]): Promise<void>;
}

const POLL_MS = 25;
/** Milliseconds after the drain time in which the daemon's parts must close. */
const CLOSE_MS = 10_000;
const TERM_MS = 10_000;

/** Asks the daemon to stop and waits until it is gone. If it stays, sends SIGTERM to exactly this process. */
export async function stopDaemon(context: CliContext, { isRestart, confirmJobs }: StopOptions): Promise<Stopped> {
  const answering = await answeringPid(context);
  const pid = typeof answering === 'number' ? answering : await findDaemon(context.paths);
  if (pid === undefined) return { pid, activeCalls: 0, endedCalls: 0, endedJobs: 0, asked: true };
  const jobs = typeof answering === 'number' ? await runningJobs(context) : undefined;
  if (jobs !== undefined && jobs.length > 0) await confirmJobs(jobs);
  const endedJobs = jobs?.length;
  const patience = (await drainMs(context)) + CLOSE_MS;
  const answer = answering === 'hangs' ? undefined : await ask(context, isRestart, patience);
  // It may have been replaced since it said who it is.
  const stopped = { pid, ...(answer ?? UNKNOWN), endedJobs };
  if (answer !== undefined && (await isGoneWithin(stopped.pid, patience, context.signal)))
    return { ...stopped, asked: true };
  await terminate(stopped.pid, context);
  return { ...stopped, asked: false };
}

/** The background jobs of all projects; undefined if the daemon does not answer. */
async function runningJobs(context: CliContext): Promise<RunningItem[] | undefined> {
  try {
    const { items } = await withClient(context.paths, (client) => client.listRunning({ project_root: '' }));
    return items.filter(({ kind }) => kind === 'job');
  } catch (error) {
    if (error instanceof ContextdError) return undefined;
    throw error;
  }
}

const UNKNOWN = { activeCalls: 0, endedCalls: undefined };

/** What `ctxd` says about the background jobs that ended; '' if there were no jobs. */
export function describeJobs(endedJobs: number | null): string {
  if (endedJobs === null || endedJobs === 0) return '';
  return `; ${countOf(endedJobs, 'background job')} ended with it`;
}

/** What `ctxd` says about the calls that were in flight; '' if there were no calls. */
export function describeCalls({ activeCalls, endedCalls }: Pick<Stopped, 'activeCalls' | 'endedCalls'>): string {
  if (endedCalls === undefined) return '; what became of its calls is unknown';
  if (activeCalls === 0) return '';
  const waited = `; it waited for ${countOf(activeCalls, 'call')}`;
  if (endedCalls === 0) return waited;
  return `${waited} and ended ${endedCalls} that took longer than server.drain_ms`;
}

/** `unwell`: it answers, and it has no status because its sandboxes cannot be used. */
async function answeringPid(context: CliContext): Promise<number | 'absent' | 'hangs' | 'unwell'> {
  try {
    return (await statusOrAbsent(context))?.pid ?? 'absent';
  } catch (error) {
    if (error instanceof ContextdError && error.code === 'TIMEOUT') return 'hangs';
    if (error instanceof ContextdError && error.code === 'SANDBOX_UNAVAILABLE') return 'unwell';
    throw error;
  }
}

/** What became of the calls in flight, or undefined if the daemon does not answer. */
async function ask(
  context: CliContext,
  isRestart: boolean,
  patienceMs: number,
): Promise<(Pick<Stopped, 'activeCalls' | 'endedCalls'> & { pid?: number }) | undefined> {
  try {
    const answer = await withClient(context.paths, (client) =>
      client.stopServer({ grace_ms: 0, restart: isRestart }, patienceMs),
    );
    return { pid: answer.pid, activeCalls: answer.active_calls, endedCalls: answer.ended_calls };
  } catch (error) {
    // While it is being restarted, it must not be ended by a signal either.
    if (!(error instanceof ContextdError) || error.code === 'CONFLICT') throw error;
    // A daemon that is already stopping has closed its door.
    return error.code === 'DAEMON_UNAVAILABLE' || error.code === 'CANCELLED' ? UNKNOWN : undefined;
  }
}

async function terminate(pid: number, context: CliContext): Promise<void> {
  if (await isOurDaemon(pid, context.paths.installRoot)) {
    process.kill(pid, 'SIGTERM');
    if (await isGoneWithin(pid, TERM_MS, context.signal)) return;
  }
  throw new ContextdError('TIMEOUT', `the daemon (pid ${pid}) is still running`, {
    remedy: `See \`ctxd server logs\`; \`kill -9 ${pid}\` ends it at once.`,
    details: { pid },
  });
}

async function isGoneWithin(pid: number, ms: number, signal: AbortSignal): Promise<boolean> {
  for (const deadline = performance.now() + ms; await isAlive(pid); ) {
    if (performance.now() > deadline) return false;
    await delay(POLL_MS, undefined, { signal });
  }
  return true;
}

/** A zombie counts as gone, because in a container nobody may ever collect it. */
async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return isErrno(error, 'EPERM');
  }
  const state = /^\d+ \(.*\) (\S)/s.exec((await readProc(pid, 'stat')) ?? '')?.[1];
  return state !== 'Z' && state !== 'X';
}

/** The pid may belong to another process by now, so its command line must name this installation. */
async function isOurDaemon(pid: number, installRoot: string): Promise<boolean> {
  const commandLine = await readProc(pid, 'cmdline');
  return commandLine === undefined || commandLine.split('\0').some((word) => isBelow(installRoot, word));
}

/** Undefined if there is no /proc. */
async function readProc(pid: number, name: string): Promise<string | undefined> {
  try {
    return await readFile(`/proc/${pid}/${name}`, 'utf8');
  } catch (error) {
    if (isErrno(error)) return undefined;
    throw error;
  }
}

/**
 * The daemon that owns this state but does not answer: the process of this installation that has the state database
 * open. Only one process can. Undefined if no process has, or if there is no /proc.
 */
async function findDaemon(paths: Pick<Paths, 'stateDb' | 'installRoot'>): Promise<number | undefined> {
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

/** Returns nothing if the directory is gone or belongs to another user. */
async function listOrNone(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isErrno(error)) return [];
    throw error;
  }
}
