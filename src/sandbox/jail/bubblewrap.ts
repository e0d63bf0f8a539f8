import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Duplex, type Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { within } from '../../core/deadline.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { Activity, CommandUsage } from '../contract/command.ts';
import { coverStrays } from '../machine/descriptors.ts';
import { activityInside } from './activity.ts';
import type { Launch } from './launch.ts';
import type { FileId } from './proc-files.ts';
import { firstInside, signalInside, usageInside } from './processes-inside.ts';

/** Environment of bubblewrap itself, visible inside as /proc/1/environ. */
const LAUNCH_ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };
const STATUS_MAX_CHARS = 64 * 1024;
/** Timeout in milliseconds for the kernel to kill a process tree; usually it takes a few. */
const DEATH_MAX_MS = 10_000;

export interface JailExit {
  /** True if the command itself was executed: bubblewrap reports an exit code on the status descriptor only then. */
  readonly ran: boolean;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The input of a command. */
export interface JailInput {
  /** The pipe that is the stdin of the command or of its terminal; null: no input. */
  readonly stdin: FileId | null;
  /** True: the first process inside is contextd's terminal program, not part of the command. */
  readonly isTerminal: boolean;
}

const NO_INPUT: JailInput = { stdin: null, isTerminal: false };

/** One started sandbox. The caller owns the descriptors passed to it. */
export class Jail {
  readonly child: ChildProcess;
  /**
   * Settles when everything that ran in the sandbox is dead. Rejects only if the sandbox could not be spawned.
   * bubblewrap and its init, which run no code of the command, may live a moment longer: see `gone`.
   */
  readonly ended: Promise<JailExit>;
  /** Settles when the sandbox's own processes are dead too. Never rejects. */
  readonly gone: Promise<void>;
  readonly #launch: Launch;
  #status = '';
  #init: Init | null = null;
  #over = false;
  readonly #input: JailInput;

  /** `stdio` holds descriptors 0 to 2 (and 3 for a script); arguments, status and inherited descriptors follow. */
  constructor(launch: Launch, stdio: readonly (number | 'pipe' | 'ignore')[], input: JailInput = NO_INPUT) {
    this.#launch = launch;
    this.#input = input;
    this.child = coverStrays([...stdio, 'pipe', 'pipe', ...launch.inheritedFds], launch.strayFds, (all) =>
      spawnLaunch(launch, all),
    );
    const exit = waitForExit(this.child).finally(() => {
      this.#over = true;
    });
    const { ended, closed } = this.#follow(stdio.length, exit);
    this.ended = ended;
    this.gone = exit
      .then(() => settledSoon(closed))
      .then(() => this.#waitUntil(isDead))
      .catch(() => {});
  }

  /** False after bubblewrap has ended. */
  get isAlive(): boolean {
    return !this.#over && this.child.pid !== undefined;
  }

  /** Kills the process group: a half-built sandbox, and bubblewrap, whose death kills everything else. */
  kill(): void {
    const pid = this.child.pid;
    if (pid === undefined || this.#over) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch (cause) {
      if (!isErrno(cause, 'ESRCH')) throw cause;
    }
  }

  /** Signals every process of the command, not the sandbox's own ones. Returns the number of processes signaled. */
  signal(signal: NodeJS.Signals): number {
    const init = this.#init;
    return init === null || this.#over || isDead(init) ? 0 : signalInside(init.pid, signal, this.#helperOf(init));
  }

  /** Current activity of the command; null before the sandbox is built and after it ends. */
  activity(): Activity | null {
    const init = this.#init;
    if (init === null || this.#over || isDead(init)) return null;
    return activityInside(init.pid, this.#input.stdin, this.#helperOf(init));
  }

  #helperOf(init: Init): number | null {
    return this.#input.isTerminal ? firstInside(init.pid) : null;
  }

  /** Current resource usage of all processes inside; zeros before the sandbox is built and after it ends. */
  usage(): CommandUsage {
    const init = this.#init;
    if (init === null || this.#over || isDead(init)) return { processes: 0, memoryBytes: 0, cpuMs: 0 };
    return usageInside(init.pid);
  }

  #follow(argsFd: number, exit: Promise<Exit>): { ended: Promise<JailExit>; closed: Promise<void> } {
    const [argsPipe, status] = [this.child.stdio[argsFd], this.child.stdio[argsFd + 1]];
    if (!(argsPipe instanceof Duplex) || !(status instanceof Duplex)) {
      return { ended: exit.then((own) => ({ ran: false, ...own })), closed: Promise.resolve() };
    }
    argsPipe.on('error', () => {});
    argsPipe.end(this.#launch.args);
    const { reported, closed } = this.#readStatus(status);
    const end = Promise.race([reported, exit.then((own) => this.#afterExit(own, closed))]);
    const ended = end.then(async (how) => {
      await this.#waitUntil((init) => childrenOf(init) === '');
      status.destroy();
      return how;
    });
    return { ended, closed };
  }

  /** If bubblewrap exited first, its last report may still be in the pipe. */
  async #afterExit(own: Exit, closed: Promise<void>): Promise<JailExit> {
    await settledSoon(closed);
    const code = this.#reported('exit-code');
    return { ran: code !== null, code: code ?? own.code, signal: own.signal };
  }

  #readStatus(status: Readable): { reported: Promise<JailExit>; closed: Promise<void> } {
    const reported = new Promise<JailExit>((resolve) => {
      status.on('data', (chunk: Buffer) => {
        if (this.#status.length < STATUS_MAX_CHARS) this.#status += chunk.toString();
        const pid = this.#init === null ? this.#reported('child-pid') : null;
        if (pid !== null) this.#init = { pid, startTime: startTimeOf(pid) ?? '' };
        const code = this.#reported('exit-code');
        if (code !== null) resolve({ ran: true, code, signal: null });
      });
    });
    const closed = new Promise<void>((resolve) => {
      status.once('close', resolve);
      status.once('error', resolve);
    });
    return { reported, closed };
  }

  /**
   * Polls until `isSo`. bubblewrap reports the end of the command at once, but processes that the command left behind
   * take a moment to die. If bubblewrap is killed after its init has its own session but before the init is bound to
   * its parent's death, the init survives and is killed here.
   */
  async #waitUntil(isSo: (init: Init) => boolean): Promise<void> {
    const init = this.#init;
    if (init === null || init.startTime === '') return;
    const until = performance.now() + DEATH_MAX_MS;
    for (let round = 0; !isSo(init); round++) {
      if (performance.now() > until)
        throw new ContextdError('INTERNAL_ERROR', `the sandbox (pid ${init.pid}) does not die`);
      this.#launch.group?.kill();
      if (this.#over) killInit(init);
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

/** bubblewrap's first process inside, by its host pid. */
interface Init {
  readonly pid: number;
  readonly startTime: string;
}

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Waits at most a second, because a process that is still alive may hold the descriptor open. */
function settledSoon(closed: Promise<void>): Promise<void> {
  return within(1_000, closed, () => {});
}

function isDead({ pid, startTime }: Init): boolean {
  return startTimeOf(pid) !== startTime;
}

/** The death of a PID namespace's init kills every process in the namespace. */
function killInit(init: Init): void {
  if (isDead(init)) return;
  try {
    process.kill(init.pid, 'SIGKILL');
  } catch (cause) {
    if (!isErrno(cause, 'ESRCH')) throw cause;
  }
}

/** Detached, so that a half-built sandbox can be killed by its process group. Throws PAYLOAD_TOO_LARGE for E2BIG. */
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

function waitForExit(child: ChildProcess): Promise<Exit> {
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

/**
 * Pids of the children of a sandbox's init, separated by spaces. Orphans become children of the init, and the init
 * starts nothing itself, so if it has no children, every process of the sandbox is dead. On a kernel without this file:
 * 'unknown' until the init is gone.
 */
function childrenOf({ pid, startTime }: Init): string {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1');
  } catch (cause) {
    if (!isErrno(cause)) throw cause;
    return isDead({ pid, startTime }) ? '' : 'unknown';
  }
}

/** Field 22 of /proc/<pid>/stat; null if the process is gone or a zombie. */
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
