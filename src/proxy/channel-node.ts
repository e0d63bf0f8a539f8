import { connect, type TLSSocket } from 'node:tls';
import {
  APPLICATION_PROTOCOL,
  type Channel,
  type ChannelListener,
  type Identity,
  Inbox,
  SERVER_NAME,
} from './channel.ts';

/** Opens a channel over `node:tls`, where the proxy runs on Node because Bun is missing. */
export function openNodeChannel(path: string, identity: Identity, signal: AbortSignal): Promise<Channel> {
  const { promise, resolve, reject } = Promise.withResolvers<Channel>();
  const socket = connect({
    path,
    ...identity,
    servername: SERVER_NAME,
    ALPNProtocols: [APPLICATION_PROTOCOL],
    minVersion: 'TLSv1.3',
    rejectUnauthorized: true,
  });
  const abort = () => socket.destroy(signal.reason);
  signal.addEventListener('abort', abort);
  socket.once('secureConnect', () => resolve(new NodeChannel(socket)));
  socket.on('error', reject);
  return promise.finally(() => signal.removeEventListener('abort', abort));
}

class NodeChannel implements Channel {
  readonly protocol: string;
  readonly #socket: TLSSocket;
  readonly #inbox = new Inbox();

  constructor(socket: TLSSocket) {
    this.#socket = socket;
    this.protocol = socket.alpnProtocol || '';
    socket.on('data', (chunk: Buffer) => this.#inbox.data(chunk));
    socket.on('error', (error) => this.#inbox.closed(error));
    socket.on('close', () => this.#inbox.closed(undefined));
  }

  write(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  end(): void {
    this.#socket.end();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  listen(listener: ChannelListener): void {
    this.#inbox.listen(listener);
  }
}
