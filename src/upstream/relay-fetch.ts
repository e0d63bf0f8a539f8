import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import { Allowance } from './allowance.ts';
import { HeldBody } from './held-body.ts';
import type { LastLines } from './last-lines.ts';
import { MESSAGE_BOUNDS, type ServerStreams, sendTo } from './line-transport.ts';

export interface RelayFetchOptions {
  readonly server: string;
  readonly lastLines: LastLines;
  readonly clock: Pick<Clock, 'monotonic'>;
  onBreach(fault: ContextdError): void;
}

/** A request to which no answer came, or not all of it, and why. */
export class NotReached extends TypeError {
  /** False: no connection to the server was made for it. */
  readonly mayHaveArrived: boolean;

  constructor(why: string, mayHaveArrived: boolean) {
    super(why);
    this.mayHaveArrived = mayHaveArrived;
  }
}

/** A request that is on its way. */
interface Open {
  answered(response: Response): void;
  failed(thrown: unknown): void;
  body: ReadableStreamDefaultController<Uint8Array> | null;
  held: HeldBody;
  isEvents: boolean;
}

/** Longest line of the relay. It splits bodies into parts. */
const LINE_MAX_BYTES = 512 * 1024;
const NEWLINE = 0x0a;
/** Answers that have no body. */
const BODILESS = [204, 205, 304];

/**
 * `fetch` whose requests are made by `src/relay` in the sandbox of the server: through the same rules, certificates and
 * credentials as those of every program there, and by code that holds nothing else.
 */
export class RelayFetch {
  readonly #streams: ServerStreams;
  readonly #options: RelayFetchOptions;
  readonly #open = new Map<number, Open>();
  readonly #events: Allowance;
  readonly #messages: Allowance;
  #lastId = 0;
  #rest: Buffer = Buffer.alloc(0);

  constructor(streams: ServerStreams, options: RelayFetchOptions) {
    this.#streams = streams;
    this.#options = options;
    const now = options.clock.monotonic();
    const { unaskedBytes, unaskedBytesPerSecond, unaskedMessages, unaskedMessagesPerSecond } = MESSAGE_BOUNDS;
    this.#events = new Allowance(unaskedBytes, unaskedBytesPerSecond, now);
    this.#messages = new Allowance(unaskedMessages, unaskedMessagesPerSecond, now);
    streams.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    streams.stdout.on('end', () => this.#failAll(new NotReached('the relay ended', true)));
    streams.stderr.on('data', (chunk: Buffer) => options.lastLines.add(chunk));
  }

  async fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const id = ++this.#lastId;
    const request = {
      id,
      url: String(url),
      method: init.method ?? 'GET',
      headers: [...new Headers(init.headers)],
      // The SDK follows redirects itself, within the origin.
      redirect: init.redirect ?? 'error',
      ...(init.body == null ? {} : { body: String(init.body) }),
    };
    const line = Buffer.from(`${JSON.stringify(request)}\n`);
    if (line.length > MESSAGE_BOUNDS.sentBytes)
      throw new ContextdError('PAYLOAD_TOO_LARGE', `the request has ${line.length} bytes`, {
        remedy: `An MCP server gets at most ${MESSAGE_BOUNDS.sentBytes} bytes. Pass less.`,
      });
    init.signal?.throwIfAborted();
    // Its answer is one message that was asked for, whichever stream it comes through.
    if (isRequest(request.body)) this.#messages.give(1);
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    // It may fail while the request is being written.
    promise.catch(() => {});
    this.#open.set(id, { answered: resolve, failed: reject, body: null, held: new HeldBody(false), isEvents: false });
    const abort = (): void => this.#abort(id, init.signal?.reason);
    init.signal?.addEventListener('abort', abort, { once: true });
    await sendTo(this.#streams, line).catch((thrown: unknown) => this.#end(id, thrown));
    return promise;
  }

  #read(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (let end = this.#rest.indexOf(NEWLINE); end >= 0; end = this.#rest.indexOf(NEWLINE)) {
      const line = this.#rest.toString('utf8', 0, end);
      this.#rest = this.#rest.subarray(end + 1);
      try {
        const value: unknown = JSON.parse(line);
        if (isJsonObject(value)) this.#take(value);
      } catch {
        // Whatever a server sent: an error thrown here would end the daemon.
        this.#breach('sent an answer that cannot be read');
      }
    }
    if (this.#rest.length > LINE_MAX_BYTES) this.#breach('sent a line that is too long');
  }

  #take(message: JsonObject): void {
    const id = Number(message.id);
    const open = this.#open.get(id);
    if (open === undefined) return;
    if (typeof message.status === 'number') this.#answer(id, open, message.status, message.headers);
    else if (typeof message.chunk === 'string') this.#body(id, open, Buffer.from(message.chunk, 'base64'));
    else if (typeof message.error === 'string') this.#end(id, new NotReached(message.error, message.sent !== false));
    else if (this.#pass(open, () => open.held.rest())) this.#end(id, null);
  }

  #answer(id: number, open: Open, status: number, entries: unknown): void {
    if (status < 200 || status > 599) {
      this.#end(id, new NotReached(`the server answered with the status ${status}`, true));
      return;
    }
    const headers = new Headers(Array.isArray(entries) ? (entries as [string, string][]) : []);
    open.isEvents = headers.get('content-type')?.toLowerCase().includes('text/event-stream') ?? false;
    open.held = new HeldBody(open.isEvents);
    const body = BODILESS.includes(status)
      ? null
      : new ReadableStream<Uint8Array>({
          start: (controller) => {
            open.body = controller;
          },
          cancel: (reason) => this.#abort(id, reason),
        });
    open.answered(new Response(body, { status, headers }));
  }

  #body(id: number, open: Open, chunk: Buffer): void {
    const isAllowed = !open.isEvents || this.#events.take(chunk.length, this.#options.clock.monotonic());
    if (!isAllowed) this.#breach('sends too much that nothing asked for');
    else if (this.#open.has(id)) this.#pass(open, () => open.held.take(chunk));
  }

  /** False if what the server sent breaks a bound. */
  #pass({ held, body }: Open, ready: () => Buffer): boolean {
    try {
      const bytes = ready();
      if (held.bytes > MESSAGE_BOUNDS.receivedBytes)
        throw new RangeError(`of more than ${MESSAGE_BOUNDS.receivedBytes} bytes`);
      // Before the SDK sees them: it parses all that come together without a pause.
      if (!this.#messages.take(held.takeCount(), this.#options.clock.monotonic())) {
        this.#breach('sends too much that nothing asked for');
        return false;
      }
      if (bytes.length > 0) body?.enqueue(bytes);
      return true;
    } catch (thrown) {
      if (!(thrown instanceof RangeError)) throw thrown;
      this.#breach(`sent a message ${thrown.message}`);
      return false;
    }
  }

  #abort(id: number, reason: unknown): void {
    if (!this.#open.has(id)) return;
    this.#end(id, reason ?? new DOMException('aborted', 'AbortError'));
    void this.#streams.input(Buffer.from(`${JSON.stringify({ abort: id })}\n`)).catch(() => {});
  }

  /** `thrown`: null if the body is complete. */
  #end(id: number, thrown: unknown): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    this.#open.delete(id);
    if (thrown === null) open.body?.close();
    else open.body?.error(thrown);
    open.failed(thrown ?? new TypeError('the answer has no head'));
  }

  #breach(what: string): void {
    const fault = new ContextdError('UPSTREAM_ERROR', `the MCP server ${this.#options.server} ${what}`, {
      remedy: 'It was stopped.',
    });
    this.#options.onBreach(fault);
    this.#failAll(fault);
  }

  #failAll(thrown: unknown): void {
    for (const id of [...this.#open.keys()]) this.#end(id, thrown);
  }
}

/** True for the body of a JSON-RPC request; false for that of a notification or of an answer. */
function isRequest(body: string | undefined): boolean {
  if (body === undefined) return false;
  const message: unknown = JSON.parse(body);
  return isJsonObject(message) && message.method !== undefined && message.id !== undefined;
}
