import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { viewBytes } from '#src/tokens/views/ranges.js';

function shown(text: string, first: number, last: number): string {
  const view = viewBytes(text, { first, last });
  if (view.kind !== 'range') throw new Error(`no range: ${view.kind}`);
  return text.slice(view.start, view.end);
}

describe('the view bytes', () => {
  it.each([
    ['both ends', 'abcdef', 1, 3, 'bcd'],
    ['one byte', 'abcdef', 0, 0, 'a'],
    ['to the end', 'abcdef', 4, Number.POSITIVE_INFINITY, 'ef'],
    ['bytes, not characters', 'äöü', 2, 3, 'ö'],
    ['no character that its beginning cuts', 'äöü', 1, 5, 'öü'],
    ['no character that its end cuts', 'äöü', 0, 4, 'äö'],
    ['nothing within a character', 'a😀b', 2, 3, ''],
    ['a character of four bytes', 'a😀b', 1, 4, '😀'],
    ['a lone surrogate as the three bytes it is written with', 'a\ud800b', 1, 3, '\ud800'],
  ])('shows %s', (_name, text, first, last, expected) => {
    expect(shown(text, first, last)).toBe(expected);
  });

  it('shows nothing beyond the end, and says so', () => {
    expect(viewBytes('aé', { first: 3, last: 9 })).toEqual({
      kind: 'range',
      start: 2,
      end: 2,
      facts: { bytes: 3, beyond_end: true },
    });
    expect(viewBytes('aé', { first: 1, last: 9 }).facts).toEqual({ bytes: 3 });
  });

  it('finds a place in a text of many chunks, whatever the characters at their borders', () => {
    const text = `${'😀'.repeat(70_000)}${'é'.repeat(70_000)}end`;
    const bytes = 70_000 * 6;
    expect(shown(text, bytes, Number.POSITIVE_INFINITY)).toBe('end');
    expect(shown(`x${text}`, bytes + 1, bytes + 1)).toBe('e');
    expect(shown(text, 131_072 * 2, 131_072 * 2 + 3)).toBe('😀');
  });

  it('shows the UTF-8 bytes, whatever the text and the range', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', 'é', '…', '😀', '\n', '\u0000') });
    fc.assert(
      fc.property(texts, fc.nat(40), fc.nat(40), (text, first, size) => {
        const bytes = Buffer.from(text).subarray(first, first + size + 1);
        // A character cut by a range's bound decodes to U+FFFD, which the texts do not hold.
        expect(shown(text, first, first + size)).toBe(bytes.toString('utf8').replaceAll('\ufffd', ''));
      }),
    );
  });
});
