import { randomUUID } from 'node:crypto';
import type { PassedAnswer } from '../../call/passing.ts';
import { ContextdError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { McpMessage } from '../../core/passing.ts';
import type { PassedEvent } from '../../protocol/generated/tool.ts';
import { errorIn, messageBytes, objectIn } from '../../protocol/passed-json.ts';
import type { Send } from './event-sender.ts';

/** Questions of servers that clients have not answered. */
export class PassedQuestions {
  readonly #open = new Map<string, PromiseWithResolvers<JsonObject>>();
  #passOn: ((answer: PassedAnswer) => void) | null = null;

  /** Rejects with McpError if the client refuses, and with the reason of the signal. */
  async ask(message: McpMessage, signal: AbortSignal, send: Send<PassedEvent>): Promise<JsonObject> {
    signal.throwIfAborted();
    const id = randomUUID();
    const asked = Promise.withResolvers<JsonObject>();
    const withdraw = (): void => {
      send({ withdrawn: id }, 'vital');
      asked.reject(signal.reason);
    };
    signal.addEventListener('abort', withdraw, { once: true });
    this.#open.set(id, asked);
    send({ question: { id, message_json: messageBytes(message) } }, 'vital');
    try {
      return await asked.promise;
    } finally {
      this.#open.delete(id);
      signal.removeEventListener('abort', withdraw);
    }
  }

  /** Throws ARGS_INVALID for an answer that cannot be read. */
  answer(answer: PassedAnswer): void {
    const asked = this.#open.get(answer.id);
    if (asked === undefined) this.#passOn?.(answer);
    else if (answer.error_json.length > 0) asked.reject(readable(() => errorIn(answer.error_json)));
    else asked.resolve(readable(() => objectIn(answer.result_json)));
  }

  /** Answers to questions that are not of this daemon go to `earlier`: the one before may have asked them. */
  adopt(earlier: (answer: PassedAnswer) => void): void {
    this.#passOn = earlier;
  }
}

export function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    throw new ContextdError('ARGS_INVALID', `cannot pass on ${thrown.message}`, { remedy: 'Send a flatter value.' });
  }
}
