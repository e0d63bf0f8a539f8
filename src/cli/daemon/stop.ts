import { setTimeout as delay } from 'node:timers/promises';
import { loadConfig } from '../../config/load.ts';
import { ContextdError } from '../../core/errors.ts';
import { withClient } from '../client.ts';
import type { CliContext } from '../context.ts';
import { statusOrAbsent } from './launch.ts';
import { findDaemon, isAlive, isOurDaemon } from './process.ts';

export interface Stopped {
  /** Undefined when no daemon was running. */
  pid: number | undefined;
  /** Calls that were in flight when it was asked. */
  activeCalls: number;
  /** False when it had to be sent SIGTERM. */
  asked: boolean;
}

const POLL_MS = 25;
/** Milliseconds beyond the drain time that the daemon's parts get to close. */
const CLOSE_MS = 10_000;
const TERM_MS = 10_000;

/** Asks the daemon to stop and waits until it is gone; if it stays, SIGTERM to that process and no other. */
export async function stopDaemon(context: CliContext): Promise<Stopped> {
  const pid = (await answeringPid(context)) ?? (await findDaemon(context.paths));
  if (pid === undefined) return { pid, activeCalls: 0, asked: true };
  const activeCalls = await ask(context);
  if (activeCalls !== undefined) {
    const patience = (await drainMs(context)) + CLOSE_MS;
    if (await isGoneWithin(pid, patience, context.signal)) return { pid, activeCalls, asked: true };
  }
  await terminate(pid, context);
  return { pid, activeCalls: activeCalls ?? 0, asked: false };
}

/** Undefined when no daemon answers, be it that there is none or that it hangs. */
async function answeringPid(context: CliContext): Promise<number | undefined> {
  try {
    return (await statusOrAbsent(context))?.pid;
  } catch (error) {
    if (error instanceof ContextdError && error.code === 'TIMEOUT') return undefined;
    throw error;
  }
}

/** Calls in flight; undefined when it does not take the question. */
async function ask(context: CliContext): Promise<number | undefined> {
  try {
    return (await withClient(context.paths, (client) => client.stop(0))).active_calls;
  } catch (error) {
    if (!(error instanceof ContextdError)) throw error;
    // One that is stopping already has closed its door.
    return error.code === 'DAEMON_UNAVAILABLE' || error.code === 'CANCELLED' ? 0 : undefined;
  }
}

/** The configuration may have become invalid since the daemon read it: that must not keep it running. */
async function drainMs(context: CliContext): Promise<number> {
  try {
    return (await loadConfig(context.paths)).server.drain_ms;
  } catch (error) {
    if (error instanceof ContextdError) return 0;
    throw error;
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
