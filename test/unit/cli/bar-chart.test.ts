import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderBarChart } from '#src/cli/render.js';

const group = (label: string, ...amounts: number[]) => ({
  label,
  bars: amounts.map((amount) => ({ name: 'n', amount, text: String(amount) })),
});

describe('a bar chart', () => {
  it('draws all bars on one scale, to an eighth of a block', () => {
    // 1 for the label, 1 for the name, 2 for the number, three gaps: 8 columns are left.
    expect(renderBarChart({ title: 'T', groups: [group('a', 16, 8, 1, 0), group('b', 5)] }, 18)).toEqual([
      'T',
      'a  n  16  ████████',
      '   n   8  ████',
      '   n   1  ▌',
      '   n   0',
      'b  n   5  ██▌',
    ]);
  });

  it('shows at least an eighth of a block for every amount above 0', () => {
    const [, , small] = renderBarChart({ title: '', groups: [group('a', 1_000_000, 1)] }, 80);
    expect(small).toMatch(/ ▏$/);
  });

  it('draws twenty groups and prints the number of the others', () => {
    const lines = renderBarChart({ title: '', groups: Array.from({ length: 23 }, () => group('a', 1)) }, 80);
    expect(lines).toHaveLength(22);
    expect(lines.at(-1)).toBe('… and 3 more');
  });

  it('fits into 80 columns and into any terminal wider than the labels', () => {
    const groups = fc.array(
      fc
        .tuple(fc.string(), fc.array(fc.nat(), { minLength: 1, maxLength: 2 }))
        .map(([label, amounts]) => group(label, ...amounts)),
    );
    fc.assert(
      fc.property(groups, fc.integer({ min: 46, max: 300 }), (all, columns) => {
        for (const line of renderBarChart({ title: 'T', groups: all }, columns))
          expect(line.length).toBeLessThanOrEqual(Math.min(80, columns));
      }),
    );
  });
});
