import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeStream } from '#src/runner/exec-output.js';

const NOTHING = Buffer.alloc(0);

function whole(bytes: Buffer) {
  return { head: bytes, tail: NOTHING, droppedBytes: 0, totalBytes: bytes.length };
}

describe('what a command printed', () => {
  it('is its text, exactly, when it is UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (any) => {
        const text = Buffer.from(any.replaceAll('\0', '')).toString();
        expect(decodeStream(whole(Buffer.from(text)))).toEqual({ text, replaced: false });
      }),
    );
  });

  it('has U+FFFD for bytes that are not, and says so', () => {
    const bytes = Buffer.concat([Buffer.from('a'.repeat(50)), Buffer.from([0xe9]), Buffer.from('b')]);
    expect(decodeStream(whole(bytes))).toEqual({ text: `${'a'.repeat(50)}\ufffdb`, replaced: true });
  });

  it('with a U+FFFD of its own is not taken for broken', () => {
    const text = '\ufffd'.repeat(100);
    expect(decodeStream(whole(Buffer.from(text)))).toEqual({ text, replaced: false });
  });

  it.each([
    ['a NUL', Buffer.from('abc\0def'), 'binary data, 7 bytes'],
    ['a program', Buffer.concat([Buffer.from('7f454c46', 'hex'), Buffer.alloc(96)]), 'ELF program, 100 bytes'],
    [
      'a tenth and more of other bytes',
      Buffer.concat([Buffer.alloc(88, 'a'), Buffer.alloc(12, 0xff)]),
      'binary data, 100 bytes',
    ],
  ])('is withheld when it holds %s', (_, bytes, kind) => {
    expect(decodeStream(whole(bytes)).text).toBe(`[contextd: ${kind}, withheld]\n`);
  });

  it('is shown with a tenth of other bytes', () => {
    const bytes = Buffer.concat([Buffer.alloc(90, 'a'), Buffer.alloc(10, 0xff)]);
    expect(decodeStream(whole(bytes)).text).toBe('a'.repeat(90) + '\ufffd'.repeat(10));
  });

  it('says between head and tail what is missing; a character cut apart there is no fault of the command', () => {
    const euro = Buffer.from('€');
    const stream = {
      head: Buffer.concat([Buffer.from('head'), euro.subarray(0, 2)]),
      tail: Buffer.concat([euro.subarray(1), Buffer.from('tail')]),
      droppedBytes: 10,
      totalBytes: 22,
    };
    expect(decodeStream(stream)).toEqual({ text: 'head\n[contextd: 10 bytes were not kept]\ntail', replaced: false });
  });
});
