import { untilAborted } from '../../core/deadline.ts';
import { ContextdError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { McpError, type McpMessage, type PassedRequest } from '../../core/passing.ts';
import type { PassingPort } from '../../mcp/passthrough-server.ts';
import type { McpTool } from '../../mcp/tools.ts';
import type { DaemonCalls } from './daemon-calls.ts';
import {
  answerQuestionRpc,
  decodePassedEvent,
  followServersRpc,
  type PassedEvent,
  passRpc,
} from './passed-messages.ts';

type Request = Pick<PassedRequest, 'method' | 'params' | 'client' | 'signal' | 'notify'>;

/** What servers keep for the client, while the rpc is open. */
interface Following {
  /** The name by which the daemon knows the client. */
  readonly client: Promise<string>;
}

/** How often a request is passed on again to a daemon that does not know its client, because it has just been started. */
const TRIES_MAX = 3;

/**
 * Passes requests of an MCP client on through the daemon. What servers keep for the client lasts as long as one rpc, which is
 * opened before the first request. After a restart of the daemon the next request opens it again, with the level of logging
 * and the subscriptions that the client had.
 */
export class DaemonPassing implements PassingPort {
  readonly #calls: DaemonCalls;
  readonly #onNotice: (message: McpMessage) => void;
  #following: Following | null = null;
  #wasOpen = false;
  /** The last name of the client. */
  #name = '';
  /** The requests that give the servers of the next daemon what they kept, by what they set. */
  readonly #kept = new Map<string, Request>();

  /** `onNotice`: receives what belongs to no request. */
  constructor(calls: DaemonCalls, onNotice: (message: McpMessage) => void) {
    this.#calls = calls;
    this.#onNotice = onNotice;
  }

  call({ toolId }: Pick<McpTool, 'toolId'>, args: JsonObject, request: PassedRequest): Promise<JsonObject> {
    return this.#pass({ ...request, params: { ...request.params, arguments: args } }, toolId);
  }

  async request(request: PassedRequest): Promise<JsonObject> {
    const result = await this.#pass(request, '').catch((thrown: unknown) => {
      // Reading a list again changes nothing.
      if (!request.method.endsWith('/list') || !isInterrupted(thrown)) throw thrown;
      return this.#pass(request, '');
    });
    this.#keep(request);
    return result;
  }

  async #pass(request: Request, toolId: string): Promise<JsonObject> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      this.#following ??= this.#open();
      const following = this.#following;
      const client = await untilAborted(following.client, request.signal);
      const event = await this.#passAs(client, request, toolId);
      if (event.kind === 'result') return event.result;
      if (event.kind === 'error') throw event.error;
      // This daemon has been started since.
      this.#forget(following);
    }
    throw new ContextdError('INTERRUPTED', 'the daemon was restarted while the request was passed on', {
      remedy: 'Send it again.',
    });
  }

  async #passAs(client: string, { signal, notify, ...request }: Request, toolId: string): Promise<PassedEvent> {
    const { isLegacy, capabilities } = request.client;
    const asked = new Map<string, AbortController>();
    const onMessage = (bytes: Buffer): void => {
      const event = decodePassedEvent(bytes);
      if (event.kind === 'notice') notify(event.message);
      else if (event.kind === 'withdrawn') asked.get(event.id)?.abort();
      else if (event.kind === 'question') {
        const withdrawn = new AbortController();
        asked.set(event.id, withdrawn);
        void this.#answer(event, request, withdrawn.signal).finally(() => asked.delete(event.id));
      }
    };
    const { method, params } = request;
    const message = { method, params, client, isLegacy, capabilities, toolId };
    try {
      return await this.#calls.start((context) => passRpc(context, message), signal, onMessage);
    } finally {
      for (const question of asked.values()) question.abort();
    }
  }

  async #answer(
    { id, message }: { id: string; message: McpMessage },
    { client }: Pick<Request, 'client'>,
    signal: AbortSignal,
  ): Promise<void> {
    const answer = await client.ask(message, signal).then(
      (result) => ({ result }),
      (thrown: unknown) => ({
        error: thrown instanceof McpError ? thrown : new McpError(-32_603, 'the client did not answer'),
      }),
    );
    // A daemon that is gone waits for nothing.
    if (!signal.aborted) await this.#calls.reach((context) => answerQuestionRpc(context, id, answer)).catch(() => {});
  }

  #open(): Following {
    const named = Promise.withResolvers<string>();
    const onMessage = (bytes: Buffer): void => {
      const event = decodePassedEvent(bytes);
      if (event.kind === 'client') {
        this.#name = event.client;
        named.resolve(event.client);
      }
      if (event.kind === 'notice') this.#onNotice(event.message);
    };
    const following = { client: named.promise.then((client) => this.#restored(client)) };
    following.client.catch(() => {});
    this.#calls
      .start((context) => followServersRpc(context, this.#name), this.#calls.ended, onMessage)
      .then(() => named.reject(new Error('the daemon named no client')), named.reject)
      .finally(() => this.#forget(following));
    return following;
  }

  #forget(following: Following): void {
    if (this.#following === following) this.#following = null;
  }

  /** Gives new servers what the client had set, and lets it read their lists again. */
  async #restored(client: string): Promise<string> {
    if (!this.#wasOpen) {
      this.#wasOpen = true;
      return client;
    }
    for (const request of this.#kept.values()) await this.#passAs(client, request, '').catch(() => {});
    for (const list of ['resources', 'prompts'])
      this.#onNotice({ method: `notifications/${list}/list_changed`, params: {} });
    return client;
  }

  #keep({ method, params, client }: PassedRequest): void {
    const kept = { method, params, client, signal: this.#calls.ended, notify() {} };
    if (method === 'logging/setLevel') this.#kept.set(method, kept);
    else if (method === 'resources/subscribe') this.#kept.set(String(params.uri), kept);
    else if (method === 'resources/unsubscribe') this.#kept.delete(String(params.uri));
  }
}

function isInterrupted(thrown: unknown): boolean {
  return thrown instanceof ContextdError && thrown.code === 'INTERRUPTED';
}
