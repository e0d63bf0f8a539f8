import type { ConnectionFact, Traffic } from './messages.ts';

/** What a connection uses and must give up when it ends. */
interface Held {
  destroy(): unknown;
}

export interface ConnectionDeps {
  readonly fact: ConnectionFact;
  /** The addresses that its name led to. */
  readonly addresses: readonly string[];
  /** Called with the bytes that are about to be sent. False: the host takes no more. */
  maySend(bytes: number): boolean;
  onEnd(why: string): void;
}

/** An allowed connection to a host, from its verdict to its end. */
export class Connection {
  readonly fact: ConnectionFact;
  readonly addresses: readonly string[];
  readonly #deps: ConnectionDeps;
  readonly #held: Held[] = [];
  #up = 0;
  #down = 0;
  #isOpen = true;

  constructor(deps: ConnectionDeps) {
    this.fact = deps.fact;
    this.addresses = deps.addresses;
    this.#deps = deps;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get traffic(): Traffic {
    return { id: this.fact.id, up: this.#up, down: this.#down };
  }

  /** Ends `held` when the connection is cut; at once if it has ended. */
  hold(held: Held): void {
    if (this.#isOpen) this.#held.push(held);
    else held.destroy();
  }

  /** False: the bytes must not be sent, and the connection has ended. */
  sending(bytes: number): boolean {
    if (!this.#isOpen) return false;
    if (!this.#deps.maySend(bytes)) {
      this.end('the limit of bytes that may be sent to this host is used up');
      return false;
    }
    this.#up += bytes;
    return true;
  }

  received(bytes: number): void {
    this.#down += bytes;
  }

  /** `why`: a clause, '' if the connection ended by itself. */
  end(why = ''): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    for (const held of this.#held) held.destroy();
    this.#deps.onEnd(why);
  }
}
