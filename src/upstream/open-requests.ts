import { untilAborted } from '../core/deadline.ts';
import type { JsonObject } from '../core/json.ts';
import { OpenQuestions } from '../core/open-questions.ts';
import { MAY_ASK, McpError, type McpMessage, type PassedRequest } from '../core/passing.ts';

export interface OpenRequestsOptions {
  /** True: all requests are of one client, so it does not matter which of them a question is for. */
  readonly isSession: boolean;
  /** Called when questions of the process can no longer be told apart. */
  onUndecided(): void;
}

/** What a client answers when a person refuses a request for sampling. */
const REJECTED = -1;

/** The requests that a process of a server works on. Its questions and logs do not say which of them they belong to. */
export class OpenRequests {
  readonly #options: OpenRequestsOptions;
  readonly #open = new Map<PassedRequest, Promise<void>>();
  readonly #questions = new OpenQuestions();
  #hasGivenUp = false;

  constructor(options: OpenRequestsOptions) {
    this.#options = options;
  }

  /** `isGivenUp`: whether a failure leaves the server at work on the request. A cancelled one always does. */
  async run<T>(request: PassedRequest, work: () => Promise<T>, isGivenUp: (thrown: unknown) => boolean): Promise<T> {
    const { signal } = request;
    signal.throwIfAborted();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    this.#open.set(request, ended);
    signal.addEventListener('abort', () => end(), { once: true });
    try {
      return await work();
    } catch (thrown) {
      this.#hasGivenUp ||= signal.aborted || isGivenUp(thrown);
      throw thrown;
    } finally {
      this.#open.delete(request);
      end();
    }
  }

  /** The request that a notification belongs to; undefined if several can be meant, or none. */
  get only(): PassedRequest | undefined {
    const [first, ...others] = this.#open.keys();
    return others.length === 0 && (this.#options.isSession || !this.#hasGivenUp) ? first : undefined;
  }

  /**
   * Puts a question of the server to the client of the call, read or prompt under way. Rejects with McpError if nothing such is under
   * way, if the client does, and unless only one client can be meant. When the request ends first, the server gets the answer of a person who turned the question away.
   */
  ask(message: McpMessage, signal: AbortSignal): Promise<JsonObject> {
    return this.#questions.ask(async () => {
      const asker = this.#asker();
      const ended = new AbortController();
      void Promise.all(this.#asking().map(([, end]) => end)).then(() => ended.abort());
      const withdrawn = AbortSignal.any([signal, ended.signal]);
      try {
        return await untilAborted(asker.client.ask(message, withdrawn), withdrawn);
      } catch (thrown) {
        if (!ended.signal.aborted && !asker.signal.aborted) throw thrown;
        // The server is still at work on it: questions of other calls could not be told from its own.
        if (asker.signal.aborted && !this.#options.isSession) this.#options.onUndecided();
        if (message.method === 'elicitation/create') return { action: 'cancel' };
        throw new McpError(REJECTED, 'the request that the question belonged to has ended');
      }
    });
  }

  /** Those that a question may be for. A list is not: contextd asks for many that no client asked for. */
  #asking(): [PassedRequest, Promise<void>][] {
    return [...this.#open].filter(([{ method }]) => MAY_ASK.has(method));
  }

  #asker(): PassedRequest {
    const [[first] = []] = this.#asking();
    if (first === undefined) throw cannotAsk('no tool is being called, no resource read and no prompt got');
    const why = this.#options.isSession ? null : this.#undecided();
    if (why === null) return first;
    this.#options.onUndecided();
    throw cannotAsk(why);
  }

  /** Why more than one client can be meant. */
  #undecided(): string | null {
    if (this.#open.size > 1)
      return 'several requests are under way, and a question does not say which of them it is for';
    return this.#hasGivenUp ? 'it may be for an earlier request, which was cancelled or took too long' : null;
  }
}

function cannotAsk(why: string): McpError {
  return new McpError(-32_600, `no client can be asked now: ${why}`);
}
