import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { invisibleIn } from '#src/core/invisible.js';

describe('SEC-2.1 characters that do not print', () => {
  it.each([
    ['an escape', '\u001b', 'U+001B'],
    ['a carriage return', '\r', 'U+000D'],
    ['a bidirectional override', '\u202e', 'U+202E'],
    ['a bidirectional isolate', '\u2066', 'U+2066'],
    ['a space without width', '\u200b', 'U+200B'],
    ['a soft hyphen', '\u00ad', 'U+00AD'],
    ['a byte order mark', '\ufeff', 'U+FEFF'],
    ['a tag', '\u{e0041}', 'U+E0041'],
    ['a selector that carries data', '\u{e0101}', 'U+E0101'],
    ['a filler that is a letter', '\u3164', 'U+3164'],
    ['an empty braille pattern', '\u2800', 'U+2800'],
    ['a line separator', '\u2028', 'U+2028'],
    ['half of a pair', '\ud800', 'U+D800'],
    ['a private one', '\ue000', 'U+E000'],
  ])('finds %s wherever it is, in a line and in a document', (_what, character, name) => {
    fc.assert(
      fc.property(fc.stringMatching(/^[ -~]{0,20}$/), fc.stringMatching(/^[ -~]{0,20}$/), (before, after) => {
        expect(invisibleIn(`${before}${character}${after}`)).toBe(name);
        expect(invisibleIn(`${before}\n\t${character}${after}`, 'document')).toBe(name);
      }),
    );
  });

  it('takes letters of any script and emoji; a document has lines and tabs', () => {
    for (const text of ['Straße', 'Łódź', '東京', 'القاهرة', 'मुंबई', 'e\u0301', '⚠️', '👩‍👩‍👧', '🏴󠁧󠁢󠁳󠁣󠁴󠁿', '→ …'])
      expect(invisibleIn(text)).toBeNull();
    expect(invisibleIn('a\n\tb', 'document')).toBeNull();
    expect(invisibleIn('a\nb')).toBe('U+000A');
  });
});
