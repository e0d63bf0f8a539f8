import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseGo } from '#src/scrub/exact/go-syntax.js';
import { LinearEngine } from '#src/scrub/exact/linear-engine.js';
import { emitNative, hasSameGroups, isTranslatable, NativeEngine } from '#src/scrub/exact/native-engine.js';
import { anyPattern, anyText } from '../../../helpers/hostile-patterns.ts';
import { propertyRuns } from '../../../helpers/property-runs.ts';

const emit = (source: string, pairs = false): string => emitNative(parseGo(source), { pairs, groups: true });

describe('a pattern translated to JavaScript', () => {
  it.each([
    ['(?i)ks', '[Kk\\u212a][Ss\\u017f]'],
    ['\\s', '[\\u0009-\\u000a\\u000c-\\u000d\\u0020]'],
    ['a\\z', 'a$'],
    ['(?m)^a$', '(?<![^\\n])a(?![^\\n])'],
    ['[^]]', '[\\u0000-\\u005c\\u005e-\\uffff]'],
    ['(?i:a)|b(c)', '[Aa]|b(c)'],
    ['a(?i)b|c', 'a[Bb]|[Cc]'],
    ['(?U)a+b+?', 'a+?b+'],
    ['(?:ab){2,3}', '(?:ab){2,3}'],
  ])('translates %s to %s', (source, native) => {
    expect(emit(source)).toBe(native);
  });

  it('takes a surrogate pair for one character if asked to', () => {
    expect(emit('[^a]', true)).toBe('[\\u0000-`b-\\u{10ffff}]'.replace('`', '\\u0060'));
  });

  it.each(['\\pL', '(?i)é', '(?:a*)*b', '(?:|a)?b', '(?:\\b)+b', '[\\p{Greek}]', '\\B', 'a*'])(
    'refuses to translate %s',
    (source) => {
      expect(isTranslatable(parseGo(source))).toBe(false);
    },
  );

  it.each([
    ['(a)?', true],
    ['(a){1}', true],
    ['(?:(a)|b)+', false],
    ['(a){2}', false],
  ])('knows whether the groups of %s match the same text', (source, same) => {
    expect(hasSameGroups(parseGo(source))).toBe(same);
  });

  it('SEC-1.1 finds what re2js finds, for all kinds of patterns', () => {
    fc.assert(
      fc.property(anyPattern, fc.array(anyText, { maxLength: 4 }), (source, texts) => {
        const engines = enginesOf(source);
        if (engines === undefined) return;
        for (const text of texts) expect(engines.native.findAll(text), source).toEqual(engines.linear.findAll(text));
      }),
    );
  });

  it('SEC-1.1 finds the same if many options of a choice begin in the same way', () => {
    const word = fc.array(fc.constantFrom('a', 'b', '(k)', '(?i:k)', '[ab]', 'a?', '(?:a|kb)'), {
      minLength: 1,
      maxLength: 4,
    });
    const source = fc.array(word, { minLength: 8, maxLength: 14 }).map(
      (words) =>
        `\\b(?:${words
          .map((parts) => parts.join(''))
          .sort()
          .join('|')})b?(s)?`,
    );
    const text = fc.array(fc.constantFrom('a', 'b', 'k', 'K', 's', ' '), { maxLength: 14 });
    let compared = 0;
    fc.assert(
      fc.property(source, text, (pattern, pieces) => {
        const engines = enginesOf(pattern);
        if (engines === undefined) return;
        compared += 1;
        const whole = pieces.join('');
        expect(engines.native.findAll(whole), pattern).toEqual(engines.linear.findAll(whole));
        expect(engines.native.groups(whole), pattern).toEqual(engines.linear.groups(whole));
      }),
    );
    expect(compared).toBeGreaterThan(propertyRuns() / 4);
  });

  it('SEC-1.1 finds the same start when it searches backwards', () => {
    const run = fc.tuple(fc.constantFrom('[a-c]', '[\\w.]', '(?i:[k-s])', '[^\\n]'), fc.constantFrom(0, 1, 2, 5));
    const source = fc
      .tuple(fc.array(run, { maxLength: 3 }), fc.constantFrom('k=(\\w*)', '\\bk', '(?:s|aa?)', 'a{2,}?$', '(k)?b'))
      .map(([runs, rest]) => `${runs.map(([set, most]) => `${set}{0,${most}}?`).join('')}${rest}`);
    const text = fc.array(fc.constantFrom('a', 'aa', 'b', 'k', 'k=', 's', '.', ' ', '\n', '\u212a', '😀'), {
      maxLength: 14,
    });
    fc.assert(
      fc.property(source, text, (pattern, pieces) => {
        const engines = enginesOf(pattern);
        const whole = pieces.join('');
        expect(engines?.native.findAll(whole), pattern).toEqual(engines?.linear.findAll(whole));
        expect(engines?.native.groups(whole), pattern).toEqual(engines?.linear.groups(whole));
      }),
    );
  });
});

function enginesOf(source: string): { native: NativeEngine; linear: LinearEngine } | undefined {
  try {
    const tree = parseGo(source);
    return isTranslatable(tree) ? { native: new NativeEngine(tree), linear: new LinearEngine(source) } : undefined;
  } catch {
    return undefined;
  }
}
