import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutAfter, cutBefore, SEQUENCE_MAX_CHARS } from '#src/tokens/cut-points.js';
import { partedUnits } from './parted-units.ts';
import { hostileText } from './reference.ts';

const ESC = '\u001b';

describe('cut points', () => {
  it.each([
    ['a secret', 'ab[SECRET_12]cd', 2, 13],
    ['a masked secret', 'ab[SECRET]cd', 2, 10],
    ['a surrogate pair', 'ab😀cd', 2, 4],
    ['CRLF', 'ab\r\ncd', 2, 4],
    ['a colour', `ab${ESC}[1;31mcd`, 2, 9],
    ['a hyperlink', `ab${ESC}]8;;http://x/${ESC}\\cd`, 2, 18],
    ['a title', `ab${ESC}]0;t\u0007cd`, 2, 8],
    ['a character set', `ab${ESC}(Bcd`, 2, 5],
    ['a C1 colour', 'ab\u009b31mcd', 2, 6],
  ])('are never inside %s', (_name, text, start, end) => {
    for (let at = start + 1; at < end; at++) {
      expect(cutBefore(text, at)).toBe(start);
      expect(cutAfter(text, at)).toBe(end);
    }
    expect([cutBefore(text, start), cutAfter(text, start)]).toEqual([start, start]);
    expect([cutBefore(text, end), cutAfter(text, end)]).toEqual([end, end]);
  });

  it('split nothing that belongs together, whatever the text', () => {
    fc.assert(
      fc.property(hostileText(30), fc.nat(200), (text, at) => {
        const place = Math.min(at, text.length);
        const before = cutBefore(text, place);
        const after = cutAfter(text, place);
        expect(before).toBeLessThanOrEqual(place);
        expect(after).toBeGreaterThanOrEqual(place);
        expect(partedUnits(text, [before, after])).toEqual([]);
      }),
    );
  });

  it('may split a terminal sequence only if asked, or if it is longer than any that is kept whole', () => {
    const link = `${ESC}]8;;http://example.org/${ESC}\\`;
    expect(cutBefore(link, 5, 'characters')).toBe(5);
    const image = `${ESC}]1337;${'x'.repeat(SEQUENCE_MAX_CHARS)}\u0007`;
    expect(cutBefore(image, 100)).toBe(100);
  });
});
