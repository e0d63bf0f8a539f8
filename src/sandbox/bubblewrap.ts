import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Duplex, type Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { ContextdError, isErrno } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';
import type { Launch } from './launch.ts';
import { coverStrays } from './stray-fds.ts';

/** Its own environment, which shows inside as /proc/1/environ. */
const LAUNCH_ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };
const STATUS_MAX_CHARS = 64 * 1024;
/** Milliseconds for the kernel to end a killed tree; it takes a few. */
const DEATH_MAX_MS = 10_000;

export interface JailExit {
  /** True when the command itself was executed: bubblewrap reports an exit code of its own only then. */
  readonly ran: boolean;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** One sandbox that was started. The descriptors given to it belong to the caller. */
export class Jail {
  readonly child: ChildProcess;
  /** Settles when nothing in the sandbox is alive. Rejects only when it could not be spawned. */
  readonly exited: Promise<JailExit>;
  readonly #launch: Launch;
  #status = '';
  #init: { pid: number; startTime: string } | null = null;
  #over = false;

  /** `stdio`: what descriptors 0 to 2 (and 3, for a channel) are; arguments, status and pins come after them. */
  constructor(launch: Launch, stdio: readonly (number | 'pipe' | 'ignore')[]) {
    this.#launch = launch;
    this.child = coverStrays([...stdio, 'pipe', 'pipe', ...launch.pinnedFds], launch.strayFds, (all) =>
      spawnLaunch(launch, all),
    );
    this.exited = this.#follow(stdio.length);
  }

  /** Kills everything: the group catches a half-built sandbox, bubblewrap's death the rest. */
  kill(): void {
    const pid = this.child.pid;
    if (pid === undefined || this.#over) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch (cause) {
      if (!isErrno(cause, 'ESRCH')) throw cause;
    }
  }

  async #follow(argsFd: number): Promise<JailExit> {
    const ended = waitForExit(this.child);
    const [argsPipe, status] = [this.child.stdio[argsFd], this.child.stdio[argsFd + 1]];
    if (!(argsPipe instanceof Duplex) || !(status instanceof Duplex)) return { ran: false, ...(await ended) };
    argsPipe.on('error', () => {});
    argsPipe.end(this.#launch.args);
    const reported = this.#readStatus(status);
    const exit = await ended;
    this.#over = true;
    await Promise.race([reported, delay(1000, undefined, { ref: false })]);
    status.destroy();
    await this.#waitForDeath();
    const code = this.#reported('exit-code');
    return { ran: code !== null, code: code ?? exit.code, signal: exit.signal };
  }

  #readStatus(status: Readable): Promise<void> {
    status.on('data', (chunk: Buffer) => {
      if (this.#status.length < STATUS_MAX_CHARS) this.#status += chunk.toString();
      const pid = this.#init === null ? this.#reported('child-pid') : null;
      if (pid !== null) this.#init = { pid, startTime: startTimeOf(pid) ?? '' };
    });
    return new Promise((resolve) => {
      status.once('close', resolve);
      status.once('error', resolve);
    });
  }

  /** bubblewrap is gone as soon as the command is; its init, and with it every other process, takes a moment more. */
  async #waitForDeath(): Promise<void> {
    const init = this.#init;
    if (init === null || init.startTime === '') return;
    const until = performance.now() + DEATH_MAX_MS;
    for (let round = 0; startTimeOf(init.pid) === init.startTime; round++) {
      if (performance.now() > until)
        throw new ContextdError('INTERNAL_ERROR', `the sandbox (pid ${init.pid}) does not die`);
      this.#launch.group?.kill();
      await (round < 20 ? new Promise((resolve) => setImmediate(resolve)) : delay(1));
    }
  }

  #reported(key: string): number | null {
    for (const line of this.#status.split('\n')) {
      const value = parseLine(line)[key];
      if (typeof value === 'number') return value;
    }
    return null;
  }
}

/** Detached: a process group of its own, by which a half-built sandbox is killed. Throws PAYLOAD_TOO_LARGE for E2BIG. */
function spawnLaunch(launch: Launch, stdio: StdioOptions): ChildProcess {
  const [command, ...args] = launch.commandLine;
  try {
    return spawn(command ?? '', args, { cwd: '/', env: LAUNCH_ENVIRONMENT, stdio, detached: true });
  } catch (cause) {
    if (!isErrno(cause, 'E2BIG')) throw cause;
    throw new ContextdError('PAYLOAD_TOO_LARGE', 'the arguments of the command are together too long for the system', {
      remedy: 'Write them to a file in the workspace, or give them on stdin.',
      cause,
    });
  }
}

function parseLine(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function waitForExit(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', (cause) =>
      reject(
        new ContextdError('SANDBOX_UNAVAILABLE', `the sandbox could not be spawned: ${cause.message}`, {
          remedy: 'Check the limits on processes and open files of the daemon (ulimit -u, ulimit -n).',
          cause,
        }),
      ),
    );
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
}

/** Field 22 of /proc/<pid>/stat; null for a process that is gone or only waits to be reaped. */
function startTimeOf(pid: number): string | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}
