import { performServerHandshake, type ServerHttp2Stream, type Settings } from 'node:http2';
import { duplexPair } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallOutcome } from '#src/proxy/answer.js';
import {
  encodeFrame,
  encodeNumberFrame,
  encodeSettings,
  FLAG,
  FRAME,
  FrameReader,
  PREFACE,
} from '#src/proxy/frames.js';
import { encodeHeaders } from '#src/proxy/hpack.js';
import { UnaryCall } from '#src/proxy/unary-call.js';
import { propertyRuns } from '../../helpers/property-runs.ts';
import { bytes, chopped } from './arbitraries.ts';

interface Peer {
  settings: Settings;
  answer(stream: ServerHttp2Stream, request: Buffer): void;
}

/** One call against Node's HTTP/2, without sockets. */
async function callPeer(message: Buffer, peer: Peer): Promise<CallOutcome> {
  const [near, far] = duplexPair();
  const session = performServerHandshake(far, { settings: peer.settings });
  session.on('error', () => undefined);
  session.on('stream', (stream) => {
    const chunks: Buffer[] = [];
    stream.on('error', () => undefined);
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => peer.answer(stream, Buffer.concat(chunks)));
  });
  const call = new UnaryCall('/package.Service/Method', 'name', message);
  const { promise, resolve } = Promise.withResolvers<CallOutcome>();
  const flush = () => {
    for (const part of call.takeOutput()) near.write(part);
  };
  flush();
  near.on('data', (chunk: Buffer) => {
    call.receive(chunk);
    flush();
    if (call.outcome !== undefined) resolve(call.outcome);
  });
  return promise.finally(() => session.destroy());
}

function framed(message: Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

describe('a unary call against the HTTP/2 of Node', () => {
  it('FR-1.3 sends any message through any window, and receives any answer with any trailers', async () => {
    const visible = fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)) });
    await fc.assert(
      fc.asyncProperty(
        bytes({ maxLength: 200_000, size: 'max' }),
        bytes({ maxLength: 200_000, size: 'max' }),
        fc.integer({ min: 1, max: 200_000 }),
        fc.array(visible, { maxLength: 20 }),
        async (message, answer, initialWindowSize, values) => {
          const outcome = await callPeer(message, {
            settings: { initialWindowSize: Math.max(initialWindowSize, Math.ceil(message.length / 50)) },
            answer(stream, request) {
              expect(request.equals(framed(message))).toBe(true);
              const more = Object.fromEntries(values.map((value, i) => [`x-${i}`, value]));
              stream.respond({ ':status': 200, ...more }, { waitForTrailers: true });
              stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', ...more }));
              stream.end(framed(answer));
            },
          });
          expect(outcome).toEqual({ kind: 'answered', message: answer });
        },
      ),
      { numRuns: propertyRuns('door') },
    );
  });

  it('reads a status without a message', async () => {
    const outcome = await callPeer(Buffer.from('x'), {
      settings: {},
      answer: (stream) =>
        stream.respond({ ':status': 200, 'grpc-status': '7', 'grpc-message': 'n%C3%A4 %zz' }, { endStream: true }),
    });
    expect(outcome).toMatchObject({ kind: 'failed', status: 7, message: 'n%C3%A4 %zz' });
  });
});

const SETTINGS = encodeSettings([]);

function headers(fields: readonly (readonly [string, string])[], flags: number): Buffer {
  return encodeFrame({ type: FRAME.headers, flags, streamId: 1, payload: encodeHeaders(fields) });
}

function data(payload: Buffer, flags = 0): Buffer {
  return encodeFrame({ type: FRAME.data, flags, streamId: 1, payload });
}

const BEGIN = headers([[':status', '200']], FLAG.endHeaders);
const OK = headers([['grpc-status', '0']], FLAG.endHeaders | FLAG.endStream);

function begin(message = Buffer.from('request')): UnaryCall {
  const call = new UnaryCall('/m', 'name', message);
  call.takeOutput();
  return call;
}

/** The result of a call that receives these bytes. */
function outcomeOf(...parts: Buffer[]): CallOutcome | undefined {
  const call = begin();
  for (const part of parts) call.receive(part);
  return call.outcome;
}

function framesOf(output: Buffer[]) {
  return new FrameReader().push(Buffer.concat(output));
}

describe('a unary call', () => {
  it("sends nothing of the call before the peer's SETTINGS", () => {
    const call = new UnaryCall('/m', 'name', Buffer.from('request'));
    const opening = Buffer.concat(call.takeOutput());
    expect(opening.subarray(0, PREFACE.length)).toEqual(PREFACE);
    const types = new FrameReader().push(opening.subarray(PREFACE.length)).map(({ type }) => type);
    expect({ types, sent: call.sent }).toEqual({ types: [FRAME.settings, FRAME.windowUpdate], sent: false });
    call.cancel();
    expect(call.takeOutput()).toEqual([]);
    call.receive(SETTINGS);
    expect(call.sent).toBe(true);
    expect(framesOf(call.takeOutput()).map(({ type }) => type)).toEqual([FRAME.settings, FRAME.headers, FRAME.data]);
    call.cancel();
    expect(framesOf(call.takeOutput())).toEqual([
      { type: FRAME.rstStream, flags: 0, streamId: 1, payload: Buffer.from([0, 0, 0, 8]) },
    ]);
  });

  it('reads an answer however it is cut, also with continuations, padding and unknown frames', () => {
    const answer = Buffer.concat([
      SETTINGS,
      encodeFrame({ type: 0xbe, flags: 255, streamId: 7, payload: Buffer.from('grease') }),
      headers([[':status', '200']], 0),
      encodeFrame({
        type: FRAME.continuation,
        flags: FLAG.endHeaders,
        streamId: 1,
        payload: encodeHeaders([['a', 'b']]),
      }),
      data(Buffer.concat([Buffer.from([3]), framed(Buffer.from('he')).subarray(0, 6), Buffer.alloc(3)]), FLAG.padded),
      data(Buffer.from('e')),
      OK,
    ]);
    fc.assert(
      fc.property(chopped(answer), (chunks) => {
        expect(outcomeOf(...chunks)).toEqual({ kind: 'answered', message: Buffer.from('he') });
      }),
    );
  });

  it('reads an answer of several messages, each as soon as it is complete', () => {
    const messages = ['one', '', 'x'.repeat(20_000), 'last'].map((text) => Buffer.from(text));
    const stream = Buffer.concat(messages.map(framed));
    const frames = Array.from({ length: Math.ceil(stream.length / 7_000) }, (_, i) =>
      data(stream.subarray(i * 7_000, (i + 1) * 7_000)),
    );
    fc.assert(
      fc.property(chopped(Buffer.concat([SETTINGS, BEGIN, ...frames, OK])), (chunks) => {
        const told: Buffer[] = [];
        const call = new UnaryCall('/m', 'name', Buffer.alloc(0), (message) => void told.push(message));
        for (const chunk of chunks) call.receive(chunk);
        expect(told).toEqual(messages);
        expect(call.outcome).toEqual({ kind: 'answered', message: Buffer.from('last') });
      }),
    );
    const told: string[] = [];
    const call = new UnaryCall('/m', 'name', Buffer.alloc(0), (message) => void told.push(message.toString()));
    for (const part of [SETTINGS, BEGIN, data(framed(Buffer.from('first')))]) call.receive(part);
    expect([told, call.outcome]).toEqual([['first'], undefined]);
  });

  it('returns the window that several messages use, so that they can continue forever', () => {
    const call = new UnaryCall('/m', 'name', Buffer.alloc(0), () => {});
    for (const part of [SETTINGS, BEGIN]) call.receive(part);
    call.takeOutput();
    const piece = data(framed(Buffer.alloc(16_379)));
    const granted = new Map<number, number>();
    for (let i = 0; i < 4_096; i++) {
      call.receive(piece);
      for (const { type, streamId, payload } of framesOf(call.takeOutput())) {
        expect(type).toBe(FRAME.windowUpdate);
        granted.set(streamId, (granted.get(streamId) ?? 0) + payload.readUInt32BE());
      }
    }
    expect([...granted]).toEqual([
      [0, 64 * 1024 * 1024],
      [1, 64 * 1024 * 1024],
    ]);
  });

  it.each([
    ['no message', [], 'without a message'],
    ['half a message', [data(framed(Buffer.from('all')).subarray(0, 7))], 'a message of the wrong length'],
    ['a compressed one', [data(Buffer.from([1, 0, 0, 0, 0]))], 'a compressed message'],
  ])('of an answer in several messages: %s is garbled', (_, parts, reason) => {
    const call = new UnaryCall('/m', 'name', Buffer.alloc(0), () => {});
    for (const part of [SETTINGS, BEGIN, ...parts, OK]) call.receive(part);
    expect(call.outcome).toMatchObject({ kind: 'garbled', reason: expect.stringContaining(reason) });
  });

  it('reports a GOAWAY or REFUSED_STREAM that excludes it as refused, and any other reset as reset', () => {
    const goAway = (lastStream: number) => {
      const payload = Buffer.alloc(8);
      payload.writeUInt32BE(lastStream);
      return encodeFrame({ type: FRAME.goAway, flags: 0, streamId: 0, payload });
    };
    expect(outcomeOf(SETTINGS, goAway(0))).toEqual({ kind: 'refused' });
    expect(outcomeOf(SETTINGS, goAway(1))).toBeUndefined();
    expect(outcomeOf(SETTINGS, encodeNumberFrame(FRAME.rstStream, 1, 7))).toEqual({ kind: 'refused' });
    expect(outcomeOf(SETTINGS, encodeNumberFrame(FRAME.rstStream, 1, 2))).toEqual({ kind: 'reset', errorCode: 2 });
  });

  it('stays within a window that shrinks below zero and grows again', () => {
    const call = begin(Buffer.alloc(100_000));
    const sizes = () =>
      framesOf(call.takeOutput())
        .filter(({ type }) => type === FRAME.data)
        .map(({ payload }) => payload.length);
    call.receive(SETTINGS);
    expect(sizes()).toEqual([16_384, 16_384, 16_384, 16_383]);
    call.receive(encodeSettings([[4, 10]]));
    call.receive(encodeNumberFrame(FRAME.windowUpdate, 0, 1_000_000));
    call.receive(encodeNumberFrame(FRAME.windowUpdate, 1, 65_525));
    expect(sizes()).toEqual([]);
    call.receive(encodeNumberFrame(FRAME.windowUpdate, 1, 3));
    expect(sizes()).toEqual([3]);
    call.receive(
      encodeSettings([
        [4, 1_000_000],
        [5, 20_000],
      ]),
    );
    const [, header, , last] = call.takeOutput();
    expect([header?.readUIntBE(0, 3), last?.readUIntBE(0, 3)]).toEqual([20_000, 14_467]);
  });

  it.each<[string, Buffer[]]>([
    ['no SETTINGS first', [BEGIN]],
    [
      'SETTINGS of the wrong length',
      [encodeFrame({ type: FRAME.settings, flags: 0, streamId: 0, payload: Buffer.alloc(5) })],
    ],
    ['a window above the limit', [encodeSettings([[4, 0x8000_0000]])]],
    ['a window that overflows', [SETTINGS, encodeNumberFrame(FRAME.windowUpdate, 0, 0x7fff_ffff)]],
    ['a window update of zero', [SETTINGS, encodeNumberFrame(FRAME.windowUpdate, 1, 0)]],
    ['frames below the smallest size', [encodeSettings([[5, 100]])]],
    ['a push', [SETTINGS, encodeFrame({ type: FRAME.pushPromise, flags: 4, streamId: 1, payload: Buffer.alloc(4) })]],
    [
      'a PING of the wrong length',
      [SETTINGS, encodeFrame({ type: FRAME.ping, flags: 0, streamId: 0, payload: Buffer.alloc(7) })],
    ],
    ['data before headers', [SETTINGS, data(framed(Buffer.from('x')))]],
    ['an interrupted header block', [SETTINGS, headers([[':status', '200']], 0), OK]],
    [
      'a continuation without a header block',
      [SETTINGS, encodeFrame({ type: FRAME.continuation, flags: 4, streamId: 1, payload: Buffer.alloc(0) })],
    ],
    [
      'headers on another stream',
      [SETTINGS, encodeFrame({ type: FRAME.headers, flags: 4, streamId: 3, payload: Buffer.alloc(0) })],
    ],
    ['another HTTP status', [SETTINGS, headers([[':status', '404']], 4)]],
    ['no trailers', [SETTINGS, BEGIN, data(framed(Buffer.from('x')), FLAG.endStream)]],
    ['trailers without a status', [SETTINGS, BEGIN, headers([['a', 'b']], 5)]],
    ['a status that is not a number', [SETTINGS, BEGIN, headers([['grpc-status', 'fine']], 5)]],
    ['OK without a message', [SETTINGS, BEGIN, OK]],
    ['a compressed message', [SETTINGS, BEGIN, data(Buffer.from([1, 0, 0, 0, 0])), OK]],
    ['a message of the wrong length', [SETTINGS, BEGIN, data(Buffer.from([0, 0, 0, 0, 9, 1])), OK]],
    ['a second message', [SETTINGS, BEGIN, data(framed(Buffer.from('x'))), data(framed(Buffer.from('y'))), OK]],
    ['a frame that is too large', [SETTINGS, Buffer.from([0, 0x40, 1, 0, 0, 0, 0, 0, 1])]],
  ])('reports an answer as garbled: %s', (_, parts) => {
    expect(outcomeOf(...parts)).toMatchObject({ kind: 'garbled' });
  });

  it('is cut off at the limit of a message and of a header block', () => {
    const call = begin();
    call.receive(Buffer.concat([SETTINGS, headers([[':status', '200']], 0)]));
    const more = encodeFrame({ type: FRAME.continuation, flags: 0, streamId: 1, payload: Buffer.alloc(16_000) });
    for (let i = 0; i < 20; i++) call.receive(more);
    expect(call.outcome).toMatchObject({ reason: 'a header block that is too long' });
    const flooded = begin();
    flooded.receive(Buffer.concat([SETTINGS, BEGIN]));
    const piece = data(Buffer.alloc(16_384));
    for (let i = 0; i <= 2048; i++) flooded.receive(piece);
    expect(flooded.outcome).toMatchObject({ reason: expect.stringContaining('more than 33554432 bytes') });
  });

  it('ends or keeps waiting on hostile frames, and never throws', () => {
    const hostile = fc.record({
      type: fc.nat(10),
      flags: fc.nat(255),
      streamId: fc.constantFrom(0, 1, 1, 3),
      payload: bytes({ maxLength: 40 }),
    });
    fc.assert(
      fc.property(fc.array(hostile), bytes({ maxLength: 20 }), (frames, rest) => {
        const call = begin();
        call.receive(SETTINGS);
        for (const frame of frames) call.receive(encodeFrame(frame));
        call.receive(rest);
      }),
    );
  });
});
