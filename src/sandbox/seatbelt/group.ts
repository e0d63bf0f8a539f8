import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { ContextdError, isErrno } from '../../core/errors.ts';

/** Milliseconds for the kernel to end a killed group. */
const DEATH_MAX_MS = 1_000;
const STARTED_FD = 3;

export interface GroupExit {
  /** The command itself was reached; else what was said and the code are the sandbox's own. */
  readonly started: boolean;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A command and everything it started that did not leave its process group. */
export class ProcessGroup {
  readonly child: ChildProcess;
  /** Settles when nothing of the group is alive. Rejects only when it could not be spawned. */
  readonly ended: Promise<GroupExit>;
  #started = false;
  #over = false;

  constructor(commandLine: readonly string[], options: { cwd: string; env: Readonly<Record<string, string>> }) {
    const [program, ...args] = commandLine;
    this.child = spawn(program ?? '', args, {
      ...options,
      env: { ...options.env },
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      detached: true,
    });
    const mark = this.child.stdio[STARTED_FD];
    mark?.on('data', () => {
      this.#started = true;
    });
    mark?.on('error', () => {});
    this.child.stdin?.on('error', () => {});
    this.ended = this.#follow();
  }

  /** Kills the group. Idempotent. */
  kill(): void {
    if (!this.#over) this.#signal('SIGKILL');
  }

  async #follow(): Promise<GroupExit> {
    const marked = closed(this.child.stdio[STARTED_FD]);
    const { code, signal } = await waitForExit(this.child);
    // The number of a group stays taken while anything is in it; at once, before it could be given anew.
    this.#signal('SIGKILL');
    const until = performance.now() + DEATH_MAX_MS;
    for (let round = 0; this.#signal(0) && performance.now() < until; round++) {
      await (round < 20 ? new Promise((resolve) => setImmediate(resolve)) : delay(2));
    }
    this.#over = true;
    await Promise.race([marked, delay(100, undefined, { ref: false })]);
    return { started: this.#started, code, signal };
  }

  /** False when there is no such group any more. */
  #signal(signal: NodeJS.Signals | 0): boolean {
    if (this.child.pid === undefined) return false;
    try {
      return process.kill(-this.child.pid, signal);
    } catch (cause) {
      // EPERM: only dead processes are left that wait for their parent, or none of ours.
      if (isErrno(cause, 'ESRCH', 'EPERM')) return false;
      throw cause;
    }
  }
}

function closed(stream: { once(event: 'close', listener: () => void): unknown } | null | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (stream == null) resolve();
    else stream.once('close', () => resolve());
  });
}

function waitForExit(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', (cause) =>
      reject(
        new ContextdError('SANDBOX_UNAVAILABLE', `the sandbox could not be spawned: ${cause.message}`, {
          remedy: 'Check that /usr/bin/sandbox-exec is there, and the limits on processes (ulimit -u).',
          cause,
        }),
      ),
    );
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
}
