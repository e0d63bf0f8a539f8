import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { Duplex, type Readable } from 'node:stream';
import { within } from '../../core/deadline.ts';
import { ContextdError } from '../../core/errors.ts';

/** Milliseconds within which the next daemon must be ready to take over. */
const READY_MS = 20_000;
/** Descriptor of the pair in the next daemon. The two behind it are those of the spawner. */
export const PAIR_FD = 3;

export interface Successor {
  readonly pid: number;
  readonly socket: Duplex;
  /** Waits until it has said that it is ready. Throws why it did not start. */
  ready(said: Promise<unknown>): Promise<void>;
  kill(): void;
}

/** Starts the daemon of the installation, which waits for the state of this one. `streams`: of the spawner, if one runs. */
export function startSuccessor(
  { launcher, logFile }: { launcher: string; logFile: string },
  env: Readonly<Record<string, string>>,
  streams: readonly [Duplex, Readable] | null,
): Successor {
  const log = openSync(logFile, 'a', 0o600);
  const logStart = statSync(logFile).size;
  const child = spawn(launcher, ['serve', '--take-over'], {
    cwd: '/',
    detached: true,
    env,
    stdio: ['ignore', 'ignore', log, 'pipe', ...(streams ?? [])],
  });
  closeSync(log);
  child.unref();
  // Node stops reading from a stream that a child inherits.
  for (const stream of streams ?? []) stream.resume();
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(`it ended with ${signal ?? `exit code ${code}`}`));
  });
  const socket = child.stdio[PAIR_FD];
  if (!(socket instanceof Duplex)) throw notStarted('it has no socket');
  return {
    pid: child.pid ?? 0,
    socket,
    async ready(said) {
      const failed = ended.then((reason) => {
        const said = saidSince(logFile, logStart);
        if (said.includes(UNKNOWN_OPTION)) throw cannotHandOver();
        throw notStarted(lastWords(said) ?? reason);
      });
      await within(READY_MS, Promise.race([said, failed]), () => {
        throw notStarted(`it was not ready within ${READY_MS} ms`);
      });
      failed.catch(() => {});
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

/** What a version says that cannot take over. */
const UNKNOWN_OPTION = "unknown option '--take-over'";

function saidSince(file: string, from: number): string {
  return readFileSync(file).subarray(from).toString('utf8');
}

/** The last line for people. */
function lastWords(text: string): string | undefined {
  const lines = text.split('\n').filter((line) => line.startsWith('contextd: '));
  return lines.at(-1)?.slice('contextd: '.length).replace(/\.$/, '').slice(0, 1000);
}

export function notStarted(why: string): ContextdError {
  return new ContextdError('DAEMON_UNAVAILABLE', `the new daemon did not start, and the old one goes on: ${why}`, {
    remedy: 'Nothing was interrupted. See `ctxd server logs`, then restart again.',
    details: { reason: why },
  });
}

export function cannotHandOver(): ContextdError {
  return new ContextdError('NOT_IMPLEMENTED', 'this daemon cannot hand over what runs to a new one', {
    remedy: 'Stop it and start it: `ctxd server stop`, then `ctxd server start`.',
  });
}
