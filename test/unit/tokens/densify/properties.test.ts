import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DENSIFY_STEPS, densify, plainLines } from '#src/tokens/densify/densify.js';
import { partedUnits } from '../parted-units.ts';
import { OUTPUTS, outputLike, playableLines } from './outputs.ts';
import { shownLine, unfolded } from './terminal-line.ts';

const someSteps = fc.subarray([...DENSIFY_STEPS]);
const anyOutput = fc.oneof(outputLike(), fc.constantFrom(...OUTPUTS.map(([, text]) => text)));
const bytes = (text: string): number => Buffer.byteLength(text);
const lines = (text: string): string[] => text.split('\n');

describe('densification', () => {
  it('never makes a text larger, in characters or bytes, and reports exactly what it did', () => {
    fc.assert(
      fc.property(anyOutput, someSteps, (source, steps) => {
        const dense = densify(source, steps);
        expect(steps).toEqual(expect.arrayContaining([...dense.steps]));
        expect(dense.steps).toEqual(DENSIFY_STEPS.filter((step) => dense.steps.includes(step)));
        if (dense.steps.length === 0) expect(dense.text).toBe(source);
        else expect(dense.text.length).toBeLessThan(source.length);
        expect(bytes(dense.text)).toBeLessThanOrEqual(bytes(source) - dense.steps.length);
      }),
    );
  });

  it('changes nothing in its own result', () => {
    fc.assert(
      fc.property(anyOutput, someSteps, (source, steps) => {
        const { text } = densify(source, steps);
        expect(densify(text, steps)).toMatchObject({ text, steps: [] });
      }),
    );
  });

  it('splits the source at any cut: no place twice, none lost, no unit in two', () => {
    fc.assert(
      fc.property(anyOutput, someSteps, fc.nat(), fc.nat(), (source, steps, one, other) => {
        const dense = densify(source, steps);
        const [x = 0, y = 0] = [one, other].map((at) => at % (dense.text.length + 1)).sort((a, b) => a - b);
        const [head, tail] = [dense.cutBefore(x), dense.cutAfter(y)];
        expect([head <= x, tail >= y]).toEqual([true, true]);
        const [headEnd, tailStart] = [dense.sourceOf(head, 'end'), dense.sourceOf(tail, 'start')];
        expect(headEnd).toBeLessThanOrEqual(tailStart);
        expect(partedUnits(source, [headEnd, tailStart])).toEqual([]);
        expect(partedUnits(dense.text, [head, tail])).toEqual([]);
        expect(dense.cutBefore(head)).toBe(head);
        expect(dense.cutAfter(tail)).toBe(tail);
      }),
    );
  });

  it('maps places in order, the ends to the ends, with at least as many source characters as shown', () => {
    fc.assert(
      fc.property(anyOutput, someSteps, fc.nat(), fc.nat(80), (source, steps, from, length) => {
        const dense = densify(source, steps);
        const start = from % (dense.text.length + 1);
        const end = Math.min(start + length, dense.text.length);
        for (const side of ['end', 'start'] as const) {
          expect(dense.sourceOf(start, side)).toBeLessThanOrEqual(dense.sourceOf(end, side));
          expect(dense.sourceOf(dense.text.length, side)).toBe(source.length);
          if (dense.text !== '') expect(dense.sourceOf(0, side)).toBe(0);
        }
        const [a, b] = [dense.cutAfter(start), dense.cutAfter(end)];
        expect(dense.sourceOf(b, 'end') - dense.sourceOf(a, 'start')).toBeGreaterThanOrEqual(b - a);
      }),
    );
  });

  it('lets a text be cut at every line end except those inside a folded run', () => {
    fc.assert(
      fc.property(outputLike(), someSteps, (source, steps) => {
        const dense = densify(source, steps);
        for (const end of lineEnds(dense.text)) {
          const isFold = dense.text.startsWith('… the line above ', end);
          expect(dense.cutBefore(end) === end && dense.cutAfter(end) === end).toBe(!isFold);
        }
      }),
    );
  });

  it('makes the same head from the part of the source that the head stands for', () => {
    fc.assert(
      fc.property(anyOutput, someSteps, fc.nat(), (source, steps, which) => {
        const withoutJson = steps.filter((step) => step !== 'json');
        const dense = densify(source, withoutJson);
        const ends = lineEnds(dense.text).filter((end) => dense.cutBefore(end) === end);
        fc.pre(ends.length > 0);
        const head = ends[which % ends.length] ?? 0;
        const part = source.slice(0, dense.sourceOf(head, 'end'));
        expect(densify(part, withoutJson).text).toBe(dense.text.slice(0, head));
      }),
    );
  });

  it('keeps tokens of secrets whole, or removes them', () => {
    fc.assert(
      fc.property(outputLike(), someSteps, (source, steps) => {
        const { text } = densify(source, steps);
        expect(text.replaceAll('[SECRET_12]', '').replaceAll('[SECRET]', '')).not.toMatch(/\[S|_12|T\]/);
      }),
    );
  });

  it('shows each line as a terminal finally would', () => {
    fc.assert(
      fc.property(playableLines(), (source) => {
        const { text } = densify(source, ['ansi', 'progress']);
        expect(lines(text).map(shownLine)).toEqual(lines(source).map(shownLine));
        const plain = lines(plainLines(source));
        for (const [at, line] of lines(text).entries()) {
          if (!line.includes('\u001b')) expect(shownLine(plain[at] ?? '')).toBe(shownLine(line));
        }
      }),
    );
  });

  it('keeps what every line shows, with folded runs written out', () => {
    fc.assert(
      fc.property(playableLines(), (source) => {
        const { text } = densify(source, ['ansi', 'progress', 'repeats', 'trailing_spaces']);
        expect(lines(unfolded(text)).map(shownLine)).toEqual(lines(source).map(shownLine));
      }),
    );
  });

  it.each(OUTPUTS)('%s: keeps every visible path, place, hash and number, in order', (_name, source) => {
    const seen = literals(lines(source).map(shownLine).join('\n'));
    const dense = densify(source, DENSIFY_STEPS);
    const kept = literals(lines(unfolded(dense.text)).map(shownLine).join('\n'));
    expect(kept).toEqual(seen);
  });
});

describe('plain lines', () => {
  it('match the number of lines in the source, and hold no sequence', () => {
    fc.assert(
      fc.property(anyOutput, (source) => {
        const plain = plainLines(source);
        expect(lines(plain).length).toBe(lines(source).length);
        expect(plain).not.toContain('\u001b');
      }),
    );
  });
});

function lineEnds(text: string): number[] {
  return [...text.matchAll(/\n/g)].map(({ index }) => index + 1);
}

function literals(text: string): string[] {
  return text.match(/[\w@.~-]*\/[\w@./~-]+(?::\d+){0,2}|[\w.-]+:\d+(?::\d+)?|\b[0-9a-f]{7,}\b|\d+(?:\.\d+)?/g) ?? [];
}
