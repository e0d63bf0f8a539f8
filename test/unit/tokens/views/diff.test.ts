import { applyPatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { viewDiff } from '#src/tokens/views/diff.js';

const view = (text: string, earlier: string, context = 1) => {
  const viewed = viewDiff(text, earlier, { context });
  return { text: viewed.kind === 'text' ? viewed.text : '', facts: viewed.facts };
};
const lines = (...all: string[]) => `${all.join('\n')}\n`;
const numbered = (count: number, say: (i: number) => string) => Array.from({ length: count }, (_, i) => say(i));

describe('the view diff', () => {
  it('is a unified diff with true line numbers', () => {
    const earlier = lines(...numbered(1000, (i) => `line ${i + 1}`));
    const now = earlier.replace('line 500\n', 'line 500!\nand more\n').replace('line 700\n', '');
    expect(view(now, earlier)).toEqual({
      text: lines(
        '--- earlier',
        '+++ now',
        '@@ -499,3 +499,4 @@',
        ' line 499',
        '-line 500',
        '+line 500!',
        '+and more',
        ' line 501',
        '@@ -699,3 +700,2 @@',
        ' line 699',
        '-line 700',
        ' line 701',
      ),
      facts: { added: 2, removed: 2, exact: true },
    });
    expect(view(`x\n${earlier}`, earlier, 0).text).toBe(lines('--- earlier', '+++ now', '@@ -0,0 +1,1 @@', '+x'));
  });

  it('counts lines that repeat at both ends once, and an empty first line as context', () => {
    expect(view('a\na\n', 'a\n'.repeat(6), 0).text).toBe(
      lines('--- earlier', '+++ now', '@@ -3,4 +2,0 @@', '-a', '-a', '-a', '-a'),
    );
    expect(view('\nc\n', '\nb\n', 1).text).toBe(lines('--- earlier', '+++ now', '@@ -1,2 +1,2 @@', ' ', '-b', '+c'));
  });

  it('is empty for the same text', () => {
    expect(view('a\nb', 'a\nb')).toEqual({ text: '', facts: { added: 0, removed: 0 } });
  });

  it('turns the earlier output into this one, whatever they are', () => {
    const line = fc.constantFrom('a', 'b', 'c', '', '+x', '-y', ' z', '\\ No', '@@', 'é\u2028', 'w\r');
    const text = fc
      .tuple(fc.array(line, { maxLength: 30 }), fc.constantFrom('\n', '\r\n'), fc.boolean())
      .map(([all, end, closed]) => all.join(end) + (closed ? end : ''));
    fc.assert(
      fc.property(text, text, text, text, fc.integer({ min: 0, max: 4 }), (head, before, after, tail, context) => {
        const earlier = head + before + tail;
        const now = head + after + tail;
        const { text: patch, facts } = view(now, earlier, context);
        fc.pre(now !== earlier);
        expect(applyPatch(earlier, patch, { autoConvertLineEndings: false })).toBe(now);
        const count = (sign: string) =>
          patch
            .split('\n')
            .slice(2)
            .filter((row) => row.startsWith(sign)).length;
        expect(facts).toEqual({ added: count('+'), removed: count('-'), exact: true });
      }),
    );
  });

  it('compares outputs that differ too much as sets of lines', () => {
    const earlier = lines('gone', 'gone', 'same', ...numbered(3000, (i) => `old ${i}`));
    const now = lines(...numbered(3000, (i) => `new ${i}`), 'same', 'twice', 'twice', 'gone');
    const { text, facts } = view(now, earlier);
    expect(facts).toEqual({ added: 3002, removed: 3001, exact: false });
    const shown = text.split('\n');
    expect(shown.slice(0, 2)).toEqual(['-1× gone', '-1× old 0']);
    expect(shown.slice(3000, 3003)).toEqual(['-1× old 2999', '+1× new 0', '+1× new 1']);
    expect(shown.slice(-2)).toEqual(['+2× twice', '']);
  });

  it('reports if only the order differs', () => {
    const all = numbered(3000, (i) => `line ${i}`);
    expect(view(lines(...all.toReversed()), lines(...all))).toEqual({
      text: '',
      facts: { added: 0, removed: 0, exact: false, reordered: true },
    });
  });
});
