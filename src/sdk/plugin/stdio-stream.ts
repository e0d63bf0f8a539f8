import type { ServerWritableStream } from '@grpc/grpc-js';
import { _plugin_StdioData_Channel as StdioChannel, type StdioData } from '../../protocol/generated/grpc_stdio.ts';

/** The most bytes kept while nobody reads; further output is dropped and counted. */
const BACKLOG_MAX_BYTES = 1024 * 1024;
/** The most bytes of one message. */
const CHUNK_BYTES = 64 * 1024;

type OutputChannel = typeof StdioChannel.STDOUT | typeof StdioChannel.STDERR;
interface Output {
  channel: OutputChannel;
  data: Buffer;
}

type StdioCall = ServerWritableStream<unknown, StdioData>;
type Done = (error?: Error | null) => void;

/** Sends the output of this process to the host through GRPCStdio. */
export class StdioStream {
  readonly #backlog: Output[] = [];
  #backlogBytes = 0;
  #droppedBytes = 0;
  #call: StdioCall | undefined;
  #isBlocked = false;

  /** Captures everything the process writes from now on, except what Node itself prints when it dies. */
  capture(output: Pick<NodeJS.WriteStream, 'write'>, channel: OutputChannel): void {
    output.write = (chunk: Uint8Array | string, encoding?: BufferEncoding | Done, done?: Done): boolean => {
      const data = typeof chunk === 'string' ? Buffer.from(chunk, encodingOf(encoding)) : Buffer.from(chunk);
      this.#push(channel, data);
      const report = typeof encoding === 'function' ? encoding : done;
      if (report !== undefined) process.nextTick(report);
      return true;
    };
  }

  /** Called when the host starts to read. Returns false if it already reads: only one stream is allowed. */
  attach(call: StdioCall): boolean {
    if (this.#call !== undefined) return false;
    this.#call = call;
    call.on('drain', () => {
      this.#isBlocked = false;
      this.#flush();
    });
    call.on('error', () => {});
    this.#flush();
    return true;
  }

  end(): void {
    this.#call?.end();
  }

  #push(channel: OutputChannel, data: Buffer): void {
    // After a gap nothing may come before the notice that reports it.
    const room = this.#droppedBytes === 0 ? BACKLOG_MAX_BYTES - this.#backlogBytes : 0;
    const kept = data.subarray(0, room);
    this.#droppedBytes += data.length - kept.length;
    this.#backlogBytes += kept.length;
    for (let start = 0; start < kept.length; start += CHUNK_BYTES) {
      this.#backlog.push({ channel, data: kept.subarray(start, start + CHUNK_BYTES) });
    }
    this.#flush();
  }

  #flush(): void {
    while (this.#call !== undefined && !this.#isBlocked) {
      const next = this.#takeNext();
      if (next === undefined) return;
      this.#isBlocked = !this.#call.write(next);
    }
  }

  #takeNext(): Output | undefined {
    const next = this.#backlog.shift();
    this.#backlogBytes -= next?.data.length ?? 0;
    if (next !== undefined || this.#droppedBytes === 0) return next;
    const data = Buffer.from(`[${this.#droppedBytes} bytes of output were dropped]\n`);
    this.#droppedBytes = 0;
    return { channel: StdioChannel.STDERR, data };
  }
}

function encodingOf(encoding: BufferEncoding | Done | undefined): BufferEncoding {
  return typeof encoding === 'string' ? encoding : 'utf8';
}
