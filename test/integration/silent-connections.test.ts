import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2';
import { connect as connectPlain, type Socket } from 'node:net';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import type { ConnectionLimits } from '#src/doors/grpc/connections.js';
import type { ExecuteResponse__Output } from '#src/protocol/generated/tool.js';
import { loadProtocol } from '#src/protocol/load.js';
import { echo } from '../helpers/behind.ts';
import { answered, openDoor, type TestDoor } from '../helpers/door.ts';

let at: TestDoor;
const opened: { destroy(): void }[] = [];

afterEach(async () => {
  for (const one of opened.splice(0)) one.destroy();
  await at.remove();
});

async function open(limits: Partial<ConnectionLimits>, held: Promise<void> = Promise.resolve()): Promise<void> {
  at = await openDoor({ dispatch: async (request) => held.then(() => echo(request)), limits });
}

/** A connection and a promise for the moment when the door closes it. */
interface Silent {
  closed: Promise<unknown>;
}

function silent(socket: Socket): Silent {
  opened.push(socket);
  socket.on('error', () => {});
  return { closed: new Promise((resolve) => socket.once('close', resolve)) };
}

/** Opens `count` connections that never send anything. They are open when this returns. */
async function sayNothing(count: number): Promise<Silent[]> {
  const sockets = Array.from({ length: count }, () => connectPlain(at.paths.socket));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  return sockets.map(silent);
}

function secured(): ConnectionOptions {
  const read = (name: string): Buffer => readFileSync(join(at.paths.certsDir, name));
  return {
    path: at.paths.socket,
    ca: read('ca.pem'),
    cert: read('proxy.pem'),
    key: read('proxy.key'),
    servername: 'contextd',
    ALPNProtocols: ['h2'],
  };
}

/**
 * Opens `count` connections that show a certificate and then send nothing, not even a close. `closed` is the door's
 * doing.
 */
async function showAndSayNothing(count: number): Promise<Silent[]> {
  const options = { ...secured(), allowHalfOpen: true };
  const sockets = Array.from({ length: count }, () => connectTls(options));
  await Promise.all(sockets.map((socket) => once(socket, 'secureConnect')));
  return sockets.map((socket) => {
    silent(socket);
    return { closed: once(socket.resume(), 'end') };
  });
}

async function callWorks(): Promise<void> {
  const context = { request_id: '', project_root: '/p', session_id: '', protocol_version: 2 };
  const request = { tool: 'safe_bash', input_json: Buffer.from('{}'), context };
  const answer = await answered<ExecuteResponse__Output>((done) => at.clients('proxy').tools.Execute(request, done));
  expect(answer.exit_code).toBe(0);
}

const allClosed = (connections: readonly Silent[]) => Promise.all(connections.map(({ closed }) => closed));

test('SEC-3.1 closes connections that never begin the handshake at its deadline, and serves calls meanwhile', async () => {
  await open({ handshakeMs: 1_000 });
  const connections = await sayNothing(400);
  await callWorks();
  await allClosed(connections);
});

test('SEC-3.1 limits the number of connections without a certificate: a new one replaces the oldest', async () => {
  await open({ handshakesMax: 8, handshakeMs: 600_000 });
  const connections = await sayNothing(30);
  await allClosed(connections.slice(0, 22));
  await callWorks();
  await allClosed(connections.slice(22, 23));
  await sayNothing(8);
  await allClosed(connections);
});

test('closes idle connections that showed a certificate, even if the peer never hangs up', async () => {
  await open({ connectionsMax: 300, idleMs: 1_000, farewellMs: 50 });
  const connections = await showAndSayNothing(299);
  await callWorks();
  await allClosed(connections);
  await expect.poll(() => callWorks().then(() => 'answered', String)).toBe('answered');
});

test('limits the number of all connections, and one that closes makes room', async () => {
  await open({ connectionsMax: 20, idleMs: 600_000 });
  await showAndSayNothing(20);
  await allClosed(await sayNothing(5));
  opened.shift()?.destroy();
  await expect.poll(() => callWorks().then(() => 'answered', String)).toBe('answered');
});

test('answers a request that is never finished at its deadline, and closes its connection', async () => {
  await open({ requestMs: 200, farewellMs: 50 });
  const session = connectHttp2('https://contextd', { createConnection: () => connectTls(secured()) });
  opened.push(session);
  const gone = once(session, 'close');
  expect(await statusOfUnfinished(session)).toBe('4');
  await gone;
  await callWorks();
});

/** A client that dies when it has sent the beginning of a connection, before it reads anything. */
async function dieAfterHandshake(): Promise<void> {
  const socket = connectTls(secured());
  await once(socket, 'secureConnect');
  socket.on('error', () => {});
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
  await new Promise((resolve) => setImmediate(resolve));
  socket.destroy();
  await once(socket, 'close');
}

test('NFR-2.1 of a client that dies just after its handshake nothing is left, and a call that takes long goes on', async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  await open({ idleMs: 50 }, held);
  const long = callWorks();
  await expect.poll(() => at.door.connections()).toBe(1);
  // Each of them is gone at a later look at all connections.
  try {
    for (let look = 0; look < 3; look += 1) {
      await dieAfterHandshake();
      await dieAfterHandshake();
      await expect.poll(() => at.door.connections(), { timeout: 10_000 }).toBe(1);
    }
  } finally {
    release();
  }
  await long;
});

test('NFR-2.1 a client that stops before it reads its answer gets all of it once it goes on', async () => {
  at = await openDoor({
    dispatch: async (request) => ({ ...echo(request), line: 'x'.repeat(5_000_000) }),
    limits: { idleMs: 50 },
  });
  const socket = connectTls(secured());
  await once(socket, 'secureConnect');
  let isStopped = false;
  const gate = new Duplex({
    read: () => void (isStopped ? socket.pause() : socket.resume()),
    write: (chunk, _encoding, done) => void socket.write(chunk, done),
  });
  socket.on('data', (chunk) => gate.push(chunk));
  socket.once('close', () => gate.push(null));
  const session = connectHttp2('https://contextd', {
    createConnection: () => gate,
    settings: { initialWindowSize: 2 ** 26 },
  });
  opened.push(socket);
  await once(session, 'remoteSettings');
  session.setLocalWindowSize(2 ** 26);
  const answer = readAnswer(session);
  isStopped = true;
  socket.pause();
  for (let look = 0; look < 3; look += 1) {
    await dieAfterHandshake();
    await expect.poll(() => at.door.connections(), { timeout: 10_000 }).toBe(1);
  }
  isStopped = false;
  socket.resume();
  expect(await answer).toBeGreaterThan(5_000_000);
});

/** Makes a call and returns the number of bytes that came back. */
async function readAnswer(session: ClientHttp2Session): Promise<number> {
  const context = { request_id: '', project_root: '/p', session_id: '', protocol_version: 2 };
  const { Execute } = loadProtocol().ToolService.service;
  const body = Execute.requestSerialize({ tool: 'safe_bash', input_json: Buffer.from('{}'), context });
  const head = Buffer.alloc(5);
  head.writeUInt32BE(body.length, 1);
  const stream = session.request({
    [constants.HTTP2_HEADER_METHOD]: 'POST',
    [constants.HTTP2_HEADER_PATH]: Execute.path,
    [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc',
    te: 'trailers',
  });
  stream.end(Buffer.concat([head, body]));
  let bytes = 0;
  for await (const chunk of stream) bytes += chunk.length;
  return bytes;
}

/** Sends only the headers of a call and returns its status. */
async function statusOfUnfinished(session: ClientHttp2Session): Promise<unknown> {
  const stream = session.request({
    [constants.HTTP2_HEADER_METHOD]: 'POST',
    [constants.HTTP2_HEADER_PATH]: '/contextd.v1.ToolService/Execute',
    [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc',
    te: 'trailers',
  });
  stream.on('error', () => {});
  return new Promise((resolve) => {
    const take = (headers: Record<string, unknown>): void => {
      if (headers['grpc-status'] !== undefined) resolve(headers['grpc-status']);
    };
    stream.on('response', take);
    stream.on('trailers', take);
    stream.resume();
  });
}
