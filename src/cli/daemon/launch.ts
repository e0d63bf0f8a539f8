import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { daemonEnvironment } from '../../config/env.ts';
import { ensureDirectories } from '../../config/paths.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import type { StatusResponse__Output as StatusResponse } from '../../protocol/generated/management.ts';
import { withClient } from '../client.ts';
import type { CliContext } from '../context.ts';

export interface Running {
  status: StatusResponse;
  /** False if it was running already. */
  started: boolean;
}

/** Milliseconds within which a new daemon must answer. */
const READY_MS = 30_000;
const POLL_MS = 20;

/**
 * The status of the daemon, which is started if none answers. Throws DAEMON_UNAVAILABLE with the reason if it does not
 * start.
 */
export async function ensureRunning(context: CliContext): Promise<Running> {
  const status = await statusOrAbsent(context);
  return status === undefined ? { status: await launch(context), started: true } : { status, started: false };
}

/** The status of the daemon, or undefined if none answers. Throws any other error. */
export async function statusOrAbsent(context: CliContext): Promise<StatusResponse | undefined> {
  try {
    return await withClient(context.paths, (client) => client.serverStatus({}));
  } catch (error) {
    if (error instanceof ContextdError && error.code === 'DAEMON_UNAVAILABLE') return undefined;
    throw error;
  }
}

/** Starts the daemon and waits until it answers. */
async function launch(context: CliContext): Promise<StatusResponse> {
  const { paths, env } = context;
  await ensureDirectories(paths);
  const logStart = (await sizeOf(paths.logFile)) ?? 0;
  const end = spawnDaemon(paths.launcher, paths.logFile, daemonEnvironment(env));
  return waitUntilReady(context, end, logStart);
}

/**
 * Starts `contextd serve` in its own session, in `/`, with stderr in the log file, without our other descriptors, and
 * with the environment of `daemonEnvironment` only.
 */
function spawnDaemon(launcher: string, logFile: string, env: Record<string, string>): End {
  const nothing = openSync('/dev/null', 'r+');
  const log = openLog(logFile);
  try {
    const stdio = [nothing, nothing, log, ...inheritedDescriptors().map(() => nothing)];
    const child = spawn(launcher, ['serve', '--replaceable'], { cwd: '/', detached: true, env, stdio });
    child.unref();
    return endOf(child);
  } finally {
    closeSync(nothing);
    closeSync(log);
  }
}

function openLog(logFile: string): number {
  try {
    return openSync(logFile, 'a', 0o600);
  } catch (error) {
    if (!isErrno(error)) throw error;
    throw new ContextdError(
      'DAEMON_UNAVAILABLE',
      `the daemon cannot start: ${logFile} cannot be written (${error.code})`,
      {
        remedy: 'Make its disk and directory writable, then run `ctxd server start`.',
        cause: error,
      },
    );
  }
}

/**
 * Descriptors from 3 to the highest open one. If the daemon kept a pipe of the caller open, its reader would wait
 * forever.
 */
function inheritedDescriptors(): number[] {
  const highest = Math.max(2, ...readdirSync('/dev/fd').map(Number).filter(Number.isInteger));
  return Array.from({ length: highest - 2 }, (_, index) => index + 3);
}

/** Undefined if there is no such file. */
async function sizeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

interface End {
  /** Why it ended, or undefined while it runs. */
  reason: string | undefined;
}

function endOf(child: ChildProcess): End {
  const end: End = { reason: undefined };
  child.once('error', (error) => {
    end.reason = error.message;
  });
  child.once('exit', (code, signal) => {
    end.reason = `it ended with ${signal ?? `exit code ${code}`}`;
  });
  return end;
}

async function waitUntilReady(context: CliContext, end: End, logStart: number): Promise<StatusResponse> {
  const deadline = performance.now() + READY_MS;
  for (;;) {
    // Read before asking: if this daemon lost the race against another start, it has ended and the other one answers.
    const reason = end.reason;
    // Before there is a socket, a connection would cost the processor what the daemon needs to start.
    const status = (await sizeOf(context.paths.socket)) !== undefined ? await statusOrAbsent(context) : undefined;
    if (status !== undefined) return status;
    if (reason !== undefined) throw await notStarted(context, reason, logStart);
    if (performance.now() > deadline) throw await notStarted(context, `no answer within ${READY_MS} ms`, logStart);
    await delay(POLL_MS, undefined, { signal: context.signal });
  }
}

async function notStarted(context: CliContext, reason: string, logStart: number): Promise<ContextdError> {
  const said = await lastWords(context.paths.logFile, logStart);
  return new ContextdError('DAEMON_UNAVAILABLE', `the daemon did not start: ${said ?? reason}`, {
    remedy: `See ${context.paths.logFile}.`,
    details: { reason },
  });
}

/** The last message that a daemon wrote for people after the offset `from`, without the prefix. */
async function lastWords(file: string, from: number): Promise<string | undefined> {
  try {
    const text = (await readFile(file)).subarray(from).toString('utf8');
    const lines = text.split('\n').filter((line) => line.startsWith('contextd: '));
    return lines.at(-1)?.slice('contextd: '.length).replace(/\.$/, '').slice(0, 1000);
  } catch (error) {
    if (isErrno(error)) return undefined;
    throw error;
  }
}
