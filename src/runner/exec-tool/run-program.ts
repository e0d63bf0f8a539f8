import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { constants } from 'node:os';
import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { within } from '../../core/deadline.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import type { CapturedStream } from '../../sandbox/contract/command.ts';
import { NODE_BINARY } from '../../sandbox/contract/places.ts';
import { StreamCapture } from '../../sandbox/contract/stream-capture.ts';

/** A program that answers one call. */
export interface ProgramSpec {
  /** Absolute path. */
  entry: string;
  cwd: string;
  /** The whole environment. */
  env: Readonly<Record<string, string>>;
  stdin: string;
  /** Bytes kept of each stream; of a longer stream head and tail are kept. */
  outputMaxBytes: number;
  /** Ends the program: it is asked to, and killed a second later. */
  signal: AbortSignal;
}

export interface ProgramEnd {
  /** As a shell reports it: 128 + n if signal n ended the program. */
  exitCode: number;
  killedBy: NodeJS.Signals | null;
  stdout: CapturedStream;
  stderr: CapturedStream;
}

/** Milliseconds between the request to end and the kill; less than the daemon waits for a cancelled call. */
const GRACE_MS = 1_000;
/** Milliseconds to wait for the end of an output that a process outside the program's group keeps open. */
const LAST_OUTPUT_MS = 500;

let running = 0;

/** Runs the program to its end. Throws TOOL_CRASHED if it cannot be started. Nothing it started is alive afterwards. */
export async function runProgram(spec: ProgramSpec): Promise<ProgramEnd> {
  running += 1;
  try {
    return await run(spec);
  } finally {
    running -= 1;
    if (running === 0) killStrays();
  }
}

async function run({ entry, cwd, env, stdin, outputMaxBytes, signal }: ProgramSpec): Promise<ProgramEnd> {
  signal.throwIfAborted();
  const child = await start(entry, { cwd, env });
  const over = new AbortController();
  signal.addEventListener('abort', () => void endGroup(child, over.signal), { signal: over.signal, once: true });
  const streams = [child.stdout, child.stderr].map((stream) => capture(stream, outputMaxBytes));
  child.stdin?.on('error', () => {});
  child.stdin?.end(stdin);
  const { code, killedBy } = await new Promise<{ code: number | null; killedBy: NodeJS.Signals | null }>((resolve) =>
    child.once('exit', (code, killedBy) => resolve({ code, killedBy })),
  );
  over.abort();
  signalGroup(child, 'SIGKILL');
  const allEnded = Promise.all(streams.map(({ ended }) => ended));
  await within(LAST_OUTPUT_MS, allEnded, () => {});
  const [stdout, stderr] = streams.map(({ result }) => result());
  if (stdout === undefined || stderr === undefined) throw new ContextdError('INTERNAL_ERROR', 'no output was captured');
  return { exitCode: exitCodeOf(code, killedBy), killedBy, stdout, stderr };
}

function exitCodeOf(code: number | null, killedBy: NodeJS.Signals | null): number {
  return killedBy === null ? (code ?? 1) : 128 + constants.signals[killedBy];
}

function start(entry: string, options: { cwd: string; env: Readonly<Record<string, string>> }): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    const child = spawn(entry, [], { ...options, env: { ...options.env }, detached: true, stdio: 'pipe' });
    child.once('spawn', () => resolve(child));
    child.once('error', (cause) => reject(notStarted(entry, cause)));
  });
}

function notStarted(entry: string, cause: Error): ContextdError {
  const code = isErrno(cause) ? cause.code : cause.message;
  return new ContextdError('TOOL_CRASHED', `the program ${basename(entry)} cannot be started (${code})`, {
    remedy:
      'It must be executable, and its first line must name an interpreter that the sandbox has, such as #!/bin/sh.',
    cause,
  });
}

function capture(stream: Readable | null, maxBytes: number): { ended: Promise<void>; result(): CapturedStream } {
  const kept = new StreamCapture(maxBytes);
  const ended = new Promise<void>((resolve) => {
    stream?.on('data', (chunk: Buffer) => kept.add(chunk));
    stream?.once('error', () => resolve());
    stream?.once('close', () => resolve());
  });
  return {
    ended,
    result() {
      stream?.destroy();
      return kept.result();
    },
  };
}

async function endGroup(child: ChildProcess, over: AbortSignal): Promise<void> {
  signalGroup(child, 'SIGTERM');
  await delay(GRACE_MS, undefined, { signal: over }).catch(() => {});
  if (!over.aborted) signalGroup(child, 'SIGKILL');
}

/** The program leads a process group. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined) send(-pid, signal);
}

/**
 * Kills what left its program's group. In the sandbox every process but the first is this one, or was started by a call.
 * Elsewhere nothing is killed.
 */
function killStrays(): void {
  if (process.platform !== 'linux' || readlinkSync('/proc/self/exe') !== NODE_BINARY) return;
  for (const name of readdirSync('/proc')) {
    const pid = /^\d+$/.test(name) ? Number(name) : 0;
    if (pid > 1 && pid !== process.pid) send(pid, 'SIGKILL');
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (thrown) {
    if (!isErrno(thrown, 'ESRCH', 'EPERM')) throw thrown;
  }
}
