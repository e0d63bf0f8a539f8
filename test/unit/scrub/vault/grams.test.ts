import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldText, stringOf } from '#src/scrub/vault/folded-text.js';
import { Budget, unpackSource, WindowIndex, type WindowSource } from '#src/scrub/vault/grams.js';

describe('the index of windows', () => {
  it('finds the source of every window, and hardly any false ones', () => {
    const index = new WindowIndex(12);
    const forms = Array.from(
      { length: 300 },
      (_, i) => `${(i * 7919).toString(36)}${(i + 1e12).toString(36).repeat(4)}`,
    );
    const added: WindowSource[] = [];
    for (const [owner, form] of forms.entries())
      for (let step = 0; step + 12 <= form.length; step++) {
        index.add(form, step, { owner, form: owner % 64, step });
        added.push({ owner, form: owner % 64, step });
      }
    for (const [owner, form] of forms.entries()) {
      const found: WindowSource[] = [];
      index.searchText(form, 0, form.length, (at, source) => {
        const from = unpackSource(source);
        if (from.owner === owner && from.step === at) found.push(from);
      });
      expect(found).toEqual(added.filter((source) => source.owner === owner));
    }
    expect(index.size).toBe(added.length);
  });

  it('finds the same in codes as in text, in slices as in one search', () => {
    const index = new WindowIndex(12);
    index.add('abcdefghijklmno', 2, { owner: 8190, form: 63, step: 8191 });
    const text = 'xxcdefghijklmnyy';
    const inText: [number, number][] = [];
    index.searchText(text, 0, text.length, (at, source) => inText.push([at, source]));
    expect(inText.map(([at, source]) => [at, unpackSource(source)])).toEqual([
      [2, { owner: 8190, form: 63, step: 8191 }],
    ]);
    for (let cut = 0; cut <= text.length; cut++) {
      const { codes, length } = foldText(text);
      const found: [number, number][] = [];
      index.searchCodes(codes, 0, cut, length, (at, source) => found.push([at, source]));
      index.searchCodes(codes, cut, length, length, (at, source) => found.push([at, source]));
      expect(found).toEqual(inText);
    }
  });

  it('keeps no more sources of one window than allowed', () => {
    const index = new WindowIndex(12);
    for (let owner = 0; owner < 9; owner++) index.add('abcdefghijkl', 0, { owner, form: 0, step: 0 }, 4);
    expect([index.size, index.count('abcdefghijkl', 0, 100)]).toEqual([4, 4]);
  });
});

describe('the budget of a search', () => {
  it('fails closed if it is spent', () => {
    const budget = new Budget(2);
    budget.spend(2);
    budget.allow(1);
    budget.spend(1);
    expect(() => budget.spend(1)).toThrow(expect.objectContaining({ code: 'SCRUB_FAILED' }));
  });
});

describe('the folded view', () => {
  it.each([
    ['case and punctuation', 'Ab-C_d 1.2\n3', 'abcd123'],
    ['colours', '\x1b[01;31m\x1b[Kab\x1b[m\x1b(Bcd', 'abcd'],
    ['zero-width and soft hyphens', 'a\u200bb\u00adc\ufeffd\0e', 'abcde'],
    ['overprinting', 'a\bab\bbc', 'abc'],
    ['underlining', '_\ba_\bb', 'ab'],
    ['full width', 'ＡｂＣ１２', 'abc12'],
    ['mathematical letters', '𝐚𝗕𝟙', 'ab1'],
    ['other alphabets', 'яéßab', 'ab'],
    ['a broken escape', '\x1b[31\nab', '31ab'],
  ])('SEC-1.3 sees through %s', (_what, text, folded) => {
    expect(stringOf(foldText(text))).toBe(folded);
  });

  it('gives the position of each letter', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const { codes, places, length } = foldText(text);
        for (let i = 0; i < length; i++) {
          const at = places[i] ?? -1;
          const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
          expect(character.normalize('NFKC').toLowerCase()).toBe(String.fromCharCode(codes[i] ?? 0));
        }
      }),
    );
  });
});
