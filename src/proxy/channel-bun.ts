import { isErrno } from '../core/errors.ts';
import {
  APPLICATION_PROTOCOL,
  type Channel,
  type ChannelListener,
  type Identity,
  Inbox,
  SERVER_NAME,
} from './channel.ts';

/** The part of Bun's socket API used here. `node:tls` on Bun takes 5 ms longer to start. */
declare const Bun: { connect(options: BunConnectOptions): Promise<unknown> };

interface BunConnectOptions {
  unix: string;
  tls?: Identity & { serverName: string; ALPNProtocols: Buffer; minVersion: number; rejectUnauthorized: true };
  socket: {
    handshake(socket: BunSocket, success: boolean, error: Error | null): void;
    data(socket: BunSocket, chunk: Buffer): void;
    drain(socket: BunSocket): void;
    error(socket: BunSocket, error: Error): void;
    connectError(socket: BunSocket, error: Error): void;
    close(socket: BunSocket, error: Error | undefined): void;
  };
}

interface BunSocket {
  readonly authorized: boolean;
  readonly alpnProtocol: string | false | null;
  /** Returns the number of bytes taken: fewer than given if the system's buffer is full, -1 if the socket is closed. */
  write(bytes: Buffer): number;
  end(): void;
  pause(): void;
  resume(): void;
  terminate(): void;
}

const TLS_1_3 = 0x0304;
const NO_SOCKET = '/nonexistent/contextd.sock';

/** Opens a channel over Bun's sockets, in the compiled program. */
export function openBunChannel(path: string, identity: Identity, signal: AbortSignal): Promise<Channel> {
  const { promise, resolve, reject } = Promise.withResolvers<Channel>();
  const channel = new BunChannel();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort);
  const connecting = Bun.connect({
    unix: path,
    tls: {
      ...identity,
      serverName: SERVER_NAME,
      ALPNProtocols: Buffer.from(`${String.fromCharCode(APPLICATION_PROTOCOL.length)}${APPLICATION_PROTOCOL}`),
      minVersion: TLS_1_3,
      rejectUnauthorized: true,
    },
    socket: {
      handshake(socket, success, error) {
        if (success && socket.authorized) resolve(channel.open(socket));
        else reject(error ?? new Error('the certificate was not verified'));
      },
      data: (_, chunk) => channel.inbox.data(chunk),
      drain: () => channel.flush(),
      error: (_, error) => channel.inbox.closed(error),
      connectError: () => undefined,
      close(_, error) {
        channel.inbox.closed(error);
        reject(error ?? Object.assign(new Error('closed during the handshake'), { code: 'ECONNRESET' }));
      },
    },
  });
  connecting.catch((error) => explain(error).then(reject));
  return promise.finally(() => signal.removeEventListener('abort', abort));
}

/**
 * Bun also reports ECONNREFUSED if the system forbids creating a socket. In that case even a path that does not exist is
 * "refused", so try such a path.
 */
async function explain(error: unknown): Promise<unknown> {
  if (!isErrno(error, 'ECONNREFUSED')) return error;
  const ignore = () => undefined;
  const socket = { handshake: ignore, data: ignore, drain: ignore, error: ignore, close: ignore, connectError: ignore };
  const outcome: unknown = await Bun.connect({ unix: NO_SOCKET, socket }).catch((refusal: unknown) => refusal);
  return isErrno(outcome, 'ECONNREFUSED') ? Object.assign(new Error('socket EPERM'), { code: 'EPERM' }) : error;
}

class BunChannel implements Channel {
  readonly inbox = new Inbox();
  protocol = '';
  #socket: BunSocket | undefined;
  #pending: Buffer[] = [];
  #ending = false;

  open(socket: BunSocket): this {
    this.#socket = socket;
    this.protocol = socket.alpnProtocol || '';
    return this;
  }

  write(bytes: Buffer): void {
    this.#pending.push(bytes);
    if (this.#pending.length === 1) this.flush();
  }

  end(): void {
    this.#ending = true;
    this.flush();
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  listen(listener: ChannelListener): void {
    this.inbox.listen(listener);
  }

  /** Writes what is pending, until the system's buffer is full. */
  flush(): void {
    for (let first = this.#pending[0]; first !== undefined; first = this.#pending[0]) {
      const taken = this.#socket?.write(first) ?? -1;
      if (taken < 0) return;
      if (taken < first.length) {
        this.#pending[0] = first.subarray(taken);
        return;
      }
      this.#pending.shift();
    }
    if (this.#ending) this.#socket?.end();
  }
}
