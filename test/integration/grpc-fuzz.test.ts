import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as connectHttp2, constants } from 'node:http2';
import { connect as connectPlain, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadProtocol } from '#src/protocol/load.js';
import { echo } from '../helpers/behind.ts';
import { answered, certificateOf, close, connect, openDoor, type TestDoor } from '../helpers/door.ts';
import { propertyRuns } from '../helpers/property-runs.ts';

let at: TestDoor;
beforeAll(async () => {
  at = await openDoor({ dispatch: async (request) => echo(request), limits: { idleMs: 100, farewellMs: 50 } });
});
afterAll(() => at.remove());

const context = { request_id: '', project_root: '/p', session_id: '', protocol_version: 2 };
const CALL = { tool: 'safe_bash', input_json: Buffer.from('{"command":"ls"}'), context };

/** Another client has its answer, and nothing is left of the one before. */
async function isUnharmed(): Promise<void> {
  const other = connect(at.paths.socket, certificateOf(at.paths.certsDir, 'cli'));
  const answer = await answered<{ exit_code: number }>((done) => other.tools.Execute(CALL, done));
  expect(answer.exit_code).toBe(0);
  close(other);
  await expect.poll(() => at.door.connections(), { interval: 2, timeout: 10_000 }).toBe(0);
}

async function openTls(): Promise<TLSSocket> {
  const [key, cert] = ['key', 'pem'].map((kind) => readFileSync(join(at.paths.certsDir, `proxy.${kind}`)));
  const ca = readFileSync(join(at.paths.certsDir, 'ca.pem'));
  const plain = connectPlain(at.paths.socket);
  const socket = connectTls({ socket: plain, ca, key, cert, servername: 'contextd', ALPNProtocols: ['h2'] });
  await once(socket, 'secureConnect');
  return socket;
}

/** Sends, and hangs up in one of two ways. What the door sends or how it ends the connection is its affair. */
async function sendAndLeave(socket: Socket, parts: readonly Uint8Array[], isCut: boolean): Promise<void> {
  socket.on('error', () => {});
  socket.resume();
  const closed = once(socket, 'close');
  for (const part of parts) if (socket.writable) socket.write(part);
  if (isCut) await new Promise<void>((resolve) => setImmediate(resolve));
  if (isCut) socket.destroy();
  else socket.end();
  await closed;
}

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** An HTTP/2 frame of any type, whose length may be a lie. */
const frame = fc
  .record({
    type: fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 255 })),
    flags: fc.integer({ min: 0, max: 255 }),
    stream: fc.oneof(fc.constantFrom(0, 1, 2, 3), fc.integer({ min: 0, max: 0x7fffffff })),
    payload: fc.uint8Array({ maxLength: 64 }),
    lie: fc.option(fc.integer({ min: 0, max: 0xffffff }), { nil: undefined, freq: 4 }),
  })
  .map(({ type, flags, stream, payload, lie }) => {
    const head = Buffer.alloc(9);
    head.writeUIntBE(lie ?? payload.length, 0, 3);
    head.writeUInt8(type, 3);
    head.writeUInt8(flags, 4);
    head.writeUInt32BE(stream, 5);
    return Buffer.concat([head, payload]);
  });
const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);

describe('SEC-3.1 bytes that no client sends', () => {
  it('before a certificate, or as frames of a client with one, harm no other client and leave nothing', async () => {
    const sent = fc.oneof(
      fc.record({ isProven: fc.constant(false), parts: fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 5 }) }),
      fc.record({
        isProven: fc.constant(true),
        parts: fc
          .tuple(fc.constantFrom<Buffer[]>([PREFACE, SETTINGS], [PREFACE], []), fc.array(frame, { maxLength: 12 }))
          .map((all): Uint8Array[] => all.flat()),
      }),
    );
    await fc.assert(
      fc.asyncProperty(sent, fc.boolean(), async ({ isProven, parts }, isCut) => {
        await sendAndLeave(isProven ? await openTls() : connectPlain(at.paths.socket), parts, isCut);
        await isUnharmed();
      }),
      { numRuns: propertyRuns('slow') },
    );
  });

  const { ToolService, ManagementService } = loadProtocol();
  const paths = [ToolService, ManagementService].flatMap(({ service }) =>
    Object.values(service).map(({ path }) => path),
  );
  const valid = ToolService.service.Execute.requestSerialize(CALL);

  it('as messages of every rpc are answered with a status, and harm no other client', async () => {
    const flips = fc.array(fc.tuple(fc.nat({ max: valid.length - 1 }), fc.integer({ min: 0, max: 255 })), {
      maxLength: 8,
    });
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      flips.map((all) => {
        const bytes = Buffer.from(valid);
        for (const [place, value] of all) bytes[place] = value;
        return bytes;
      }),
      fc.nat({ max: valid.length }).map((length) => valid.subarray(0, length)),
    );
    const message = fc.record({
      path: fc.constantFrom(...paths, '/contextd.v1.ToolService/None', '/', '//'),
      body,
      compressed: fc.constantFrom(0, 0, 0, 1, 255),
      lie: fc.option(fc.integer({ min: 0, max: 0xffffffff }), { nil: undefined, freq: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(message, async (sent) => {
        await sendMessage(sent);
        await isUnharmed();
      }),
      { numRuns: propertyRuns('slow', 2) },
    );
  });
});

interface SentMessage {
  path: string;
  body: Uint8Array;
  compressed: number;
  /** The length that is announced. */
  lie: number | undefined;
}

/** Sends one message of gRPC and ends the stream. The rpc may take what it read for a request, and end in any way. */
async function sendMessage({ path, body, compressed, lie }: SentMessage): Promise<void> {
  const socket = await openTls();
  const session = connectHttp2('https://contextd', { createConnection: () => socket });
  const head = Buffer.alloc(5);
  head.writeUInt8(compressed, 0);
  head.writeUInt32BE(lie ?? body.length, 1);
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  stream.on('error', () => {});
  session.on('error', () => {});
  let status: unknown;
  for (const event of ['response', 'trailers'] as const)
    stream.on(event, (headers: Record<string, unknown>) => {
      status = headers['grpc-status'] ?? status;
    });
  stream.resume();
  const closed = once(stream, 'close');
  stream.end(Buffer.concat([head, body]));
  await closed;
  expect(status !== undefined || stream.rstCode !== constants.NGHTTP2_NO_ERROR, path).toBe(true);
  session.destroy();
  await once(socket, 'close').catch(() => {});
}
