import { Socket } from 'node:net';
import type { SetAside } from '../../core/envelope.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Activity, CommandSpec, CommandUsage } from '../contract/command.ts';
import type { Jail } from '../jail/bubblewrap.ts';
import { asTyped } from '../jail/pseudo-terminal.ts';
import { openInput } from '../machine/descriptors.ts';
import { ownerOf } from '../machine/identity.ts';
import type { CheckedPolicy } from './checked-policy.ts';

/** Maximum bytes of input buffered for a command that does not read, and for a long-lived program. */
const UNREAD_MAX_BYTES = 1024 * 1024;
export const PROGRAM_UNREAD_MAX_BYTES = 8 * 1024 * 1024;

/** Handles of a command that accepts input and signals while it runs. */
export interface SteeredRun {
  readonly steering: Steering;
  /** Called during the run for each path of the command that was moved away. */
  onFound(found: SetAside): void;
}

export interface SteeringEvents {
  /** Called when the sandbox has started. */
  onStarted(): void;
}

/** Input, signals and resource usage of one running command. Used by the spawner. */
export class Steering {
  readonly #events: SteeringEvents;
  readonly #isTerminal: boolean;
  readonly #unreadMaxBytes: number;
  #jail: Jail | null = null;
  #stdin: Socket | null = null;

  /** On a terminal, input is typed. */
  constructor(events: SteeringEvents, isTerminal: boolean, unreadMaxBytes = UNREAD_MAX_BYTES) {
    this.#events = events;
    this.#isTerminal = isTerminal;
    this.#unreadMaxBytes = unreadMaxBytes;
  }

  /** Takes over the write end of the command's stdin. */
  openInput(fd: number): void {
    this.#stdin = new Socket({ fd, readable: false, writable: true });
    // The command may close its end at any time.
    this.#stdin.on('error', () => this.#stdin?.destroy());
  }

  attach(jail: Jail): void {
    this.#jail = jail;
    this.#events.onStarted();
  }

  /**
   * Writes to stdin, and returns when the pipe has the data, or is full. On a terminal `isEnd` types Ctrl-D, and more input may
   * follow. Throws CONFLICT if stdin is closed: nothing was written. RESOURCE_LIMIT if the command does not read.
   */
  async input(data: Buffer, isEnd: boolean): Promise<void> {
    const stdin = this.#stdin;
    if (stdin === null || stdin.destroyed || stdin.writableEnded) throw closed();
    if (stdin.writableLength + data.length > this.#unreadMaxBytes) {
      throw new ContextdError('RESOURCE_LIMIT', `it has not read the last ${stdin.writableLength} bytes of its input`, {
        remedy: `At most ${this.#unreadMaxBytes} bytes are kept for it. Wait until it reads, or put the input into a file.`,
        details: { limit: this.#unreadMaxBytes },
      });
    }
    const bytes = this.#isTerminal ? asTyped(data, isEnd) : data;
    const isWritten = bytes.length === 0 ? null : written(stdin, bytes);
    if (isEnd && !this.#isTerminal) stdin.end();
    await isWritten;
  }

  /** Sends the signal to every process of the command, as a terminal does. Returns the number of processes. */
  signal(signal: NodeJS.Signals): number {
    return this.#jail?.signal(signal) ?? 0;
  }

  usage(): CommandUsage {
    return this.#jail?.usage() ?? { processes: 0, memoryBytes: 0, cpuMs: 0 };
  }

  activity(): Activity | null {
    return this.#jail?.activity() ?? null;
  }

  close(): void {
    this.#stdin?.destroy();
  }
}

/** A pipe without a reader fails at once. What it takes later, when the command reads, is not waited for. */
function written(stdin: Socket, bytes: Buffer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const isFirst = stdin.writableLength === 0;
  stdin.write(bytes, (failure) => (failure && isFirst ? reject(closed(failure)) : resolve()));
  setImmediate(resolve);
  return promise;
}

function closed(cause?: Error): ContextdError {
  return new ContextdError('CONFLICT', 'its standard input is closed', {
    remedy: 'Start it again without `stdin`, and send input before its end.',
    cause,
  });
}

/** Opens the stdin of a command: a pipe that stays open if the command is steered. The caller closes the descriptor. */
export async function openStdin(
  { host, identity }: CheckedPolicy,
  { stdin }: Pick<CommandSpec, 'stdin'>,
  steering: Steering | null,
): Promise<number | 'ignore'> {
  const owner = ownerOf(identity);
  if (steering === null) return stdin === null ? 'ignore' : openInput(stdin, owner, host.sandboxDir);
  const { read, write } = await host.pipes.takeForInput(owner);
  steering.openInput(write);
  return read;
}
