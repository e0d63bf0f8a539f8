import { connect, isIP, type Socket } from 'node:net';
import { DIAL_MAX_MS, HEAD_MAX_BYTES } from './limits.ts';
import type { UpstreamProxy } from './upstream-proxy.ts';

/** Where an allowed connection goes. */
export interface Destination {
  readonly host: string;
  readonly port: number;
  /** Checked addresses of the host; nothing else is dialled. Empty only with a proxy that looks the name up. */
  readonly addresses: readonly string[];
  readonly proxy: UpstreamProxy | null;
}

/** Why a host was not reached, as a clause that does not name it. */
export class DialError extends Error {}

/** Milliseconds after which the next address is tried. */
const ATTEMPT_MS = 1_000;

/** Gives the socket away before it is connected, so that it can be ended early. */
type OnSocket = (socket: Socket) => void;

/** A connection that carries the host's own bytes, through the machine's proxy if there is one. */
export async function dial(destination: Destination, onSocket: OnSocket): Promise<Socket> {
  const { host, port, addresses, proxy } = destination;
  if (proxy === null) return await open(host, port, addresses, onSocket);
  const socket = await dialProxy(proxy, onSocket);
  const authorization = proxy.authorization === null ? '' : `Proxy-Authorization: ${proxy.authorization}\r\n`;
  socket.write(`CONNECT ${host}:${port} HTTP/1.1\r\nHost: ${host}:${port}\r\n${authorization}\r\n`);
  await passConnectAnswer(socket);
  return socket;
}

/** A connection to the machine's proxy itself, for requests that name their host. */
export async function dialProxy(proxy: UpstreamProxy, onSocket: OnSocket): Promise<Socket> {
  try {
    return await open(proxy.host, proxy.port, null, onSocket);
  } catch (cause) {
    throw new DialError(`the machine's own proxy ${proxy.host}:${proxy.port} cannot be reached`, { cause });
  }
}

/** Tries the addresses in turn; null: those that the system knows for the host. */
function open(host: string, port: number, addresses: readonly string[] | null, onSocket: OnSocket): Promise<Socket> {
  const known = addresses?.map((address) => ({ address, family: isIP(address) })) ?? null;
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect({
    host,
    port,
    noDelay: true,
    allowHalfOpen: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
    ...(known === null ? {} : { lookup: (_host, _options, done) => done(null, known) }),
  });
  const giveUp = setTimeout(() => socket.destroy(new DialError('connecting took too long')), DIAL_MAX_MS);
  let isOpen = false;
  socket.once('connect', () => {
    isOpen = true;
    clearTimeout(giveUp);
    socket.pause();
    resolve(socket);
  });
  socket.once('error', (cause) => reject(cause instanceof DialError ? cause : unreached(cause)));
  socket.once('close', () => {
    if (isOpen) return;
    clearTimeout(giveUp);
    reject(new DialError('the connection was given up'));
  });
  socket.on('error', () => {});
  onSocket(socket);
  return promise;
}

function unreached(cause: NodeJS.ErrnoException): DialError {
  return new DialError(`it cannot be reached (${cause.code ?? 'no reason given'})`, { cause });
}

/** Reads the proxy's answer to CONNECT, and no byte more. */
function passConnectAnswer(socket: Socket): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let head = Buffer.alloc(0);
  const stop = (fault: string | null): void => {
    clearTimeout(giveUp);
    socket.off('data', onData).off('close', onClose).off('end', onClose).pause();
    if (fault === null) {
      resolve();
      return;
    }
    socket.destroy();
    reject(new DialError(fault));
  };
  const onClose = (): void => stop("the machine's own proxy closed the connection");
  const onData = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end === -1 && head.length <= HEAD_MAX_BYTES) return;
    const fault = connectFault(end === -1 ? '' : head.toString('latin1', 0, 16));
    stop(fault);
    if (fault === null && end + 4 < head.length) socket.unshift(head.subarray(end + 4));
  };
  const giveUp = setTimeout(() => stop("the machine's own proxy did not answer in time"), DIAL_MAX_MS);
  socket.on('data', onData).on('close', onClose).on('end', onClose).resume();
  return promise;
}

function connectFault(answer: string): string | null {
  const [, status = 'something else than HTTP'] = /^HTTP\/1\.[01] (\d{3})/.exec(answer) ?? [];
  return status.startsWith('2') ? null : `the machine's own proxy answered CONNECT with ${status}`;
}
