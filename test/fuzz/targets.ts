import assert from 'node:assert/strict';
import { readClientHello } from '../../src/egress/client-hello.ts';
import { readQuestion } from '../../src/egress/dns.ts';
import { readAbsolute, readAuthority } from '../../src/egress/http-head.ts';
import { FRAME_DEFAULT_MAX_BYTES, FrameReader, unpad } from '../../src/proxy/frames.ts';
import { HeaderDecoder } from '../../src/proxy/hpack.ts';
import { decodeExecuteEvent, decodeExecuteResponse } from '../../src/proxy/messages.ts';
import { UnaryCall } from '../../src/proxy/unary-call.ts';
import { MessageDecoder } from '../../src/sandbox/contract/spawner-messages.ts';
import { bunzip } from '../../src/text/bunzip.ts';

const UNZIPPED_MAX_BYTES = 65_536;

// What reads bytes that contextd did not write: each takes any bytes, or throws what its caller expects.

/** HTTP/2 of the proxy: the same frames however the bytes are cut, and none above the limit. */
export function frames(data: Buffer): void {
  const whole = framesOf([data]);
  const cut = framesOf(Array.from(data, (_, at) => data.subarray(at, at + 1)));
  assert.deepEqual(cut, whole);
}

export function headers(data: Buffer): void {
  refuses(RangeError, () => new HeaderDecoder().decode(data));
}

/** A whole answer of the daemon: the call is over, or waits for more. */
export function answer(data: Buffer): void {
  const call = new UnaryCall('/a.B/C', 'contextd', Buffer.alloc(0));
  refuses(RangeError, () => call.receive(data));
}

export function messages(data: Buffer): void {
  refuses(RangeError, () => decodeExecuteResponse(data));
  refuses(RangeError, () => decodeExecuteEvent(data));
}

/** The start of TLS at the egress proxy. */
export function hello(data: Buffer): void {
  readClientHello(data);
}

export function names(data: Buffer): void {
  readQuestion(data);
  readAuthority(data.toString('latin1'), 443);
  readAbsolute(data.toString('latin1'));
}

/** Between daemon and spawner, where a fault ends the connection. */
export function spawner(data: Buffer): void {
  refuses(Error, () => new MessageDecoder(() => {}).push(data));
}

export function bzip2(data: Buffer): void {
  const found = bunzip(Buffer.concat([Buffer.from('BZh1'), data]), UNZIPPED_MAX_BYTES);
  assert.ok(found === null || found.length <= UNZIPPED_MAX_BYTES);
}

/** Null if the bytes are refused. */
function framesOf(chunks: readonly Buffer[]): unknown[] | null {
  const reader = new FrameReader();
  const found: unknown[] = [];
  try {
    for (const chunk of chunks) {
      for (const frame of reader.push(chunk)) {
        assert.ok(frame.payload.length <= FRAME_DEFAULT_MAX_BYTES);
        refuses(RangeError, () => unpad(frame));
        found.push({ ...frame, payload: frame.payload.toString('latin1') });
      }
    }
    return found;
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    return null;
  }
}

/** Throws on whatever is not of the kind that the caller handles. */
function refuses(kind: ErrorConstructor, act: () => unknown): void {
  try {
    act();
  } catch (thrown) {
    if (!(thrown instanceof kind) || thrown instanceof assert.AssertionError) throw thrown;
  }
}
