import { expect, test } from 'vitest';
import { CODE_BOOK } from '#src/proxy/huffman.js';

/** Bits of each symbol's code (RFC 7541 appendix B), one base-36 digit a symbol; the last symbol is end of string. */
const CODE_LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca' +
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds' +
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq' +
  'u';
const LONGEST_CODE = 30;

test('the written-out Huffman code is the canonical code of the lengths in RFC 7541', () => {
  const lengths = Array.from(CODE_LENGTHS, (digit) => Number.parseInt(digit, 36));
  const bits = Array.from({ length: LONGEST_CODE + 1 }, (_, length) => length);
  const counts = bits.map((length) => lengths.filter((one) => one === length).length);
  const before = (length: number): number => lengths.filter((one) => one < length).length;
  const firstCode = bits.map((length) =>
    lengths.filter((one) => one < length).reduce((code, one) => code + 2 ** (length - one), 0),
  );
  const symbols = lengths
    .map((length, symbol) => ({ length, symbol }))
    .sort((a, b) => a.length - b.length || a.symbol - b.symbol)
    .map(({ symbol }) => symbol);
  expect(CODE_BOOK).toEqual({ symbols, firstCode, firstIndex: bits.map(before), counts });
});
