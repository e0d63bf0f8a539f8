import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { ContextdError, isErrno } from '../core/errors.ts';
import type { Places } from './places.ts';

/** A daemon that was started from here and may not be listening yet. */
export interface Starting {
  pid: number;
  /** Why it ended, once it has: "exit code 1". */
  ended: string | undefined;
}

/** The directories a start writes in, 0700. Throws DAEMON_UNAVAILABLE naming the one that cannot be made. */
export function prepareDirectories(places: Places): void {
  for (const directory of [places.stateDir, places.runDir]) {
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
    } catch (error) {
      if (!isErrno(error)) throw error;
      throw new ContextdError('DAEMON_UNAVAILABLE', `cannot make the directory ${directory} (${error.code})`, {
        remedy: 'Make its parent writable, or set CONTEXTD_HOME to a directory of your own.',
        details: { path: directory },
      });
    }
  }
}

/**
 * Starts `launcher serve` in a session of its own, in `/`, with nothing of the caller's but `environment`: descriptors
 * above 2 are not inherited, both runtimes see to that. Its stderr goes to the daemon's log. A launcher that cannot be run counts as ended.
 */
export function startDaemon(launcher: string, environment: Record<string, string>, logFile: string): Starting {
  const log = openSync(logFile, 'a', 0o600);
  const stdio = ['ignore' as const, 'ignore' as const, log];
  const child = spawn(launcher, ['serve'], { cwd: '/', env: environment, detached: true, stdio });
  closeSync(log);
  child.unref();
  return watch(child);
}

function watch(child: ChildProcess): Starting {
  const ended = child.pid === undefined ? 'it cannot be run' : undefined;
  const starting: Starting = { pid: child.pid ?? 0, ended };
  child.on('error', (error) => {
    starting.ended = error.message;
  });
  child.on('exit', (code, signal) => {
    starting.ended = signal === null ? `exit code ${code}` : signal;
  });
  return starting;
}
