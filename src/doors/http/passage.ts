import { withRemedy } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { leftUnread } from '../unread.ts';
import { boundedStream } from './bounded-stream.ts';
import { ANSWER_HEADERS } from './hardening.ts';

export interface PassageDeps {
  /** The message that is answered; empty for a stream that answers none. */
  readonly asked: JsonObject;
  /** Asked before each part. False ends the stream: the token of a stream that lasts may be revoked. */
  isAllowed(): boolean;
  /** Called if the client goes away before the end. */
  onLeft(): void;
  /** Called if the client leaves too much unread: the request must not go on. */
  onUnread(): void;
}

/**
 * The way of an answer to an MCP client. The SDK queues without limit what it sends over HTTP; here the bytes that wait are counted,
 * and a message passes only when the connection has room for it.
 */
export class Passage {
  readonly #stream: TransformStream<Uint8Array, Uint8Array>;
  readonly #farewell: Buffer;
  readonly #onUnread: () => void;
  #next = Promise.withResolvers<void>();

  constructor({ asked: { id }, isAllowed, onLeft, onUnread }: PassageDeps) {
    this.#onUnread = onUnread;
    this.#farewell = id === undefined ? Buffer.alloc(0) : Buffer.from(refusalEvent(id));
    this.#stream = new TransformStream({
      transform: (chunk, controller) => {
        if (isAllowed()) controller.enqueue(chunk);
        else controller.terminate();
        this.#next.resolve();
        this.#next = Promise.withResolvers();
      },
      cancel: onLeft,
    });
  }

  /** Resolves when the next part of the answer passes. */
  next(): Promise<void> {
    return this.#next.promise;
  }

  sent({ body, status, headers }: Response, more: Readonly<Record<string, string>> = {}): Response {
    const session = headers.get('mcp-session-id');
    const bounded = body && boundedStream(body, this.#farewell, this.#onUnread);
    return new Response(bounded?.pipeThrough(this.#stream) ?? null, {
      status,
      headers: {
        ...ANSWER_HEADERS,
        'content-type': headers.get('content-type') ?? 'application/json',
        ...(session === null ? {} : { 'mcp-session-id': session }),
        ...more,
      },
    });
  }
}

/** The last event of a stream that is read too slowly, in place of the answer. */
function refusalEvent(id: JsonObject[string]): string {
  const error = { code: -32_603, message: withRemedy(leftUnread()), data: { error_code: leftUnread().code } };
  return `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, error })}\n\n`;
}
