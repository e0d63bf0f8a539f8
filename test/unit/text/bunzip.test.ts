import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bunzip, isBzip2 } from '#src/text/bunzip.js';
import { bzip2, hasBzip2 } from '../../helpers/bzip2.ts';
import { propertyRuns } from '../../helpers/property-runs.ts';

/** What bzip2 1.0.8 made of a text, in base64. */
const MADE: Readonly<Record<string, string>> = {
  'x=1\n': 'QlpoOTFBWSZTWe5+2YUAAAHIgAAQIAIAQCAAIZpoM00MvF3JFOFCQ7n7ZhQ=',
};
const EMPTY = 'QlpoORdyRThQkAAAAAA=';
const LIMIT = 2_000_000;

/** Data with runs of every length, few and many different bytes, and more than one block. */
const data = fc.oneof(
  fc.uint8Array({ maxLength: 3000 }),
  fc
    .array(fc.constantFrom('lorem', 'x', ' ', '\n', 'aaaaaaaaa'), { maxLength: 2000 })
    .map((all) => Buffer.from(all.join(''))),
  fc.tuple(fc.nat(255), fc.integer({ min: 1, max: 300_000 })).map(([byte, count]) => Buffer.alloc(count, byte)),
  fc
    .tuple(fc.uint8Array({ minLength: 90, maxLength: 300 }), fc.nat(1500))
    .map(([part, times]) =>
      Buffer.concat(Array.from({ length: times + 1 }, (_, at) => Buffer.from(part).map((byte) => byte ^ (at & 255)))),
    ),
);

describe('issue 16.7 bzip2', () => {
  it.each(Object.entries(MADE))('decodes what the program made of %j', (plain, packed) => {
    const bytes = Buffer.from(packed, 'base64');
    expect([isBzip2(bytes), bunzip(bytes, LIMIT)?.toString()]).toEqual([true, plain]);
    expect(bunzip(bytes, 2)?.toString()).toBe(plain.slice(0, 2));
    expect(bunzip(Buffer.concat([bytes, bytes]), LIMIT)?.toString()).toBe(plain + plain);
    expect(bunzip(bytes.subarray(0, 30), LIMIT)).toBeNull();
  });

  it('finds nothing in an empty file and in other data', () => {
    for (const text of [EMPTY, 'QlpoOTFBWSZTW', '', Buffer.from('BZh9 is a beginning').toString('base64')])
      expect(bunzip(Buffer.from(text, 'base64'), LIMIT)).toBeNull();
  });

  it.skipIf(!hasBzip2)('decodes what the program makes of any data at any level (needs bzip2)', () => {
    fc.assert(
      fc.property(data, fc.integer({ min: 1, max: 9 }), (plain, level) => {
        const decoded = bunzip(bzip2(plain, level), LIMIT);
        expect(plain.length === 0 ? decoded === null : decoded?.equals(plain)).toBe(true);
      }),
      { numRuns: propertyRuns('door') },
    );
  });

  it('ends on damaged data with at most as many bytes as were asked for', () => {
    const whole = hasBzip2
      ? bzip2(Buffer.from('a damaged file\n'.repeat(300)))
      : Buffer.from(MADE['x=1\n'] ?? '', 'base64');
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }), fc.nat(), (changes, cut) => {
        const damaged = Buffer.from(whole);
        for (const [at, byte] of changes) damaged[10 + (at % (damaged.length - 10))] = byte;
        const decoded = bunzip(damaged.subarray(0, 10 + (cut % damaged.length)), 1000);
        expect(decoded === null || decoded.length <= 1000).toBe(true);
      }),
    );
  });

  it.skipIf(!hasBzip2)('decodes no more than the limit of data that grows (needs bzip2)', () => {
    expect(bunzip(bzip2(Buffer.alloc(20_000_000, 65)), 100_000)?.length).toBe(100_000);
  });
});
