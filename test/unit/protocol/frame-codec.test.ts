import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeFrame, FrameDecoder, FrameError } from '#src/protocol/frame-codec.js';

/** The bytes in pieces of the given sizes, the rest as one. */
function inPieces(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return [...pieces, bytes.subarray(at)];
}

function decodeAll(pieces: readonly Buffer[], maxBytes?: number): unknown[] {
  const decoder = new FrameDecoder(maxBytes);
  return pieces.flatMap((piece) => decoder.push(piece));
}

const objects = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue());

describe('frames', () => {
  it('come out as they went in, however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(objects, { maxLength: 5 }), fc.array(fc.nat(40), { maxLength: 60 }), (values, sizes) => {
        const bytes = Buffer.concat(values.map((value) => encodeFrame(value)));
        const expected = values.map((value) => JSON.parse(JSON.stringify(value)));
        expect(decodeAll(inPieces(bytes, sizes))).toEqual(expected);
      }),
    );
  });

  it('of garbage are a FrameError or values, never another fault', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.array(fc.nat(20), { maxLength: 20 }), (garbage, sizes) => {
        try {
          decodeAll(inPieces(Buffer.from(garbage), sizes), 256);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(FrameError);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('that announce more than the limit are refused before their body arrives', () => {
    const header = Buffer.from([0, 0, 1, 1]);
    expect(() => decodeAll([header], 256)).toThrow('a frame of 257 bytes is over the limit of 256');
    expect(decodeAll([Buffer.from([0, 0, 1, 0])], 256)).toEqual([]);
  });

  it('of no bytes, of broken UTF-8 and of broken JSON are refused without quoting them', () => {
    expect(() => decodeAll([Buffer.alloc(4)])).toThrow('a frame of 0 bytes is not a frame');
    expect(() => decodeAll([Buffer.from([0, 0, 0, 3, 0x22, 0xff, 0x22])])).toThrow('3 bytes is not JSON in UTF-8');
    expect(() => decodeAll([Buffer.from([0, 0, 0, 3, 0x7b, 0x6b, 0x65])])).toThrow(
      /^a frame of 3 bytes is not JSON in UTF-8$/,
    );
  });

  it('take memory for what arrived, not for what a header announces', () => {
    const before = process.memoryUsage().arrayBuffers;
    const decoders = Array.from({ length: 64 }, () => {
      const decoder = new FrameDecoder();
      decoder.push(Buffer.from([0x0f, 0xff, 0xff, 0xff, 0x7b]));
      return decoder;
    });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
    expect(decoders).toHaveLength(64);
  });

  it('larger than the limit are not sent', () => {
    expect(() => encodeFrame({ text: 'x'.repeat(100) }, 50)).toThrow('a frame of 111 bytes is over the limit of 50');
  });
});
