import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeStream } from '#src/runner/exec-output.js';

const NOTHING = Buffer.alloc(0);

function whole(bytes: Buffer) {
  return { head: bytes, tail: NOTHING, droppedBytes: 0, droppedNewlines: 0, totalBytes: bytes.length };
}

describe('the output of a command', () => {
  it('is its exact text if it is UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (any) => {
        const text = Buffer.from(any.replaceAll('\0', '')).toString();
        expect(decodeStream(whole(Buffer.from(text)))).toEqual({
          text,
          droppedBytes: 0,
          gap: null,
          encoding: '',
          replaced: false,
        });
      }),
    );
  });

  it('has U+FFFD for damaged UTF-8, and says so', () => {
    const bytes = Buffer.concat([Buffer.from('größe '.repeat(9)), Buffer.from([0xe9]), Buffer.from('b')]);
    expect(decodeStream(whole(bytes))).toEqual({
      text: `${'größe '.repeat(9)}\ufffdb`,
      droppedBytes: 0,
      gap: null,
      encoding: '',
      replaced: true,
    });
  });

  it('is decoded if it has another encoding, and says so', () => {
    const shown = (bytes: Buffer) => {
      const { text, encoding, replaced } = decodeStream(whole(bytes));
      return { text, encoding, replaced };
    };
    expect(shown(Buffer.from('une entrée\n', 'latin1'))).toEqual({
      text: 'une entrée\n',
      encoding: 'iso-8859-1',
      replaced: false,
    });
    expect(shown(Buffer.from('\ufeffName\r\nJürgen\r\n', 'utf16le'))).toEqual({
      text: 'Name\r\nJürgen\r\n',
      encoding: 'utf-16le-bom',
      replaced: false,
    });
  });

  it('is decoded on both sides of what was not kept', () => {
    const bytes = Buffer.from(`\ufeff${'größe 1\n'.repeat(100)}`, 'utf16le');
    for (const cut of [101, 102]) {
      const [head, tail] = [bytes.subarray(0, 200), bytes.subarray(bytes.length - cut)];
      const dropped = { droppedBytes: bytes.length - 200 - cut, droppedNewlines: 80 };
      const { text, encoding, gap } = decodeStream({ head, tail, ...dropped, totalBytes: bytes.length });
      expect(encoding).toBe('utf-16le-bom');
      expect(text.slice(0, gap?.start)).toBe('größe 1\n'.repeat(12));
      expect(text.slice(gap?.end)).toBe('größe 1\n'.repeat(6));
    }
  });

  it('may hold a U+FFFD of its own without counting as broken', () => {
    const text = '\ufffd'.repeat(100);
    expect(decodeStream(whole(Buffer.from(text)))).toEqual({
      text,
      droppedBytes: 0,
      gap: null,
      encoding: '',
      replaced: false,
    });
  });

  it.each([
    ['more control characters than text', Buffer.from('a\0\x01\x02'), 'binary data, 4 bytes'],
    ['a program', Buffer.concat([Buffer.from('7f454c46', 'hex'), Buffer.alloc(96)]), 'ELF program, 100 bytes'],
    [
      'more than a tenth of bytes that are not UTF-8',
      Buffer.concat([Buffer.alloc(88, 'a'), Buffer.alloc(12, 0xff)]),
      'binary data, 100 bytes',
    ],
  ])('is withheld if it holds %s', (_, bytes, kind) => {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(decodeStream(whole(bytes)).text).toBe(`… ${kind}, sha256 ${sha256}, withheld by contextd …\n`);
  });

  it('issue 30: is shown with the NUL bytes that stand in it', () => {
    const text = 'ok 1\nok\x002\nFAIL 3\n';
    expect(decodeStream(whole(Buffer.from(text)))).toMatchObject({ text, encoding: '', replaced: false });
  });

  it('is shown if only a tenth of its bytes are not UTF-8', () => {
    const bytes = Buffer.concat([Buffer.alloc(90, 'a'), Buffer.alloc(10, 0xff)]);
    expect(decodeStream(whole(bytes)).text).toBe('a'.repeat(90) + '\ufffd'.repeat(10));
  });

  it("says between head and tail what is missing, and a character cut there does not count as the command's fault", () => {
    const euro = Buffer.from('€');
    const stream = {
      head: Buffer.concat([Buffer.from('head\n'), euro.subarray(0, 2)]),
      tail: Buffer.concat([euro.subarray(1), Buffer.from('\ntail')]),
      droppedBytes: 10,
      droppedNewlines: 2,
      totalBytes: 24,
    };
    expect(decodeStream(stream)).toEqual({
      text: 'head\n… 11 bytes were not kept by contextd, lines 2-4 …\ntail',
      droppedBytes: 11,
      gap: { start: 5, end: 55, bytes: 11, firstLine: 2, lastLine: 4, nextLine: 5 },
      encoding: '',
      replaced: false,
    });
  });

  it('SEC-1.1 drops the lines, or in a text without lines the words, that were cut in two', () => {
    const cut = (head: string, tail: string) =>
      decodeStream({
        head: Buffer.from(head),
        tail: Buffer.from(tail),
        droppedBytes: 1000,
        droppedNewlines: 7,
        totalBytes: 0,
      });
    expect(cut('one\nand two\nkey=abcdefgh', 'ijklmnop\nthree\nfour\n')).toMatchObject({
      text: 'one\nand two\n… 1021 bytes were not kept by contextd, lines 3-10 …\nthree\nfour\n',
      droppedBytes: 1021,
      gap: { firstLine: 3, lastLine: 10, nextLine: 11 },
      replaced: false,
    });
    expect(cut('x; token="abcdefgh', 'ijklmnop"; y and z')).toMatchObject({
      text: 'x; token="\n… 1016 bytes were not kept by contextd, lines 1-8 …\n"; y and z',
      gap: { firstLine: 1, lastLine: 8, nextLine: 8 },
    });
  });
});
