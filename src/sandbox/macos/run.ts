import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { within } from '../../core/deadline.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import type { CommandResult, CommandSpec, SteeredCommand } from '../contract/command.ts';
import { StreamCapture } from '../contract/stream-capture.ts';
import { type Interruption, isTooMuch, watchForInterruption } from '../jail/command-end.ts';
import type { StorageLease } from '../storage/storage.ts';

/**
 * Milliseconds that a pipe may stay open without a byte after the group is dead: a process that left the group holds
 * it.
 */
const DRAIN_MS = 250;
const DRAIN_ROUNDS = 20;

/** Follows a command to its end. `keepsInput`: others write its stdin. Throws SANDBOX_UNAVAILABLE if it did not start. */
export async function followGroup(
  group: ProcessGroup,
  command: CommandSpec,
  storage: StorageLease | null = null,
  keepsInput = false,
): Promise<Pick<CommandResult, 'exitCode' | 'signal' | 'endedBy' | 'stdout' | 'stderr'>> {
  const watch = new AbortController();
  const { interrupt, first } = watchForInterruption(command, () => group.kill(), watch.signal);
  storage?.use(() => interrupt('storage_limit'), watch.signal);
  const captures = {
    stdout: new StreamCapture(command.outputMaxBytes),
    stderr: new StreamCapture(command.outputMaxBytes),
  };
  const total = (): number => captures.stdout.totalBytes + captures.stderr.totalBytes;
  const grown = (stream: 'stdout' | 'stderr') => (bytes: Buffer) => {
    command.onOutput?.(stream, bytes);
    if (isTooMuch(total(), command)) interrupt('output_limit');
  };
  try {
    const streams = [
      capture(group.child.stdout, captures.stdout, grown('stdout')),
      capture(group.child.stderr, captures.stderr, grown('stderr')),
    ];
    if (!keepsInput) group.child.stdin?.end(command.stdin ?? undefined);
    const exit = await group.ended;
    const interruptedBy = first();
    watch.abort();
    await drain(streams, total);
    const said = { stdout: captures.stdout.result(), stderr: captures.stderr.result() };
    return { ...verdict(exit, interruptedBy, said.stderr.head), ...said };
  } finally {
    watch.abort();
  }
}

/** Input and signals for a running command. */
export function steer(launched: Promise<ProcessGroup>, ended: Promise<CommandResult>): SteeredCommand {
  const started = launched.then(() => {});
  started.catch(() => {});
  return {
    started,
    ended,
    input: async (data, isEnd) => writeInput((await launched).child.stdin, data, isEnd),
    signal: async (signal) => ((await launched).signal(signal) ? 1 : 0),
    usage: async () => null,
    activity: async () => null,
  };
}

/** Throws CONFLICT if the stdin is closed. */
export function writeInput(stdin: Writable | null, data: Buffer, isEnd: boolean): void {
  if (stdin === null || stdin.destroyed || stdin.writableEnded) {
    throw new ContextdError('CONFLICT', 'its standard input is closed', { remedy: 'Start it again.' });
  }
  if (data.length > 0) stdin.write(data);
  if (isEnd) stdin.end();
}

interface Captured {
  readonly stream: Readable;
  readonly closed: Promise<void>;
}

function capture(stream: Readable | null, into: StreamCapture, onGrowth: (bytes: Buffer) => void): Captured {
  if (stream === null) throw new Error('the command has no output');
  const closed = new Promise<void>((resolve) => stream.once('close', () => resolve()));
  stream.on('error', () => {});
  stream.on('data', (chunk: Buffer) => {
    into.add(chunk);
    onGrowth(chunk);
  });
  return { stream, closed };
}

/** Waits until both streams have ended, or nothing has arrived for a whole interval. */
async function drain(streams: readonly Captured[], total: () => number): Promise<void> {
  const all = Promise.all(streams.map(({ closed }) => closed)).then(() => true);
  for (let round = 0, seen = -1; round < DRAIN_ROUNDS && seen !== total(); round++) {
    seen = total();
    if (await within(DRAIN_MS, all, () => false)) return;
  }
  for (const { stream } of streams) stream.destroy();
}

function verdict(
  exit: GroupExit,
  interruptedBy: Interruption | null,
  stderr: Buffer,
): Pick<CommandResult, 'exitCode' | 'signal' | 'endedBy'> {
  if (interruptedBy !== null) return { exitCode: null, signal: 'SIGKILL', endedBy: interruptedBy };
  if (!exit.started && exit.signal === null) throw notStarted(stderr.toString());
  if (exit.signal === null) return { exitCode: exit.code, signal: null, endedBy: 'exit' };
  return { exitCode: 128 + constants.signals[exit.signal], signal: exit.signal, endedBy: 'signal' };
}

/** All of stderr is from the sandbox. */
export function notStarted(stderr: string): ContextdError {
  const said = stderr.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
  const nested = /sandbox_apply: Operation not permitted/.test(stderr);
  return new ContextdError('SANDBOX_UNAVAILABLE', `sandbox-exec did not start the command${said && `: ${said}`}`, {
    remedy: nested
      ? 'contextd runs in a sandbox itself, and macOS allows no second one: start it outside.'
      : 'Run `ctxd doctor`; if this macOS no longer has sandbox-exec, run contextd in a Linux virtual machine.',
    cause: new Error(stderr),
  });
}

/** Milliseconds for the kernel to end a killed group. */
const DEATH_MAX_MS = 1_000;
const STARTED_FD = 3;

interface GroupExit {
  /** True if the command itself started; otherwise output and code are the sandbox's own. */
  readonly started: boolean;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A command and everything it started that did not leave its process group. */
export class ProcessGroup {
  readonly child: ChildProcess;
  /** Settles when every process of the group is dead. Rejects only if it could not be spawned. */
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

  /** Sends a signal to the group; false if it has ended. */
  signal(signal: NodeJS.Signals): boolean {
    return !this.#over && this.#signal(signal);
  }

  /** Kills the group. Idempotent. */
  kill(): void {
    if (!this.#over) this.#signal('SIGKILL');
  }

  async #follow(): Promise<GroupExit> {
    const marked = closed(this.child.stdio[STARTED_FD]);
    const { code, signal } = await waitForExit(this.child);
    // At once: the group's number is free for others as soon as the group is empty.
    this.#signal('SIGKILL');
    const until = performance.now() + DEATH_MAX_MS;
    for (let round = 0; this.#signal(0) && performance.now() < until; round++) {
      await (round < 20 ? new Promise((resolve) => setImmediate(resolve)) : delay(2));
    }
    this.#over = true;
    await within(100, marked, () => {});
    return { started: this.#started, code, signal };
  }

  /** False if the group no longer exists. */
  #signal(signal: NodeJS.Signals | 0): boolean {
    if (this.child.pid === undefined) return false;
    try {
      return process.kill(-this.child.pid, signal);
    } catch (cause) {
      // EPERM: only zombies of another parent are left, or processes that are not ours.
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
