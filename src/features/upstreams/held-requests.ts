import { randomBytes } from 'node:crypto';
import type { Timer } from '../../core/clock.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { McpError, type McpMessage, type PassedRequest } from '../../core/passing.ts';
import type { StoredServer } from '../../stores/upstream-servers.ts';

/** Milliseconds for a client to come back with the answers. */
const HELD_MS = 600_000;
/** Milliseconds after the connection of the client closed. A client may come back on another one. */
const LEFT_MS = 60_000;
const HELD_MAX = 64;

interface Question {
  readonly message: McpMessage;
  answered(result: JsonObject): void;
}

/** A request whose server waits for answers of the client. */
interface Held {
  readonly owner: string;
  readonly project: string;
  /** Of its client. */
  readonly clientKey: string;
  readonly ended: AbortController;
  readonly questions: Map<string, Question>;
  result: Promise<JsonObject>;
  asked: PromiseWithResolvers<void>;
  cancelTimer(): void;
}

/**
 * Carries the questions of a server of an older revision, which asks while it works, to a client of 2026-07-28, which is asked
 * by an answer and sends its request again: the first request stays open at the server. Its name, 128 random bits, goes as
 * `requestState` to the client and back.
 */
export class HeldRequests {
  readonly #timer: Timer;
  readonly #held = new Map<string, Held>();

  constructor(timer: Timer) {
    this.#timer = timer;
  }

  stop(): void {
    for (const state of this.#held.keys()) this.#drop(state);
  }

  /** Cancels the requests of a client that has ended. */
  closeClient(project: string, key: string): void {
    for (const [state, held] of this.#held) if (held.project === project && held.clientKey === key) this.#drop(state);
  }

  /** Sends a request with `send`, and returns its result or the questions that come first. */
  start(
    server: StoredServer,
    request: PassedRequest,
    send: (request: PassedRequest) => Promise<JsonObject>,
  ): Promise<JsonObject> {
    const { requestState, inputResponses: _, ...params } = request.params;
    if (requestState !== undefined) throw unknownState();
    const held: Held = {
      owner: ownerOf(server, request),
      project: server.project,
      clientKey: request.client.key,
      ended: new AbortController(),
      questions: new Map(),
      result: Promise.resolve({}),
      asked: Promise.withResolvers(),
      cancelTimer() {},
    };
    const client = { ...request.client, ask: (message: McpMessage) => ask(held, message, request.client.capabilities) };
    held.result = send({ ...request, params, client, signal: held.ended.signal }).finally(() =>
      held.ended.abort(new Error('the request has ended')),
    );
    return this.#next(held, request);
  }

  /** Null if the request is not one that was held. */
  resume(server: StoredServer, request: PassedRequest): Promise<JsonObject> | null {
    const { requestState, inputResponses } = request.params;
    const held = typeof requestState === 'string' ? this.#held.get(requestState) : undefined;
    if (held === undefined || typeof requestState !== 'string') return null;
    if (held.owner !== ownerOf(server, request)) throw unknownState();
    held.cancelTimer();
    this.#held.delete(requestState);
    for (const [key, answer] of Object.entries(isJsonObject(inputResponses) ? inputResponses : {})) {
      const question = held.questions.get(key);
      if (!isJsonObject(answer) || question === undefined) continue;
      held.questions.delete(key);
      question.answered(answer);
    }
    // What was not answered is asked again.
    const asked: Held['asked'] = Promise.withResolvers();
    if (held.questions.size > 0) asked.resolve();
    held.asked = asked;
    return this.#next(held, request);
  }

  async #next(held: Held, { signal, client: { left } }: Pick<PassedRequest, 'signal' | 'client'>): Promise<JsonObject> {
    const cancel = (): void => held.ended.abort(signal.reason);
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const first = await Promise.race([held.result, held.asked.promise.then(() => null)]);
      if (first !== null) return first;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
    held.result.catch(() => {});
    const state = randomBytes(16).toString('base64url');
    for (const oldest of this.#held.keys()) if (this.#held.size >= HELD_MAX) this.#drop(oldest);
    this.#dropAfter(HELD_MS, state, held);
    this.#held.set(state, held);
    const onLeft = (): void => {
      if (this.#held.get(state) === held) this.#dropAfter(LEFT_MS, state, held);
    };
    if (left?.aborted) onLeft();
    else left?.addEventListener('abort', onLeft, { once: true });
    const inputRequests = Object.fromEntries(Array.from(held.questions, ([key, { message }]) => [key, { ...message }]));
    return { resultType: 'input_required', inputRequests, requestState: state };
  }

  #dropAfter(ms: number, state: string, held: Held): void {
    held.cancelTimer();
    held.cancelTimer = this.#timer.after(ms, () => this.#drop(state));
  }

  #drop(state: string): void {
    const held = this.#held.get(state);
    this.#held.delete(state);
    held?.cancelTimer();
    held?.ended.abort(new Error('its client did not come back'));
  }
}

/** Resolves with the answer of the client, whenever it comes back with it. */
function ask(held: Held, message: McpMessage, capabilities: JsonObject): Promise<JsonObject> {
  const needed = message.method === 'elicitation/create' ? 'elicitation' : message.method.split('/')[0];
  if (needed === undefined || capabilities[needed] === undefined)
    return Promise.reject(new McpError(-32_601, `the client does not support ${message.method}`));
  const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
  const end = (): void => reject(new McpError(-32_603, 'the request that the question belonged to has ended'));
  held.ended.signal.addEventListener('abort', end, { once: true });
  held.questions.set(`q${randomBytes(4).toString('hex')}`, { message, answered: resolve });
  held.asked.resolve();
  return promise;
}

/** A request that another client, or a request for something else, was asked for is not answered by this one. */
function ownerOf({ project, name }: StoredServer, { method, params, client }: PassedRequest): string {
  return JSON.stringify([project, name, client.key, method, params.name ?? params.uri ?? null]);
}

function unknownState(): McpError {
  return new McpError(-32_602, 'requestState is unknown or has expired', { reason: 'invalid_request_state' });
}
