import type { Readable } from 'node:stream';
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';
import { isDeeperThan } from '../core/json-depth.ts';
import { Allowance } from './allowance.ts';
import type { LastLines } from './last-lines.ts';

/** What one server may send, and what it is sent. */
export const MESSAGE_BOUNDS = {
  receivedBytes: 16 * 1024 * 1024,
  sentBytes: 4 * 1024 * 1024,
  depth: 200,
  /** What it sends without being asked, standard error included: at once, and in each second after that. */
  unaskedBytes: 64 * 1024 * 1024,
  unaskedBytesPerSecond: 1024 * 1024,
  unaskedMessages: 10_000,
  unaskedMessagesPerSecond: 500,
} as const;

/** The streams of a server's process. */
export interface ServerStreams {
  readonly stdout: Readable;
  readonly stderr: Readable;
  input(data: Buffer): Promise<void>;
}

/** A message that the process certainly did not get. */
export class Unsent extends Error {}

/** Throws Unsent if the process has ended or reads no more. */
export async function sendTo({ input }: Pick<ServerStreams, 'input'>, data: Buffer): Promise<void> {
  try {
    await input(data);
  } catch (cause) {
    if (!(cause instanceof ContextdError) || cause.code !== 'CONFLICT') throw cause;
    throw new Unsent(cause.message, { cause });
  }
}

export interface LineTransportOptions {
  readonly server: string;
  readonly lastLines: LastLines;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Called once if the server breaks a bound. Its process must be killed. */
  onBreach(fault: ContextdError): void;
}

type MessageKind = 'answer' | 'unknown answer' | 'other';

const NEWLINE = 0x0a;

/** JSON-RPC messages as lines over the streams of a process. What is not JSON counts as a line of its log. */
export class LineTransport implements Transport {
  /** By these two the SDK tells a process from HTTP: a process that does not answer a probe is an old one, not a dead one. */
  readonly stderr = null;
  readonly pid = null;
  onmessage?: Transport['onmessage'];
  onerror?: (error: Error) => void;
  onclose?: () => void;
  readonly #streams: ServerStreams;
  readonly #options: LineTransportOptions;
  readonly #bytes: Allowance;
  readonly #messages: Allowance;
  /** Requests that were sent and not answered. */
  readonly #asked = new Set<string | number>();
  /** Messages that may not have gone out. */
  readonly #sending = new Set<Promise<void>>();
  #parts: Buffer[] = [];
  #partBytes = 0;
  #isClosed = false;

  constructor(streams: ServerStreams, options: LineTransportOptions) {
    this.#streams = streams;
    this.#options = options;
    const now = options.clock.monotonic();
    const { unaskedBytes, unaskedBytesPerSecond, unaskedMessages, unaskedMessagesPerSecond } = MESSAGE_BOUNDS;
    this.#bytes = new Allowance(unaskedBytes, unaskedBytesPerSecond, now);
    this.#messages = new Allowance(unaskedMessages, unaskedMessagesPerSecond, now);
  }

  async start(): Promise<void> {
    const { stdout, stderr } = this.#streams;
    stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    stdout.on('end', () => void this.close());
    stderr.on('data', (chunk: Buffer) => {
      this.#options.lastLines.add(chunk);
      this.#takeUnasked(chunk.length, 0);
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const line = Buffer.from(`${JSON.stringify(message)}\n`);
    if (line.length > MESSAGE_BOUNDS.sentBytes)
      throw new ContextdError(
        'PAYLOAD_TOO_LARGE',
        `the arguments have ${line.length} bytes; an MCP server gets at most ${MESSAGE_BOUNDS.sentBytes}`,
        { remedy: 'Pass less, or a file that the server can read.', details: { limit: MESSAGE_BOUNDS.sentBytes } },
      );
    if (isJSONRPCRequest(message)) this.#asked.add(message.id);
    else if ('method' in message && message.method === 'notifications/cancelled') this.#forget(message.params);
    const sending = sendTo(this.#streams, line);
    this.#sending.add(sending);
    await sending.finally(() => this.#sending.delete(sending));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#parts = [];
    this.#asked.clear();
    // A request that did not go out fails for that reason, and not because the connection is closed.
    await Promise.allSettled(this.#sending);
    setImmediate(() => this.onclose?.());
  }

  #read(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      this.#keep(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
      this.#line();
      if (this.#isClosed) return;
    }
    this.#keep(rest);
  }

  #keep(part: Buffer): void {
    if (part.length === 0 || this.#isClosed) return;
    this.#parts.push(part);
    this.#partBytes += part.length;
    if (this.#partBytes > MESSAGE_BOUNDS.receivedBytes)
      this.#breach(`sent a message of more than ${MESSAGE_BOUNDS.receivedBytes} bytes`);
  }

  #line(): void {
    const text = Buffer.concat(this.#parts).toString('utf8').trim();
    const bytes = this.#partBytes;
    this.#parts = [];
    this.#partBytes = 0;
    if (text === '' || this.#isClosed) return;
    if (isDeeperThan(MESSAGE_BOUNDS.depth, text)) {
      this.#breach(`sent a message that is nested deeper than ${MESSAGE_BOUNDS.depth}`);
      return;
    }
    const value = parsed(text);
    const messages = Array.isArray(value) ? value.filter(isJsonObject) : isJsonObject(value) ? [value] : [];
    if (messages.length === 0) this.#options.lastLines.line(text);
    const kinds = messages.map((message) => this.#kindOf(message));
    const isAsked = messages.length === 1 && kinds[0] === 'answer';
    if (!isAsked && !this.#takeUnasked(bytes, Math.max(1, messages.length))) return;
    for (const [at, message] of messages.entries()) this.#deliver(message, kinds[at] ?? 'other');
  }

  #deliver(message: unknown, kind: MessageKind): void {
    // A second answer, a late one, or one with an id of its own.
    if (kind === 'unknown answer' || !isMessage(message)) return;
    const deliver = (): void => {
      try {
        this.onmessage?.(message);
      } catch {
        // Whatever a server sent: an error thrown here would end the daemon.
        this.#breach('sent a message that cannot be read');
      }
    };
    // The SDK passes progress on a microtask later, and not at all once the answer is there.
    if (kind === 'answer') queueMicrotask(() => queueMicrotask(deliver));
    else deliver();
  }

  #kindOf(message: unknown): MessageKind {
    if (!isJSONRPCResultResponse(message) && !isJSONRPCErrorResponse(message)) return 'other';
    return message.id !== undefined && this.#asked.delete(message.id) ? 'answer' : 'unknown answer';
  }

  #forget(params: unknown): void {
    if (!isJsonObject(params)) return;
    const { requestId } = params;
    if (typeof requestId === 'string' || typeof requestId === 'number') this.#asked.delete(requestId);
  }

  #takeUnasked(bytes: number, messages: number): boolean {
    const now = this.#options.clock.monotonic();
    const isAllowed = this.#bytes.take(bytes, now) && this.#messages.take(messages, now);
    if (!isAllowed) this.#breach('sends too much that nothing asked for');
    return isAllowed;
  }

  #breach(what: string): void {
    if (this.#isClosed) return;
    const fault = new ContextdError('UPSTREAM_ERROR', `the MCP server ${this.#options.server} ${what}`, {
      remedy: 'It was stopped.',
    });
    this.#options.onBreach(fault);
    void this.close();
  }
}

function isMessage(value: unknown): value is JSONRPCMessage {
  return (
    isJSONRPCRequest(value) ||
    isJSONRPCNotification(value) ||
    isJSONRPCResultResponse(value) ||
    isJSONRPCErrorResponse(value)
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
