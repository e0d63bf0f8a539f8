import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeHeaders, HeaderDecoder } from '#src/proxy/hpack.js';
import { decodeHuffman } from '#src/proxy/huffman.js';
import { bytes } from './arbitraries.ts';

function hex(text: string): Buffer {
  return Buffer.from(text.replaceAll(' ', ''), 'hex');
}

/** Latin-1, the encoding of header fields. */
const headerText = bytes({ maxLength: 200 }).map((text) => text.toString('latin1'));

describe('HPACK', () => {
  it('decodes the first two responses of RFC 7541 C.6: Huffman and the dynamic table', () => {
    const decoder = new HeaderDecoder();
    const block =
      '4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3';
    const first = decoder.decode(hex(block));
    expect(first).toEqual([
      [':status', '302'],
      ['cache-control', 'private'],
      ['date', 'Mon, 21 Oct 2013 20:13:21 GMT'],
      ['location', 'https://www.example.com'],
    ]);
    expect(decoder.decode(hex('4883 640e ffc1 c0bf'))).toEqual([
      [':status', '307'],
      ['cache-control', 'private'],
      ['date', 'Mon, 21 Oct 2013 20:13:21 GMT'],
      ['location', 'https://www.example.com'],
    ]);
  });

  it('reads back what it writes', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(headerText, headerText)), (headers) => {
        expect(new HeaderDecoder().decode(encodeHeaders(headers))).toEqual(headers);
      }),
    );
  });

  it('evicts the oldest entries if the table is full or becomes smaller', () => {
    const decoder = new HeaderDecoder();
    const long = Buffer.concat([hex('40 01 61 7f 81 1d'), Buffer.alloc(3840, 'x')]);
    expect(decoder.decode(Buffer.concat([hex('40 01 62 01 63'), hex('be')]))).toEqual([
      ['b', 'c'],
      ['b', 'c'],
    ]);
    decoder.decode(long);
    expect(decoder.decode(hex('bf'))).toEqual([['b', 'c']]);
    decoder.decode(long);
    expect(decoder.decode(hex('be'))[0]?.[0]).toBe('a');
    expect(() => decoder.decode(hex('bf'))).toThrow(RangeError);
    expect(() => decoder.decode(hex('20 be'))).toThrow('no header at index 62');
  });

  it('refuses what RFC 7541 calls an error', () => {
    for (const block of ['80', 'ff ff ff ff ff ff ff ff', '7f', '40 01', '40 05 61', '3f e2 1f', 'be']) {
      expect(() => new HeaderDecoder().decode(hex(block)), block).toThrow(RangeError);
    }
  });

  it('gives headers or RangeError for hostile bytes', () => {
    fc.assert(
      fc.property(fc.array(bytes({ maxLength: 40 })), (blocks) => {
        const decoder = new HeaderDecoder();
        try {
          for (const block of blocks) decoder.decode(block);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
    );
  });
});

describe('Huffman strings', () => {
  it('decode the examples of RFC 7541', () => {
    expect(decodeHuffman(hex('f1e3 c2e5 f23a 6ba0 ab90 f4ff')).toString()).toBe('www.example.com');
    expect(
      decodeHuffman(
        hex(
          '94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07',
        ),
      ).toString(),
    ).toBe('foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1');
  });

  it('refuse wrong padding, padding of a byte, and the end-of-string symbol', () => {
    for (const coded of ['00', '1b', 'ff', 'ffff ffff', '1f ff']) {
      expect(() => decodeHuffman(hex(coded)), coded).toThrow(RangeError);
    }
    expect(decodeHuffman(hex('1f')).toString()).toBe('a');
  });
});
