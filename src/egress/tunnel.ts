import type { Socket } from 'node:net';
import type { Broker } from './broker.ts';
import { readClientHello } from './client-hello.ts';
import type { Connection } from './connection.ts';
import { type Destination, dial } from './dial.ts';
import { readFirst } from './first-bytes.ts';
import { ALERT_ACCESS_DENIED, ALERT_UNRECOGNIZED_NAME, failure, type Refusal, tlsAlert } from './refusal.ts';
import { type Spoken, whatIsSpoken } from './sniff.ts';
import { carryAnswers, splice } from './splice.ts';

const TLS_PORT = 443;
const SSH_PORT = 22;

/** How the way in by which a program came says what happened. */
export interface Entrance {
  /** The host was reached. */
  opened(): void;
  failed(refusal: Refusal): void;
  /** The program speaks HTTP on a port of a rule: each request is checked, and reaches the host by itself. */
  speaksHttp(): void;
}

/**
 * Carries an allowed connection: TLS only to the name it was allowed for, on port 443 nothing else, on port 22 nothing but
 * SSH. On another port that a rule names, TLS and HTTP are checked as well, and other protocols pass.
 */
export async function tunnel(
  client: Socket,
  connection: Connection,
  { destination, broker, entrance }: { destination: Destination; broker: Broker | null; entrance: Entrance },
): Promise<void> {
  client.once('close', () => connection.end());
  const { scope, host, port } = connection.fact;
  if (broker?.covers(scope, host, port) === true) {
    entrance.opened();
    if (await hasRightName(client, connection)) broker.take(client, connection, destination);
    return;
  }
  const upstream = await reach(connection, destination, entrance);
  if (upstream === null) return;
  entrance.opened();
  if (port === TLS_PORT) {
    if (await hasRightName(client, connection)) splice(client, upstream, connection);
    return;
  }
  await passSpoken(client, upstream, { connection, entrance });
}

async function reach(connection: Connection, destination: Destination, entrance: Entrance): Promise<Socket | null> {
  try {
    const upstream = await dial(destination, (socket) => connection.hold(socket));
    if (connection.isOpen) return upstream;
    entrance.failed(failure(destination.host, destination.port, 'the connection was cut'));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'it cannot be reached';
    entrance.failed(failure(destination.host, destination.port, why));
    connection.end(why);
  }
  return null;
}

/** On a port other than that of HTTPS, the server may speak first. */
async function passSpoken(
  client: Socket,
  upstream: Socket,
  { connection, entrance }: { connection: Connection; entrance: Entrance },
): Promise<void> {
  const stop = carryAnswers(client, upstream, connection);
  const isClosed = new Promise<null>((resolve) => void upstream.once('close', () => resolve(null)));
  const spoken = await Promise.race([readFirst(client, judgeSpoken), isClosed]);
  stop();
  const { port } = connection.fact;
  const hasLeft = upstream.destroyed || client.destroyed || client.readableEnded;
  if (spoken === null) return cut(client, connection, hasLeft ? '' : 'it said nothing in time');
  if (port === SSH_PORT && spoken !== 'ssh') return cut(client, connection, 'it does not speak SSH');
  if (spoken === 'http2') return cut(client, connection, 'HTTP/2 without TLS is not carried');
  if (spoken === 'unclear') return cut(client, connection, 'its first line is too long to tell whether it is HTTP');
  if (spoken === 'http') {
    connection.end();
    return entrance.speaksHttp();
  }
  if (spoken === 'tls' && !(await hasRightName(client, connection))) return;
  splice(client, upstream, connection);
}

function judgeSpoken(data: Buffer): { needs: number } | { result: Spoken } {
  const result = whatIsSpoken(data);
  return result === null ? { needs: data.length + 1 } : { result };
}

/** Checks the ClientHello. If it does not name the allowed host, the program gets an alert and the connection ends. */
async function hasRightName(client: Socket, connection: Connection): Promise<boolean> {
  const fault = await readFirst(client, (data) => {
    const hello = readClientHello(data);
    return hello.state === 'more' ? { needs: hello.atLeast } : { result: nameFault(hello, connection.fact.host) };
  });
  if (fault === 'fine' && connection.isOpen) return true;
  // A program that changes its mind, as npm does at its end, was not refused anything.
  const hasLeft = client.readableEnded || client.destroyed;
  if (fault === null) connection.end(hasLeft ? '' : 'it sent no ClientHello in time');
  else if (fault !== 'fine') {
    if (!client.destroyed) client.end(tlsAlert(fault.alert));
    connection.end(fault.why);
  }
  client.destroySoon();
  return false;
}

type NameFault = { readonly alert: number; readonly why: string } | 'fine';

function nameFault(hello: Exclude<ReturnType<typeof readClientHello>, { state: 'more' }>, host: string): NameFault {
  if (hello.state === 'bad') return { alert: ALERT_ACCESS_DENIED, why: hello.why };
  if (hello.serverName === null) return { alert: ALERT_UNRECOGNIZED_NAME, why: 'its ClientHello names no server' };
  if (hello.serverName !== host)
    return { alert: ALERT_UNRECOGNIZED_NAME, why: `its ClientHello names another server, ${shown(hello.serverName)}` };
  if (hello.isEncrypted)
    return { alert: ALERT_UNRECOGNIZED_NAME, why: 'its ClientHello has an encrypted part, which hides a name' };
  return 'fine';
}

function shown(name: string): string {
  return name.slice(0, 100).replace(/[^\x21-\x7e]/g, '?');
}

function cut(client: Socket, connection: Connection, why: string): void {
  connection.end(why);
  client.destroySoon();
}
