import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameBinary } from '#src/sdk/file-bytes.js';
import { imageSize } from '#src/sdk/image-size.js';

const hex = (...parts: string[]): Buffer => Buffer.from(parts.join('').replaceAll(' ', ''), 'hex');

/** The first bytes of images of 300 × 200 pixels, as the formats define them. */
const IMAGES: readonly (readonly [kind: string, bytes: Buffer])[] = [
  ['PNG image', hex('89504e470d0a1a0a', '0000000d49484452', '0000012c', '000000c8', '0802000000')],
  ['GIF image', hex('474946383961', '2c01', 'c800', 'f00000')],
  ['BMP image', hex('424d', '36b6020000000000360000', '0028000000', '2c010000', 'c8000000', '01001800')],
  ['BMP image', hex('424d', '36b6020000000000360000', '0028000000', '2c010000', '38ffffff', '01001800')],
  [
    'WebP image',
    hex('52494646', '24000000', '57454250', '56503820', '18000000', '300100', '9d012a', '2c01', 'c800', '00'),
  ],
  ['WebP image', hex('52494646', '24000000', '57454250', '5650384c', '18000000', '2f', '2bc13100', '00')],
  ['WebP image', hex('52494646', '24000000', '57454250', '56503858', '0a000000', '10000000', '2b0100', 'c70000')],
  [
    'JPEG image',
    hex(
      'ffd8',
      'ffe0',
      '0010',
      '4a46494600010100000100010000',
      'ffdb',
      '0003',
      '00',
      'ff',
      'ffc2',
      '0011',
      '08',
      '00c8',
      '012c',
      '03',
    ),
  ],
];

describe('the size of an image', () => {
  it.each(IMAGES)('is in the first bytes of a %s', (kind, bytes) => {
    expect(imageSize(bytes)).toEqual({ width: 300, height: 200 });
    expect(nameBinary(bytes)).toBe(`${kind}, 300 × 200 pixels`);
  });

  it.each(IMAGES)('is unknown if the bytes of a %s end too early, and no bytes stall the search', (_, bytes) => {
    for (let end = 0; end < bytes.length; end++) expect(() => imageSize(bytes.subarray(0, end))).not.toThrow();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.nat(bytes.length), (random, keep) => {
        imageSize(Buffer.concat([bytes.subarray(0, keep), random]));
      }),
    );
  });

  it('is null for other data', () => {
    expect(imageSize(Buffer.from('BM, the magazine'))).toBeNull();
    expect(nameBinary(hex('1f8b0800'))).toBe('gzip data');
    expect(nameBinary(Buffer.from([1, 2, 0]))).toBe('binary data');
  });
});
