import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { forPerson } from '#src/runner/progress/progress-feed.js';

const COLOUR = new RegExp(`${String.fromCharCode(27)}\\[[0-9;:]*m`, 'g');

describe('text for a person', () => {
  it.each([
    ['plain lines', 'a\n\tb\n', 'a\n\tb\n'],
    ['colours, which end with the text', '\u001b[1;31mred\n', '\u001b[1;31mred\n\u001b[0m'],
    ['a title, which is not set', '\u001b]0;x\u0007', '\\u001b]0;x\\u0007\n'],
    ['a cursor, which does not move', 'a\u001b[2Ab\u009bA\n', 'a\\u001b[2Ab\\u009bA\n'],
    ['letters, which keep their order', 'a\u202eb\n', 'a\\u202eb\n'],
    ['an overwritten line in its last state', ' 1%\r50%\r99%\r\nnext\r\n', '99%\nnext\n'],
    ['a line that is not finished', 'half', 'half\n'],
    ['nothing', '', ''],
  ])('shows %s', (_, text, shown) => {
    expect(forPerson(text, 0)).toBe(shown);
  });

  it('says how much it leaves out', () => {
    expect(forPerson('end\n', 12)).toBe('[contextd 12 bytes are not shown here]\nend\n');
  });

  it('never lets control sequences of a terminal through', () => {
    const wild = fc.string({
      unit: fc.constantFrom('a', '\n', '\r', '\t', '\u001b', '[', '3', '1', ';', 'm', 'J', '\u009b', '\b', '\u2066'),
    });
    fc.assert(
      fc.property(wild, (text) => {
        const rest = forPerson(text, 0).replaceAll(COLOUR, '');
        expect(rest).not.toMatch(/[^\P{Cc}\n\t]|\p{Bidi_Control}/u);
      }),
    );
  });
});
