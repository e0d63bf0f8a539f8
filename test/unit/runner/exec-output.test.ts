import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeStream } from '#src/runner/exec-output.js';

const NOTHING = Buffer.alloc(0);

function whole(bytes: Buffer) {
  return { head: bytes, tail: NOTHING, droppedBytes: 0, totalBytes: bytes.length };
}

describe('what a command printed', () => {
  it('is returned exactly if it is UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (any) => {
        const text = Buffer.from(any.replaceAll('\0', '')).toString();
        expect(decodeStream(whole(Buffer.from(text)))).toEqual({ text, droppedBytes: 0, replaced: false });
      }),
    );
  });

  it('has U+FFFD for other bytes, and the result says so', () => {
    const bytes = Buffer.concat([Buffer.from('a'.repeat(50)), Buffer.from([0xe9]), Buffer.from('b')]);
    expect(decodeStream(whole(bytes))).toEqual({ text: `${'a'.repeat(50)}\ufffdb`, droppedBytes: 0, replaced: true });
  });

  it('is not reported as broken if it contains U+FFFD itself', () => {
    const text = '\ufffd'.repeat(100);
    expect(decodeStream(whole(Buffer.from(text)))).toEqual({ text, droppedBytes: 0, replaced: false });
  });

  it.each([
    ['a NUL', Buffer.from('abc\0def'), 'binary data, 7 bytes'],
    ['a program', Buffer.concat([Buffer.from('7f454c46', 'hex'), Buffer.alloc(96)]), 'ELF program, 100 bytes'],
    [
      'a tenth and more of other bytes',
      Buffer.concat([Buffer.alloc(88, 'a'), Buffer.alloc(12, 0xff)]),
      'binary data, 100 bytes',
    ],
  ])('is withheld if it contains %s', (_, bytes, kind) => {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(decodeStream(whole(bytes)).text).toBe(`[contextd: ${kind}, sha256 ${sha256}, withheld]\n`);
  });

  it('is shown if a tenth of it is other bytes', () => {
    const bytes = Buffer.concat([Buffer.alloc(90, 'a'), Buffer.alloc(10, 0xff)]);
    expect(decodeStream(whole(bytes)).text).toBe('a'.repeat(90) + '\ufffd'.repeat(10));
  });

  it("has a line between head and tail that says what is missing; a character cut there is not the command's fault", () => {
    const euro = Buffer.from('€');
    const stream = {
      head: Buffer.concat([Buffer.from('head\n'), euro.subarray(0, 2)]),
      tail: Buffer.concat([euro.subarray(1), Buffer.from('\ntail')]),
      droppedBytes: 10,
      totalBytes: 24,
    };
    expect(decodeStream(stream)).toEqual({
      text: 'head\n\n[contextd: 11 bytes were not kept]\ntail',
      droppedBytes: 11,
      replaced: false,
    });
  });

  it('SEC-1.1 drops the lines, or in a text without lines the words, that were cut', () => {
    const cut = (head: string, tail: string) =>
      decodeStream({ head: Buffer.from(head), tail: Buffer.from(tail), droppedBytes: 1000, totalBytes: 0 });
    expect(cut('one\nand two\nkey=abcdefgh', 'ijklmnop\nthree\nfour\n')).toEqual({
      text: 'one\nand two\n\n[contextd: 1021 bytes were not kept]\nthree\nfour\n',
      droppedBytes: 1021,
      replaced: false,
    });
    expect(cut('x; token="abcdefgh', 'ijklmnop"; y and z').text).toBe(
      'x; token="\n[contextd: 1016 bytes were not kept]\n"; y and z',
    );
  });
});
