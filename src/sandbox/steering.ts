import { Socket } from 'node:net';
import type { SetAside } from '../core/envelope.ts';
import { ContextdError } from '../core/errors.ts';
import type { Jail } from './bubblewrap.ts';
import type { CheckedPolicy } from './checked-policy.ts';
import { openInput } from './descriptors.ts';
import { asTyped } from './pseudo-terminal.ts';
import type { Activity, CommandSpec, CommandUsage } from './sandbox.ts';
import { ownerOf } from './starter.ts';

/** Bytes of input that the command has not read and that are kept for it. */
const UNREAD_MAX_BYTES = 1024 * 1024;

/** What a command that others talk to has more than another. */
export interface SteeredRun {
  readonly steering: Steering;
  /** Called for each path that it made and that was moved aside, while it goes on. */
  onFound(found: SetAside): void;
}

export interface SteeringEvents {
  /** The sandbox has been started. */
  onStarted(): void;
}

/** Input and signals for one command while it runs, and what it uses. Used by the spawner. */
export class Steering {
  readonly #events: SteeringEvents;
  readonly #isTerminal: boolean;
  #jail: Jail | null = null;
  #stdin: Socket | null = null;

  /** On a terminal, input is typed. */
  constructor(events: SteeringEvents, isTerminal: boolean) {
    this.#events = events;
    this.#isTerminal = isTerminal;
  }

  /** Takes over the writable end of the command's stdin. */
  openInput(fd: number): void {
    this.#stdin = new Socket({ fd, readable: false, writable: true });
    // The command may close its end at any time.
    this.#stdin.on('error', () => this.#stdin?.destroy());
  }

  attach(jail: Jail): void {
    this.#jail = jail;
    this.#events.onStarted();
  }

  /** Writes to stdin; the end of a terminal's input is Ctrl-D, and more may follow. Throws CONFLICT if it is closed, and RESOURCE_LIMIT if the command does not read it. */
  input(data: Buffer, isEnd: boolean): void {
    const stdin = this.#stdin;
    if (stdin === null || stdin.destroyed || stdin.writableEnded) {
      throw new ContextdError('CONFLICT', 'its standard input is closed', {
        remedy: 'Start it again without `stdin`, and send input before its end.',
      });
    }
    if (stdin.writableLength + data.length > UNREAD_MAX_BYTES) {
      throw new ContextdError('RESOURCE_LIMIT', `it has not read the last ${stdin.writableLength} bytes of its input`, {
        remedy: `At most ${UNREAD_MAX_BYTES} bytes are kept for it. Wait until it reads, or put the input into a file.`,
        details: { limit: UNREAD_MAX_BYTES },
      });
    }
    const bytes = this.#isTerminal ? asTyped(data, isEnd) : data;
    if (bytes.length > 0) stdin.write(bytes);
    if (isEnd && !this.#isTerminal) stdin.end();
  }

  /** Sends the signal to every process of the command, as a terminal does. Returns their number. */
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

/** The stdin of a command: a pipe that stays open if it is steered. The caller closes the descriptor. */
export async function openStdin(
  { host, identity }: CheckedPolicy,
  { stdin }: CommandSpec,
  steering: Steering | null,
): Promise<number | 'ignore'> {
  const owner = ownerOf(identity);
  if (steering === null) return stdin === null ? 'ignore' : openInput(stdin, owner, host.sandboxDir);
  const { read, write } = await host.pipes.takeForInput(owner);
  steering.openInput(write);
  return read;
}
