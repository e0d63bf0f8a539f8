import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LongMerger, PieceMerger } from '#src/tokens/bpe.js';
import { RANK_FILE } from '#src/tokens/counter.js';
import { readRankTable } from '#src/tokens/rank-table.js';

const ranks = readRankTable(RANK_FILE);

const syllable = fc.constantFrom('a', 'aa', 'b', 'in', 'ing', 's', 'tion', 'é', '漢', '😀', '=', '--', '  ');
const word = fc.array(syllable, { minLength: 1, maxLength: 200, size: 'max' }).map((all) => Buffer.from(all.join('')));
const anyBytes = fc.uint8Array({ minLength: 1, maxLength: 300, size: 'max' }).map((bytes) => Buffer.from(bytes));
const piece = fc.oneof(word, anyBytes);
/** Small chunks have many seams, and many where two chunks do not meet at a border. */
const chunks = fc
  .tuple(fc.integer({ min: 2, max: 64 }), fc.nat({ max: 40 }))
  .map(([bytes, overlap]) => ({ bytes, overlapBytes: Math.min(overlap, bytes - 1) }));

it('FR-3.2 merges a piece in chunks of any size as it merges the whole', () => {
  const whole = new PieceMerger(ranks);
  fc.assert(
    fc.property(piece, chunks, (bytes, sizes) => {
      const tokens = whole.merge(bytes, 0, bytes.length);
      expect(new LongMerger(ranks, sizes).merge(bytes, 0, bytes.length)).toBe(tokens);
    }),
  );
});

it('FR-3.2 ends at the requested token', () => {
  const whole = new PieceMerger(ranks);
  fc.assert(
    fc.property(piece, chunks, fc.integer({ min: 1, max: 300 }), (bytes, sizes, most) => {
      const tokens = whole.merge(bytes, 0, bytes.length);
      const merger = new LongMerger(ranks, sizes);
      const told = merger.merge(bytes, 0, bytes.length, most);
      if (tokens <= most) expect(told).toBe(tokens);
      else expect([told, merger.cut]).toEqual([Number.POSITIVE_INFINITY, whole.endOfToken(most)]);
    }),
  );
});
