import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import { constants } from 'node:os';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { ContextdError } from '../core/errors.ts';
import { Jail, type JailExit } from './bubblewrap.ts';
import { StreamCapture } from './capture.ts';
import type { GroupFiles } from './cgroup-files.ts';
import type { Launch } from './launch.ts';
import type { PipeEnds } from './pipes.ts';
import { explainFailure } from './probe.ts';
import type { CommandResult, CommandSpec, EndedBy } from './sandbox.ts';

/** Both streams together may say this many times what is kept; a command that says more is killed. */
export const OUTPUT_HARD_FACTOR = 8;
/** Milliseconds a pipe may stay open after every process of the sandbox is dead: somebody else holds it. */
const DRAIN_MS = 250;
const DRAIN_ROUNDS = 20;

type Interruption = 'timeout' | 'cancelled' | 'output_limit';

export interface CommandStreams {
  /** Descriptor, or null for an empty stdin. */
  readonly stdin: number | null;
  readonly stdout: PipeEnds;
  readonly stderr: PipeEnds;
}

/** Runs a prepared sandbox to its end and says how it ended. Takes over the descriptors of `streams`. */
export async function runCommand(
  launch: Launch,
  streams: CommandStreams,
  command: CommandSpec,
  onStart: (jail: Jail) => void,
): Promise<Omit<CommandResult, 'quarantined' | 'durationMs'>> {
  const stdout = new OutputReader(streams.stdout.read, command.outputMaxBytes);
  const stderr = new OutputReader(streams.stderr.read, command.outputMaxBytes);
  const watch = new AbortController();
  try {
    const jail = spawnJail(launch, streams);
    onStart(jail);
    const interruption = interruptions(command, jail, [stdout, stderr], watch.signal);
    const exit = await jail.exited;
    const interruptedBy = interruption();
    watch.abort();
    await Promise.all([stdout.drain(), stderr.drain()]);
    const captured = { stdout: stdout.capture.result(), stderr: stderr.capture.result() };
    return { ...verdict(exit, interruptedBy, launch.group, captured.stderr.head, command), ...captured };
  } finally {
    watch.abort();
    stdout.close();
    stderr.close();
  }
}

/** Spawns, and closes what now belongs to the child: an end of a pipe left open here would never report its end. */
function spawnJail(launch: Launch, streams: CommandStreams): Jail {
  try {
    return new Jail(launch, [streams.stdin ?? 'ignore', streams.stdout.write, streams.stderr.write]);
  } finally {
    for (const fd of [streams.stdin, streams.stdout.write, streams.stderr.write]) if (fd !== null) closeSync(fd);
  }
}

/** Kills on timeout, cancellation or flood; the function returned tells which came first, if one came before the end. */
function interruptions(
  command: CommandSpec,
  jail: Jail,
  readers: readonly OutputReader[],
  until: AbortSignal,
): () => Interruption | null {
  let first: Interruption | null = null;
  const interrupt = (why: Interruption): void => {
    if (until.aborted) return;
    first ??= why;
    jail.kill();
  };
  const timer = setTimeout(() => interrupt('timeout'), command.timeoutMs);
  until.addEventListener('abort', () => clearTimeout(timer), { once: true });
  command.signal.addEventListener('abort', () => interrupt('cancelled'), { signal: until });
  if (command.signal.aborted) interrupt('cancelled');
  const hardMax = command.outputMaxBytes * OUTPUT_HARD_FACTOR;
  for (const reader of readers) {
    reader.onGrowth = () => {
      if (readers.reduce((sum, one) => sum + one.capture.totalBytes, 0) > hardMax) interrupt('output_limit');
    };
  }
  return () => first;
}

type Verdict = Pick<CommandResult, 'exitCode' | 'signal' | 'endedBy'>;

function verdict(
  exit: JailExit,
  interruptedBy: Interruption | null,
  group: GroupFiles | null,
  stderr: Buffer,
  command: CommandSpec,
): Verdict {
  const events = group?.events() ?? { oomKills: 0, pidsRefused: 0 };
  if (exit.ran) return ownEnd(exit.code ?? 0, events);
  if (interruptedBy !== null) return { exitCode: null, signal: 'SIGKILL', endedBy: interruptedBy };
  if (events.oomKills > 0) return { exitCode: null, signal: exit.signal ?? 'SIGKILL', endedBy: 'oom' };
  if (exit.signal !== null) return { exitCode: null, signal: exit.signal, endedBy: 'signal' };
  return neverRan(stderr.toString(), command);
}

/** The command ended by itself, so its exit code is its own; 128 + n is how a shell says signal n. */
function ownEnd(code: number, events: { oomKills: number; pidsRefused: number }): Verdict {
  const signal = signalOf(code);
  const endedBy: EndedBy =
    events.oomKills > 0 ? 'oom' : code !== 0 && events.pidsRefused > 0 ? 'pids' : signal === null ? 'exit' : 'signal';
  return { exitCode: code, signal, endedBy };
}

function signalOf(code: number): NodeJS.Signals | null {
  for (const [name, number] of Object.entries(constants.signals)) {
    if (number === code - 128 && isSignalName(name)) return name;
  }
  return null;
}

function isSignalName(name: string): name is NodeJS.Signals {
  return name.startsWith('SIG');
}

/** All of stderr is the sandbox's own then: the command never ran, so it cannot have written it. */
function neverRan(stderr: string, command: CommandSpec): Verdict {
  const missing = /^bwrap: execvp .*: (No such file or directory|Permission denied|.+)$/m.exec(stderr);
  if (missing !== null) {
    return { exitCode: missing[1] === 'No such file or directory' ? 127 : 126, signal: null, endedBy: 'exit' };
  }
  if (/^bwrap: Can't chdir to /m.test(stderr)) {
    throw new ContextdError('PATH_NOT_FOUND', `the directory ${command.cwd} is not there in the sandbox`, {
      remedy: 'Name a directory inside the workspace.',
    });
  }
  const { missing: why, remedy } = explainFailure(stderr);
  throw new ContextdError('SANDBOX_UNAVAILABLE', why, { remedy, cause: new Error(stderr) });
}

/** Reads one end of a pipe into a capture until it ends, or until told to stop. */
class OutputReader {
  readonly capture: StreamCapture;
  readonly #socket: Socket;
  readonly #ended: Promise<void>;
  onGrowth: () => void = () => {};

  constructor(fd: number, maxBytes: number) {
    this.capture = new StreamCapture(maxBytes);
    this.#socket = new Socket({ fd, readable: true, writable: false });
    this.#ended = new Promise((resolve) => this.#socket.once('close', () => resolve()));
    this.#socket.on('error', () => {});
    this.#socket.on('data', (chunk: Buffer) => {
      this.capture.add(chunk);
      this.onGrowth();
    });
  }

  /**
   * Everything in the pipe is read. A pipe that a process outside of the sandbox holds open does not hold up the answer:
   * it is given up when a whole interval, after which the event loop did look at it, brought nothing.
   */
  async drain(): Promise<void> {
    for (let round = 0, seen = -1; round < DRAIN_ROUNDS && seen !== this.capture.totalBytes; round++) {
      seen = this.capture.totalBytes;
      const timer = new AbortController();
      const waited = delay(DRAIN_MS, undefined, { signal: timer.signal }).then(nextTurn, () => {});
      await Promise.race([this.#ended, waited]);
      timer.abort();
      if (this.#socket.destroyed) return;
    }
    this.#socket.destroy();
  }

  close(): void {
    this.#socket.destroy();
  }
}
