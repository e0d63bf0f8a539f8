import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import type { Timer } from '../core/clock.ts';
import { isJsonObject } from '../core/json.ts';
import type { RelayFetch } from './relay-fetch.ts';

/** Milliseconds before a stream is opened again, whatever the server asks for. */
const RECONNECT_MIN_MS = 1_000;
const RECONNECT_MAX_MS = 30_000;

type Id = string | number;
type Options = NonNullable<Parameters<StreamableHTTPClientTransport['send']>[1]>;

/**
 * Streamable HTTP of which a request fails as soon as its answer can no longer come: the SDK resumes a stream that has ids of events, and
 * of any other that ends early waits for the time-out.
 */
export class HttpTransport extends StreamableHTTPClientTransport {
  /** Requests without an answer. Aborting one ends its stream. */
  readonly #open = new Map<Id, AbortController>();

  constructor(url: string, { fetch, timer }: { fetch: RelayFetch['fetch']; timer: Timer }) {
    super(new URL(url), {
      fetch,
      reconnectionScheduler: (reconnect, ms) =>
        timer.after(Math.min(RECONNECT_MAX_MS, Math.max(RECONNECT_MIN_MS, ms)), reconnect),
    });
    this.onmessage = (message) => {
      if (!isJSONRPCResultResponse(message) && !isJSONRPCErrorResponse(message)) return;
      if (message.id !== undefined) this.#open.delete(message.id);
    };
  }

  override async send(message: JSONRPCMessage | JSONRPCMessage[], options: Options = {}): Promise<void> {
    if (Array.isArray(message) || !isJSONRPCRequest(message)) {
      // The SDK cancels a request of an older revision by a message, and would go on opening its stream again.
      this.#takeCancelled(message)?.abort();
      return super.send(message, options);
    }
    const { id } = message;
    const ended = new AbortController();
    options.requestSignal?.addEventListener('abort', () => this.#open.delete(id), { once: true });
    this.#open.set(id, ended);
    const { promise: lost, reject } = Promise.withResolvers<never>();
    lost.catch(() => {});
    const onRequestStreamEnd = (): void => {
      options.onRequestStreamEnd?.();
      if (this.#open.delete(id)) reject(new SdkError(SdkErrorCode.ConnectionClosed, 'Connection closed'));
    };
    const signals = options.requestSignal === undefined ? [] : [options.requestSignal];
    const requestSignal = AbortSignal.any([ended.signal, ...signals]);
    try {
      await super.send(message, { ...options, requestSignal, onRequestStreamEnd });
    } catch (thrown) {
      this.#open.delete(id);
      throw thrown;
    }
    // The SDK rejects the request with what this throws, at any time.
    if (this.#open.has(id)) await lost;
  }

  #takeCancelled(message: JSONRPCMessage | JSONRPCMessage[]): AbortController | undefined {
    if (Array.isArray(message) || !('method' in message) || message.method !== 'notifications/cancelled') return;
    const { requestId } = isJsonObject(message.params) ? message.params : {};
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return;
    const taken = this.#open.get(requestId);
    this.#open.delete(requestId);
    return taken;
  }
}
