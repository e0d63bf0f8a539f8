import { ProtocolError, ProtocolErrorCode, type ServerContext } from '@modelcontextprotocol/server';
import type { JsonObject } from '../core/json.ts';

/** Characters of a line of progress. A client shows it beside a spinner. */
const PROGRESS_MAX_CHARS = 200;

/** Every notification of a call repeats its token. */
const TOKEN_MAX_CHARS = 1_024;

interface ProgressParams extends JsonObject {
  progressToken: string | number;
  progress: number;
  message: string;
}

/**
 * Resolves when the client has taken the next message that is sent after the call of this function. A transport whose `send`
 * waits by itself needs none.
 */
export type NextTaken = () => Promise<void>;

/**
 * Passes the last line of a running command on, no faster than the client reads: one notification is under way, and of all
 * lines that come meanwhile only the newest waits.
 */
export class ProgressSender {
  readonly #send: (params: ProgressParams) => Promise<void>;
  readonly #progressToken: string | number;
  #waiting: ProgressParams | undefined;
  #progress = 0;
  #isSending = false;
  #isEnded = false;

  constructor(progressToken: string | number, send: (params: ProgressParams) => Promise<void>) {
    this.#progressToken = progressToken;
    this.#send = send;
  }

  push(text: string): void {
    if (this.#isEnded) return;
    const message = text.trimEnd().split('\n').at(-1)?.slice(0, PROGRESS_MAX_CHARS) ?? '';
    this.#progress += 1;
    this.#waiting = { progressToken: this.#progressToken, progress: this.#progress, message };
    // A client that went away misses nothing: the answer holds all output.
    if (!this.#isSending) this.#sendWaiting().catch(() => {});
  }

  /** The protocol allows no progress after the answer. */
  end(): void {
    this.#isEnded = true;
    this.#waiting = undefined;
  }

  async #sendWaiting(): Promise<void> {
    this.#isSending = true;
    try {
      for (let params = this.#take(); params !== undefined; params = this.#take()) await this.#send(params);
    } finally {
      this.#isSending = false;
    }
  }

  #take(): ProgressParams | undefined {
    const params = this.#waiting;
    this.#waiting = undefined;
    return params;
  }
}

/** Undefined if the client asked for no progress. Throws InvalidParams for a token that is too long. */
export function progressOf({ mcpReq }: ServerContext, nextTaken: NextTaken): ProgressSender | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  if (String(progressToken).length > TOKEN_MAX_CHARS) {
    const message = `_meta.progressToken has ${String(progressToken).length} characters, the limit is ${TOKEN_MAX_CHARS}`;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  }
  return new ProgressSender(progressToken, async (params) => {
    const taken = nextTaken();
    await mcpReq.notify({ method: 'notifications/progress', params });
    await taken;
  });
}
