import { posix } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isBelow, isWithin } from '#src/core/paths.js';

describe('a path inside a path', () => {
  it.each([
    ['/a', '/a', 'same'],
    ['/a', '/a/b', 'below'],
    ['/a', '/a/b/c', 'below'],
    ['/a', '/ab', 'outside'],
    ['/a', '/ab/c', 'outside'],
    ['/a/b', '/a', 'outside'],
    ['/a', '/', 'outside'],
    ['/', '/', 'same'],
    ['/', '/a', 'below'],
    ['/', 'a', 'outside'],
    ['/a', '/a/..b', 'below'],
    ['/a b', '/a b/ü', 'below'],
    ['a', 'a/b', 'below'],
    ['a', 'ab', 'outside'],
  ] as const)('of %j, %j is %s', (outer, inner, place) => {
    expect(isWithin(outer, inner)).toBe(place !== 'outside');
    expect(isBelow(outer, inner)).toBe(place === 'below');
  });

  it('is found as Node resolves paths, for all absolute paths', () => {
    // Few different names, so that paths often share a prefix.
    const path = fc
      .array(fc.constantFrom('a', 'ab', 'b', '..a', ' ', 'ü'), { maxLength: 4 })
      .map((names) => `/${names.join('/')}`);
    fc.assert(
      fc.property(path, path, (outer, inner) => {
        const way = posix.relative(outer, inner);
        const isOutside = way === '..' || way.startsWith('../');
        expect(isWithin(outer, inner)).toBe(!isOutside);
        expect(isBelow(outer, inner)).toBe(!isOutside && way !== '');
      }),
    );
  });
});
