import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  encodeFrame,
  encodeNumberFrame,
  encodeSettings,
  FLAG,
  FRAME,
  FRAME_DEFAULT_MAX_BYTES,
  FrameReader,
  unpad,
} from '#src/proxy/frames.js';
import { bytes, chopped } from './arbitraries.ts';

const frame = fc.record({
  type: fc.nat(255),
  flags: fc.nat(255),
  streamId: fc.nat(0x7fff_ffff),
  payload: bytes({ maxLength: 300 }),
});

describe('HTTP/2 frames', () => {
  it('are read as they were written, however the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc
          .array(frame, { maxLength: 8 })
          .chain((frames) => fc.tuple(fc.constant(frames), chopped(Buffer.concat(frames.map(encodeFrame))))),
        ([frames, chunks]) => {
          const reader = new FrameReader();
          expect(chunks.flatMap((chunk) => reader.push(chunk))).toEqual(frames);
        },
      ),
    );
  });

  it('give frames or RangeError for hostile bytes, and no frame above the limit', () => {
    fc.assert(
      fc.property(fc.array(bytes({ maxLength: 64 })), (chunks) => {
        const reader = new FrameReader();
        try {
          for (const chunk of chunks)
            for (const { payload } of reader.push(chunk)) unpad({ type: 1, flags: 8, streamId: 1, payload });
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
    );
  });

  it('are refused above the limit once their header is read', () => {
    const header = Buffer.alloc(9);
    header.writeUIntBE(FRAME_DEFAULT_MAX_BYTES + 1, 0, 3);
    expect(() => new FrameReader().push(header)).toThrow('16385 bytes, 16384 allowed');
  });

  it('have the layout of RFC 9113', () => {
    expect(
      encodeSettings([
        [2, 0],
        [4, 0x01020304],
      ]).toString('hex'),
    ).toBe('00000c040000000000000200000000000401020304');
    expect(encodeNumberFrame(FRAME.rstStream, 1, 8).toString('hex')).toBe('00000403000000000100000008');
  });

  it('are read without padding and priority', () => {
    const payload = Buffer.from([2, 9, 9, 9, 9, 9, 0x61, 0, 0]);
    const flags = FLAG.padded | FLAG.priority;
    expect(unpad({ type: FRAME.headers, flags, streamId: 1, payload }).toString()).toBe('a');
    expect(
      unpad({ type: FRAME.data, flags: FLAG.padded, streamId: 1, payload: Buffer.from([0, 0x61]) }).toString(),
    ).toBe('a');
    expect(() => unpad({ type: FRAME.data, flags: FLAG.padded, streamId: 1, payload: Buffer.from([2, 0]) })).toThrow(
      RangeError,
    );
    expect(() => unpad({ type: FRAME.data, flags: FLAG.padded, streamId: 1, payload: Buffer.alloc(0) })).toThrow(
      RangeError,
    );
  });
});
