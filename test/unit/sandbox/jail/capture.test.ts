import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { decodeStream } from '#src/runner/exec-output.js';
import { StreamCapture } from '#src/sandbox/contract/stream-capture.js';

test('head and tail are the true beginning and end of the stream, whatever its chunks are', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ min: 9, max: 12, maxLength: 40 }), { maxLength: 30 }),
      fc.integer({ min: 2, max: 60 }),
      (pieces, max) => {
        const capture = new StreamCapture(max);
        for (const piece of pieces) capture.add(Buffer.from(piece));
        const all = Buffer.concat(pieces);
        const { head, tail, droppedBytes, droppedNewlines, totalBytes } = capture.result();
        expect(totalBytes).toBe(all.length);
        expect(droppedBytes).toBe(Math.max(0, all.length - max));
        const dropped = all.subarray(head.length, all.length - tail.length);
        expect(droppedNewlines).toBe(dropped.filter((byte) => byte === 0x0a).length);
        if (droppedBytes === 0) expect([head.equals(all), tail.length]).toEqual([true, 0]);
        else {
          expect(head.length + tail.length).toBe(max);
          expect(head.equals(all.subarray(0, head.length))).toBe(true);
          expect(tail.equals(all.subarray(all.length - tail.length))).toBe(true);
        }
      },
    ),
  );
});

test('one growing buffer takes no more than the limit for single bytes', () => {
  const capture = new StreamCapture(1000);
  const byte = Buffer.from('x');
  for (let i = 0; i < 5000; i++) capture.add(byte);
  const { head, tail } = capture.result();
  expect(head.buffer.byteLength).toBe(1000);
  expect(tail).toHaveLength(500);
});

it('counts the newlines that are dropped from UTF-16 by whole characters, in both byte orders', () => {
  const lines = Array.from({ length: 300 }, (_, line) => `line ${line} \u0a0a\u010a\u0a00\n`);
  for (const [mark, swap] of [
    ['fffe', false],
    ['feff', true],
  ] as const) {
    const text = Buffer.from(lines.join(''), 'utf16le');
    const bytes = Buffer.concat([Buffer.from(mark, 'hex'), swap ? text.swap16() : text]);
    for (const [maxBytes, chunkBytes] of [
      [200, 7],
      [203, 64],
      [402, 1000],
    ] as const) {
      const capture = new StreamCapture(maxBytes);
      for (let at = 0; at < bytes.length; at += chunkBytes) capture.add(bytes.subarray(at, at + chunkBytes));
      const captured = capture.result();
      const { text: shown, gap } = decodeStream(captured);
      const [numbered] = /line (\d+)/.exec(shown.slice(gap?.end)) ?? [];
      expect(numbered, `${mark} ${maxBytes}`).toBe(`line ${(gap?.nextLine ?? 0) - 1}`);
    }
  }
});
