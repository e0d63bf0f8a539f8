import type { McpMessage } from '../../core/passing.ts';

/** Returns the messages in their order. */
type Mask = (messages: readonly McpMessage[]) => Promise<readonly McpMessage[]>;

interface Waiting {
  /** Null: nothing is sent, only its turn counts. */
  readonly message: McpMessage | null;
  readonly chars: number;
  readonly signal: AbortSignal | null;
  /** Gets null in its turn if there is no message, or if it cannot be masked. */
  take(masked: McpMessage | null): void;
}

/** What is masked at once: messages, and their characters unless one alone has more. Answers of other calls wait meanwhile. */
const TOGETHER_MAX = { messages: 128, chars: 65_536 } as const;

/**
 * Sends messages masked, in the order in which they come. Those that come while others are being masked are masked together, because a
 * server may send thousands. One that cannot be masked is not sent, and one whose sending throws holds up no other.
 */
export class NoticeQueue {
  readonly #mask: Mask;
  readonly #waiting: Waiting[] = [];
  #isRunning = false;

  constructor(mask: Mask) {
    this.#mask = mask;
  }

  /** A message whose signal aborts before its turn is not sent. */
  push(message: McpMessage, send: (masked: McpMessage) => void, signal: AbortSignal | null = null): void {
    const chars = JSON.stringify(message.params).length;
    this.#add({ message, chars, signal, take: (masked) => masked && send(masked) });
  }

  /** Resolves when what was pushed before has been sent. */
  sent(): Promise<void> {
    return new Promise((resolve) => this.#add({ message: null, chars: 0, signal: null, take: () => resolve() }));
  }

  #add(waiting: Waiting): void {
    this.#waiting.push(waiting);
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const next = this.#waiting.splice(0, this.#together()).map(unlessAborted);
      const masked = (await this.#masked(next.flatMap(({ message }) => message ?? [])))[Symbol.iterator]();
      for (const one of next) deliver(one, one.message && (masked.next().value ?? null));
    }
    this.#isRunning = false;
  }

  /** How many of those that wait are masked next. */
  #together(): number {
    let chars = 0;
    const tooMany = this.#waiting.findIndex((one, at) => {
      chars += one.chars;
      return at >= TOGETHER_MAX.messages || (at > 0 && chars > TOGETHER_MAX.chars);
    });
    return tooMany === -1 ? this.#waiting.length : tooMany;
  }

  async #masked(messages: readonly McpMessage[]): Promise<(McpMessage | null)[]> {
    if (messages.length === 0) return [];
    try {
      return [...(await this.#mask(messages))];
    } catch {
      if (messages.length === 1) return [null];
      const single = messages.map((message) => this.#masked([message]));
      return (await Promise.all(single)).flat();
    }
  }
}

/** The client of one message may be gone, and those of the others must get theirs. */
function deliver({ take }: Waiting, masked: McpMessage | null): void {
  try {
    take(masked);
  } catch {
    // What failed is the connection of that client, which says so itself.
  }
}

/** A flood whose client is gone would be masked for seconds. */
function unlessAborted(waiting: Waiting): Waiting {
  return waiting.signal?.aborted ? { ...waiting, message: null } : waiting;
}
