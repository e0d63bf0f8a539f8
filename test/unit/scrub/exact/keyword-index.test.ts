import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeywordIndex, lowerCase } from '#src/scrub/exact/keyword-index.js';

const idsIn = (keywords: string[], text: string): number[] =>
  [...new KeywordIndex(keywords).find(text)].sort((a, b) => a - b);

describe('SEC-1.1 the keyword index', () => {
  it('finds keywords in any case, inside words, overlapping, and outside ASCII', () => {
    expect(idsIn(['key', 'apikey', 'ey', 'clé', 'no\0'], 'myAPIKEYs')).toEqual([0, 1, 2]);
    expect(idsIn(['key', 'clé', 'no\0'], 'CLÉ no\0')).toEqual([1, 2]);
  });

  it('lower-cases as Go does: the Kelvin sign is a k, a dotted capital I an i, ſ is no s', () => {
    expect(idsIn(['key', 'id', 's'], '\u212aey \u0130D ſ')).toEqual([0, 1]);
    expect(lowerCase('\u0130\u212aA')).toBe('ika');
  });

  it('finds what a search for each of them finds', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'k', 'i', '_', 'é'), minLength: 1, maxLength: 4 });
    const letter = fc.constantFrom('a', 'B', 'b', 'K', '\u212a', '\u0130', 'é', 'É', '_', '😀', '\0');
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), fc.string({ unit: letter, maxLength: 30 }), (keywords, text) => {
        const lower = lowerCase(text);
        const held = [...keywords.keys()].filter((id) => lower.includes(keywords[id] ?? ''));
        expect(idsIn(keywords, text)).toEqual(held);
      }),
    );
  });
});
