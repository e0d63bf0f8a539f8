import type { Socket } from 'node:net';
import type { Broker } from './broker.ts';
import { readFirst, takeFirst } from './first-bytes.ts';
import type { Asked, Asker, Gate } from './gate.ts';
import type { HttpDoor } from './http-door.ts';
import type { Refusal } from './refusal.ts';
import { tunnel } from './tunnel.ts';

export const SOCKS5 = 5;
const CONNECT = 1;
const NO_PASSWORD = 0;
const NO_METHOD = 0xff;
const REPLY = { opened: 0, failed: 1, denied: 2, notReached: 4, noSuchCommand: 7 } as const;
const ADDRESS = { ipv4: 1, name: 3, ipv6: 4 } as const;

interface Request {
  readonly command: number;
  readonly host: string;
  readonly port: number;
}

/** SOCKS5 (RFC 1928) without a password: CONNECT to a name. Addresses, BIND and UDP are refused. */
export class SocksDoor {
  readonly #gate: Gate;
  readonly #http: HttpDoor;
  readonly #broker: Broker | null;

  constructor(gate: Gate, http: HttpDoor, broker: Broker | null) {
    this.#gate = gate;
    this.#http = http;
    this.#broker = broker;
  }

  /** `socket` is paused; bytes that were read of it are put back. */
  serve(socket: Socket, asker: Asker): void {
    this.#serve(socket, asker).catch(() => socket.destroy());
  }

  async #serve(socket: Socket, asker: Asker): Promise<void> {
    const hasNoPassword = await readWhole(socket, readGreeting);
    if (hasNoPassword === null) return void socket.destroy();
    if (!hasNoPassword) return void socket.end(Buffer.from([SOCKS5, NO_METHOD]), () => socket.destroySoon());
    socket.write(Buffer.from([SOCKS5, NO_PASSWORD]));
    const request = await readWhole(socket, readRequest);
    if (request === null) return void socket.destroy();
    if (request.command !== CONNECT) return reply(socket, REPLY.noSuchCommand);
    await this.#connect(socket, asker, request);
  }

  async #connect(socket: Socket, asker: Asker, { host, port }: Request): Promise<void> {
    const asked: Asked = { ...asker, host, port, via: 'socks' };
    if (port === 0) {
      this.#gate.refuse(asked, 'nothing listens on port 0');
      return reply(socket, REPLY.denied);
    }
    const opened = (): void => void socket.write(replyBytes(REPLY.opened));
    if (port === 80) {
      const { name } = this.#gate.screen(asked);
      if (name === null) return reply(socket, REPLY.denied);
      opened();
      return this.#http.serve(socket, asker, { name, port, via: 'socks' });
    }
    const { refusal, connection, destination } = await this.#gate.admit(asked);
    if (connection === null) return reply(socket, codeOf(refusal));
    const speaksHttp = (): void => this.#http.serve(socket, asker, { name: destination.host, port, via: 'socks' });
    const entrance = { opened, failed: (why: Refusal) => reply(socket, codeOf(why)), speaksHttp };
    await tunnel(socket, connection, { destination, broker: this.#broker, entrance });
  }
}

/** A number of bytes that are needed, null if the message is malformed, or its content and length. */
type Reading<T> = number | null | { readonly content: T; readonly length: number };

async function readWhole<T>(socket: Socket, read: (data: Buffer) => Reading<T>): Promise<T | null> {
  const found = await readFirst(socket, (data) => {
    const reading = read(data);
    return typeof reading === 'number' ? { needs: reading } : { result: { reading } };
  });
  if (found === null || found.reading === null) return null;
  takeFirst(socket, found.reading.length);
  return found.reading.content;
}

function readGreeting(data: Buffer): Reading<boolean> {
  if (data.length < 2) return 2;
  if (data[0] !== SOCKS5) return null;
  const length = 2 + data.readUInt8(1);
  if (data.length < length) return length;
  return { content: data.subarray(2, length).includes(NO_PASSWORD), length };
}

function readRequest(data: Buffer): Reading<Request> {
  if (data.length < 5) return 5;
  if (data[0] !== SOCKS5 || data[2] !== 0) return null;
  const [from, to] = hostSpan(data);
  if (to === 0) return null;
  const length = to + 2;
  if (data.length < length) return length;
  const bytes = data.subarray(from, to);
  return { content: { command: data.readUInt8(1), host: hostOf(bytes, data[3]), port: data.readUInt16BE(to) }, length };
}

/** Where the host stands in a request; it ends at 0 if its kind is unknown. */
function hostSpan(data: Buffer): [from: number, to: number] {
  switch (data[3]) {
    case ADDRESS.ipv4:
      return [4, 8];
    case ADDRESS.ipv6:
      return [4, 20];
    case ADDRESS.name:
      return [5, 5 + data.readUInt8(4)];
    default:
      return [0, 0];
  }
}

/** An address in its usual form, which the name check refuses and the refusal shows. */
function hostOf(bytes: Buffer, kind: number | undefined): string {
  if (kind === ADDRESS.name) return bytes.toString('latin1');
  if (kind === ADDRESS.ipv4) return bytes.join('.');
  return `[${bytes.toString('hex').replace(/(.{4})(?=.)/g, '$1:')}]`;
}

function codeOf({ status }: Refusal): number {
  return status === 403 ? REPLY.denied : status === 502 ? REPLY.notReached : REPLY.failed;
}

function reply(socket: Socket, code: number): void {
  socket.end(replyBytes(code), () => socket.destroySoon());
}

function replyBytes(code: number): Buffer {
  return Buffer.from([SOCKS5, code, 0, ADDRESS.ipv4, 0, 0, 0, 0, 0, 0]);
}
