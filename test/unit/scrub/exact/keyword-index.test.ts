import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FewKeywords, KeywordIndex, type KeywordPlaces, lowerCase } from '#src/scrub/exact/keyword-index.js';

const idsIn = (keywords: string[], text: string): number[] =>
  [...new KeywordIndex(keywords).find(text)].sort((a, b) => a - b);

/** The lists of the states that lead to a keyword, as one. */
function merged(lists: readonly KeywordPlaces[]): readonly KeywordPlaces[] {
  if (lists.some((places) => places === null)) return [null];
  return lists.length === 0 ? [] : [lists.flatMap((places) => places ?? []).sort((a, b) => a - b)];
}

describe('SEC-1.1 the keyword index', () => {
  it('finds keywords in any case, inside words, overlapping, and outside ASCII', () => {
    expect(idsIn(['key', 'apikey', 'ey', 'clé', 'no\0'], 'myAPIKEYs')).toEqual([0, 1, 2]);
    expect(idsIn(['key', 'clé', 'no\0'], 'CLÉ no\0')).toEqual([1, 2]);
  });

  it('lower-cases as Go does: the Kelvin sign is a k, a dotted capital I an i, ſ is no s', () => {
    expect(idsIn(['key', 'id', 's'], '\u212aey \u0130D ſ')).toEqual([0, 1]);
    expect(lowerCase('\u0130\u212aA')).toBe('ika');
    // What a sigma becomes depends on the next letter, however far it is.
    expect(idsIn(['aς'], 'aΣ')).toEqual([0]);
    expect(idsIn(['aς'], `aΣ${"'".repeat(300)}b`)).toEqual([]);
  });

  it('finds where keywords beyond ASCII end, whatever letters a sigma stands between', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'k', 'é', 'σ', 'ς', '密', 'п'), minLength: 1, maxLength: 4 });
    const letter = fc.constantFrom('a', 'K', '\u212a', '\u0130', 'É', 'é', 'Σ', 'σ', 'ς', '密', 'П', ' ', '\0');
    const plain = (text: string): string => lowerCase(text).replaceAll('ς', 'σ');
    const piece = fc.oneof(fc.string({ unit: letter, maxLength: 30 }), fc.constant('x'.repeat(300)));
    fc.assert(
      fc.property(fc.uniqueArray(word, { maxLength: 8 }), fc.array(piece, { maxLength: 5 }), (keywords, pieces) => {
        const text = pieces.join('');
        const [plainText, placesOf] = [plain(text), new KeywordIndex(keywords).findPlaces(text)];
        for (const [id, keyword] of keywords.entries()) {
          const ends = [...Array(text.length).keys()].filter((at) => plainText.startsWith(plain(keyword), at));
          expect(placesOf(id).flatMap((places) => places ?? [])).toEqual(ends.map((at) => at + keyword.length));
        }
      }),
    );
  });

  it('issue 37: has the places that a search for a few words finds', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'k', 'i', '_'), minLength: 1, maxLength: 3 });
    const letter = fc.constantFrom('a', 'B', 'b', 'K', 'k', '\u212a', '\u0130', 'i', '_', 'é', 'ß', 'ſ', '\0', ' ');
    const text = fc.oneof(fc.string({ unit: letter, maxLength: 60 }), fc.constant('ab_'.repeat(2_000)));
    fc.assert(
      fc.property(fc.uniqueArray(word, { maxLength: 8 }), text, (keywords, given) => {
        const few = new FewKeywords(given);
        expect(few.canFind(keywords)).toBe(!given.includes('ſ'));
        if (given.includes('ſ')) return;
        const placesOf = new KeywordIndex(keywords).findPlaces(given);
        for (const [id, keyword] of keywords.entries()) expect(few.placesOf(keyword)).toEqual(merged(placesOf(id)));
      }),
    );
    expect(new FewKeywords('a').canFind(['é'])).toBe(false);
    expect(new FewKeywords('a').canFind(Array.from({ length: 9 }, (_, at) => `a${at}`))).toBe(false);
  });

  it('finds what a search for each of them finds', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'k', 'i', '_', 'é', 'ς'), minLength: 1, maxLength: 4 });
    const letter = fc.constantFrom('a', 'B', 'b', 'K', '\u212a', '\u0130', 'é', 'É', 'Σ', '_', '😀', '\0');
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), fc.string({ unit: letter, maxLength: 30 }), (keywords, text) => {
        const lower = lowerCase(text);
        const held = [...keywords.keys()].filter((id) => lower.includes(keywords[id] ?? ''));
        expect(idsIn(keywords, text)).toEqual(held);
      }),
    );
  });
});
