import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDeeperThan } from '#src/core/json-depth.js';

/** Depth of a parsed value, as a person would count it. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** Strings and keys that look like structure, and every kind of escape. */
const tricky = fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', 'u', '\n', 'é', '\u{1f600}', ' ') });
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 7, depthSize: 'large' },
    fc.oneof(tricky, fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(tricky, tie('value'), { maxKeys: 3 }),
  ),
}));

describe('issue 32.2 the nesting of a body', () => {
  it('is what the parsed value has, whatever strings and keys hold', () => {
    fc.assert(
      fc.property(value, fc.integer({ min: 0, max: 6 }), fc.constantFrom(undefined, 2), (json, limit, indent) => {
        expect(isDeeperThan(limit, JSON.stringify(json, null, indent))).toBe(depthOf(json) > limit);
      }),
    );
  });

  it('takes an escaped backslash before a quote for the end of the string, and an escaped quote for a part of it', () => {
    expect(isDeeperThan(1, String.raw`["\\",["\"["]]`)).toBe(true);
    expect(isDeeperThan(2, String.raw`["\\",["\"[["]]`)).toBe(false);
  });

  it.each([
    ['an unterminated string of escapes', () => `"${'\\"'.repeat(2_000_000)}`],
    ['an unterminated string that ends with a backslash', () => `"${'\\\\'.repeat(2_000_000)}\\`],
    ['a complete string of 30 MB', () => `"${'x'.repeat(30_000_000)}"`],
    ['a complete string of 30 MB of escapes', () => `"${'\\"'.repeat(15_000_000)}"`],
    ['quotes that open and close 30 MB of strings', () => '"'.repeat(30_000_000)],
  ])('reads %s once, without recursion', (_what, text) => {
    expect(isDeeperThan(200, text())).toBe(false);
  });
});
