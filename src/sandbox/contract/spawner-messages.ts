import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Paths } from '../../config/paths.ts';
import type { Config } from '../../config/schema.ts';
import type { SetAside } from '../../core/envelope.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { LogFields } from '../../core/log.ts';
import type { WireError } from '../../core/wire-error.ts';
import type { EgressCommand, EgressEvent } from '../../egress/messages.ts';
import type { QuarantineAction } from '../../guard/contract/quarantine.ts';
import type { CommandSpec, SteeringSignal } from './command.ts';
import type { SandboxPolicy } from './policy.ts';
import type { SandboxProgram, StorageAction } from './sandbox.ts';
import type { SnapshotRequest } from './snapshot-messages.ts';

/** File descriptor of the spawner's socket. */
export const SPAWNER_FD = 3;

/** The first message to the spawner. */
export interface SpawnerSettings {
  paths: Paths;
  config: Config['sandbox'];
}

/**
 * A command without the fields that JSON cannot hold: stdin is the message body, the signal is a separate message, and
 * output is always sent.
 */
export type WireCommand = Omit<CommandSpec, 'stdin' | 'signal' | 'onOutput' | 'run'> & {
  hasStdin: boolean;
  isCancelled: boolean;
  /** True if `input`, `signal`, `usage` and `activity` may follow. */
  isSteered: boolean;
};

/** Sent by the daemon. Both ends come from the same installation and start together, so no version is negotiated. */
export type Request =
  | { op: 'configure'; settings: SpawnerSettings }
  | { op: 'probe'; id: number }
  | { op: 'isolation'; id: number; workspace: string }
  | { op: 'status'; id: number }
  | { op: 'run'; id: number; policy: SandboxPolicy; command: WireCommand }
  | { op: 'cancel'; id: number }
  | { op: 'input'; id: number; run: number; isEnd: boolean }
  | { op: 'signal'; id: number; run: number; signal: SteeringSignal }
  | { op: 'usage'; id: number; run: number }
  | { op: 'activity'; id: number; run: number }
  | { op: 'open'; id: number; policy: SandboxPolicy; program: SandboxProgram }
  | { op: 'kill'; id: number }
  | { op: 'watch'; id: number; policy: SandboxPolicy }
  | { op: 'finish_watch'; id: number; watchId: number }
  | { op: 'quarantine'; id: number; policy: SandboxPolicy; action: QuarantineAction }
  | { op: 'storage'; id: number; action: StorageAction }
  | { op: 'snapshot'; id: number; workspace: string; request: SnapshotRequest | { do: 'drop' } }
  /** The items are JSON in the body, because there may be many. */
  | { op: 'restore'; id: number; policy: SandboxPolicy }
  | { op: 'create_layer'; id: number; policy: SandboxPolicy }
  | { op: 'layer_ability'; id: number; workspace: string }
  | { op: 'remove_layer'; id: number; project: string; branch: string }
  | { op: 'keep_layers'; id: number; live: readonly { project: string; branch: string }[] }
  /** The request is the body. */
  | { op: 'merge'; id: number; policy: SandboxPolicy; branch: string | null }
  /** For the network's proxy process. Neither has a reply. */
  | { op: 'egress'; command: EgressCommand }
  | { op: 'egress_told'; start: number }
  | { op: 'stop'; id: number };

/**
 * Sent to the daemon. `out` carries the bytes as its body; `started` and `found` belong to a steered run, `stale` and
 * `exit` to a program started by `open`; `egress` comes from the proxy process, about the command `run`.
 */
export type Reply =
  | { re: 'ok'; id: number; result: unknown }
  | { re: 'error'; id: number; error: WireError }
  | { re: 'out'; id: number; stream: 'stdout' | 'stderr' }
  | { re: 'started'; id: number }
  | { re: 'found'; id: number; found: readonly SetAside[] }
  | { re: 'stale'; id: number }
  | { re: 'exit'; id: number; code: number | null; signal: NodeJS.Signals | null }
  | { re: 'egress'; event: EgressEvent; run: number | null }
  /** Answered by `egress_told` once the process has all its rules. */
  | { re: 'egress_ready'; start: number }
  | { re: 'log'; level: 'debug' | 'info' | 'warn' | 'error'; event: string; fields: LogFields };

/** A message of the daemon. Only what kind it is is checked: nothing but the other process of contextd holds the other end. */
export function requestOf(header: JsonObject): Request {
  if (!isRequest(header)) throw new Error('the spawner was sent a message without a request');
  return header;
}

function isRequest(header: JsonObject): header is JsonObject & Request {
  return typeof header.op === 'string';
}

/** A message of the spawner, checked as a request is. */
export function replyOf(header: JsonObject): Reply {
  if (!isReply(header)) throw new Error('the spawner sent a message without a reply');
  return header;
}

function isReply(header: JsonObject): header is JsonObject & Reply {
  return typeof header.re === 'string';
}

const LENGTHS_BYTES = 8;

/** Big-endian: u32 header length, u32 body length, header as JSON, body. */
export function encodeMessage(header: object, body: Buffer = Buffer.alloc(0)): Buffer[] {
  const json = Buffer.from(JSON.stringify(header));
  const lengths = Buffer.allocUnsafe(LENGTHS_BYTES);
  lengths.writeUInt32BE(json.length, 0);
  lengths.writeUInt32BE(body.length, 4);
  return [Buffer.concat([lengths, json]), ...(body.length === 0 ? [] : [body])];
}

/** Splits a byte stream into messages. Joins chunks only when a message is complete. */
export class MessageDecoder {
  #chunks: Buffer[] = [];
  #bytes = 0;
  #needed = LENGTHS_BYTES;
  readonly #deliver: (header: JsonObject, body: Buffer) => void;

  constructor(deliver: (header: JsonObject, body: Buffer) => void) {
    this.#deliver = deliver;
  }

  /** Bytes of a message that has not arrived completely. */
  get rest(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#needed) return;
    let rest = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    for (let end = endOfMessage(rest); rest.length >= end; end = endOfMessage(rest)) {
      this.#take(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
    this.#chunks = [rest];
    this.#bytes = rest.length;
    this.#needed = endOfMessage(rest);
  }

  #take(message: Buffer): void {
    const bodyAt = LENGTHS_BYTES + message.readUInt32BE(0);
    const header: unknown = JSON.parse(message.toString('utf8', LENGTHS_BYTES, bodyAt));
    if (!isJsonObject(header)) throw new Error('a message between daemon and spawner is not an object');
    this.#deliver(header, message.subarray(bodyAt));
  }
}

/** Length of the message at the start of `bytes`; while the length fields are incomplete, the size of those fields. */
function endOfMessage(bytes: Buffer): number {
  if (bytes.length < LENGTHS_BYTES) return LENGTHS_BYTES;
  return LENGTHS_BYTES + bytes.readUInt32BE(0) + bytes.readUInt32BE(4);
}

/** High-water mark of the send buffer: enough to keep both sides busy. */
const WAITING_MAX_BYTES = 1024 * 1024;

/** Message channel over the socket between two processes of contextd. All messages sent in one tick go out in one write. */
export class MessageChannel {
  readonly #socket: Duplex;
  readonly #decoder: MessageDecoder;
  readonly #onDrained = new Set<() => void>();
  #isCorked = false;

  /** `onClosed` is called once, when the peer is gone. */
  constructor(socket: Duplex, onMessage: (header: JsonObject, body: Buffer) => void, onClosed: () => void) {
    this.#socket = socket;
    this.#decoder = new MessageDecoder(onMessage);
    socket.on('data', (chunk: Buffer) => this.#decoder.push(chunk));
    socket.on('error', () => {});
    socket.once('close', onClosed);
    socket.on('end', () => socket.destroy());
    socket.on('drain', () => this.#drained());
  }

  /** Returns false if the peer reads more slowly than this side writes: wait for `onceDrained`. */
  send(message: object, body?: Buffer): boolean {
    if (this.#socket.destroyed) return true;
    this.#cork();
    for (const part of encodeMessage(message, body)) this.#socket.write(part);
    return this.#socket.writableLength < WAITING_MAX_BYTES;
  }

  onceDrained(listener: () => void): void {
    this.#onDrained.add(listener);
  }

  close(): void {
    this.#socket.destroy();
  }

  /**
   * Leaves the socket to another process that has it too. Send nothing more. Returns the bytes of a message that has not
   * arrived completely, for `MessageChannel.push` of the other process.
   */
  async release(): Promise<Buffer> {
    while (this.#socket.writableLength > 0 && !this.#socket.destroyed) await setImmediate();
    const { rest } = this.#decoder;
    this.#socket.destroy();
    return rest;
  }

  /** Bytes that another process has read from the socket. */
  push(bytes: Buffer): void {
    if (bytes.length > 0) this.#decoder.push(bytes);
  }

  #cork(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    this.#socket.cork();
    process.nextTick(() => {
      this.#isCorked = false;
      this.#socket.uncork();
    });
  }

  #drained(): void {
    const listeners = [...this.#onDrained];
    this.#onDrained.clear();
    for (const listener of listeners) listener();
  }
}
