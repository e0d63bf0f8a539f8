import type { Duplex } from 'node:stream';
import { deserialize, serialize } from 'node:v8';
import { Channel } from '../../core/channel.ts';
import { ContextdError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { packError, unpackError, type WireError } from '../../core/wire-error.ts';
import type { SpawnerFrames } from '../../sandbox/contract/heritage.ts';
import { MessageChannel } from '../../sandbox/contract/spawner-messages.ts';

/** What one daemon does for the other. */
export interface PairEvents {
  /** Answers a request. Arguments and answers are plain data, with what v8.serialize keeps: bytes, maps and sets. */
  answer(name: string, args: readonly unknown[]): Promise<unknown>;
  /** Takes what needs no answer. */
  told(name: string, args: readonly unknown[]): void;
  /** A message to or from the spawner. */
  frame(header: JsonObject, body: Buffer): void;
  /** Called once, when the other daemon is gone. */
  closed(): void;
}

type Header =
  | { kind: 'ask'; id: number; name: string }
  | { kind: 'tell'; name: string }
  | { kind: 'frame'; header: JsonObject }
  | { kind: 'answer'; id: number }
  | { kind: 'error'; id: number; error: WireError };

/**
 * Requests in both directions between a daemon and the one that it started, over a socket without a name: no other process can open
 * it. Both come from the same version of contextd, and nothing is checked but that.
 */
export class Pair implements SpawnerFrames {
  readonly #channel: MessageChannel;
  readonly #asked: Channel<{ name: string; args: readonly unknown[] }, unknown>;
  readonly #events: PairEvents;

  constructor(socket: Duplex, events: PairEvents) {
    this.#events = events;
    this.#asked = new Channel((id, { name, args }) => this.#send({ kind: 'ask', id, name }, serialize(args)));
    this.#channel = new MessageChannel(
      socket,
      // The other daemon wrote it.
      (header, body) => this.#receive(header as unknown as Header, body),
      () => {
        this.#asked.close(gone());
        events.closed();
      },
    );
  }

  ask<T>(name: string, ...args: readonly unknown[]): Promise<T> {
    return this.#asked.ask({ name, args }) as Promise<T>;
  }

  tell(name: string, ...args: readonly unknown[]): void {
    this.#send({ kind: 'tell', name }, serialize(args));
  }

  /** A message to or from the spawner. */
  send(header: object, body?: Buffer): void {
    this.#send({ kind: 'frame', header: header as JsonObject }, body);
  }

  /** True if the other daemon is gone. */
  get isClosed(): boolean {
    return this.#asked.isClosed;
  }

  close(): void {
    this.#channel.close();
  }

  #send(header: Header, body?: Buffer): void {
    this.#channel.send(header, body);
  }

  #receive(header: Header, body: Buffer): void {
    switch (header.kind) {
      case 'ask':
        void this.#answer(header, deserialize(body));
        break;
      case 'tell':
        this.#events.told(header.name, deserialize(body));
        break;
      case 'frame':
        this.#events.frame(header.header, body);
        break;
      case 'answer':
        this.#asked.resolve(header.id, deserialize(body));
        break;
      case 'error':
        this.#asked.reject(header.id, unpackError(header.error));
        break;
    }
  }

  async #answer({ id, name }: Extract<Header, { kind: 'ask' }>, args: readonly unknown[]): Promise<void> {
    try {
      const answer = serialize(await this.#events.answer(name, args));
      this.#send({ kind: 'answer', id }, answer);
    } catch (thrown) {
      this.#send({ kind: 'error', id, error: packError(thrown) });
    }
  }
}

function gone(): ContextdError {
  return new ContextdError('INTERRUPTED', 'the other daemon of a restart ended', {
    remedy: 'Check what the call has done before calling again.',
  });
}
