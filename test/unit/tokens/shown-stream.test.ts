import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadCounter } from '#src/tokens/counter.js';
import { DENSIFY_STEPS } from '#src/tokens/densify/densify.js';
import { CUT_MODES, type CutStream, type Piece, ShownStream } from '#src/tokens/shown-stream.js';

const counter = loadCounter();
const ESC = '\u001b';

function shown(text: string, more: Partial<CutStream> = {}, budgetTokens = 500): ShownStream {
  const stream = {
    field: 'stdout',
    text,
    offset: 0,
    cut: 'head_tail',
    densify: DENSIFY_STEPS,
    keepErrors: false,
  } as const;
  return new ShownStream({ ...stream, ...more }, budgetTokens);
}

/** In order, separate from each other and inside the source. */
function expectOrdered(pieces: readonly Piece[], source: string): void {
  let at = 0;
  for (const { start, end } of pieces) {
    expect(start).toBeGreaterThanOrEqual(at);
    expect(end).toBeGreaterThan(start);
    at = end;
  }
  expect(at).toBeLessThanOrEqual(source.length);
}

const LINES = [
  `${ESC}[31merror${ESC}[0m: src/a.ts:1:2 is wrong`,
  'ok 12 of 99   ',
  'downloading 1%\rdownloading 50%\rdownloading 100%',
  'the same line',
  'the same line',
  '0123456789abcdef0123 commit',
  '{"a": 1, "b": [1, 2]}',
  '',
  '— 世界 😀',
];
const texts = fc
  .array(fc.tuple(fc.constantFrom(...LINES), fc.integer({ min: 1, max: 30 })), { maxLength: 40 })
  .map((runs) => runs.map(([line, times]) => `${line}\n`.repeat(times)).join(''));

describe('a stream of an answer', () => {
  it('maps every piece back to its place in the source, densified or not', () => {
    fc.assert(
      fc.property(
        texts,
        fc.constantFrom(...CUT_MODES),
        fc.subarray([...DENSIFY_STEPS]),
        fc.boolean(),
        fc.integer({ min: 0, max: 400 }),
        (text, cut, densify, keepErrors, room) => {
          const pieces = shown(text, { cut, densify, keepErrors }).cut(counter, room);
          expectOrdered(pieces, text);
          for (const piece of pieces) {
            const source = text.slice(piece.start, piece.end);
            if (densify.length === 0) expect(piece.text).toBe(source);
            else expect(piece.text.length).toBeLessThanOrEqual(source.length);
          }
          if (cut === 'head') for (const { start } of pieces) expect(start).toBe(0);
          if (cut === 'tail') for (const { end } of pieces) expect(end).toBe(text.length);
        },
      ),
    );
  });

  it('names bytes of the artifact for any place', () => {
    fc.assert(
      fc.property(texts, fc.nat(), fc.nat(1000), (text, at, offset) => {
        const place = at % (text.length + 1);
        const wanted = offset + Buffer.byteLength(text.slice(0, place));
        // Nothing asks for a place inside a character.
        fc.pre(!/[\ud800-\udbff]$/.test(text.slice(0, place)));
        expect(shown(text, { offset }).byteAt(place)).toBe(wanted);
      }),
    );
  });

  const failure = 'src/a.ts(3,5): error TS2304: Cannot find name "x".\n';
  const log = `${'compiled a module\n'.repeat(4000)}${failure}${'cleaned a folder\n'.repeat(4000)}`;

  it.each([40, 80, 200, 1500])('keeps the last error lines of a failed command in a room of %d tokens', (room) => {
    const pieces = shown(log, { keepErrors: true, densify: [] }).cut(counter, room);
    expectOrdered(pieces, log);
    expect(pieces.map(({ text }) => text).join('')).toContain(room < 80 ? 'Cannot find name "x".' : failure);
  });

  it('shows no separate error lines if an end holds them, or if the command succeeded', () => {
    const atEnd = `${'compiled a module\n'.repeat(4000)}${failure}`;
    expect(shown(atEnd, { keepErrors: true, densify: [] }).cut(counter, 300)).toHaveLength(2);
    expect(shown(log, { keepErrors: false, densify: [] }).cut(counter, 300)).toHaveLength(2);
  });

  it('reads only both ends of a text far beyond the budget, and densifies only them', () => {
    const coloured = `${ESC}[32mok${ESC}[0m   \n`;
    const long = `${coloured}${'x'.repeat(600_000)}\n${coloured}`;
    const stream = shown(long);
    expect(stream.whole).toBeNull();
    const [head, tail] = stream.cut(counter, 200);
    expect(head?.text.startsWith('ok\nxxx')).toBe(true);
    expect(tail?.text.endsWith('xxx\nok\n')).toBe(true);
    expect([head?.start, tail?.end]).toEqual([0, long.length]);
    expect(stream.steps).toContain('ansi');
  });

  it('is whole and unchanged if nothing can be densified', () => {
    const stream = shown('one\ntwo\n');
    expect([stream.whole, stream.steps]).toEqual(['one\ntwo\n', []]);
    expect(stream.uncut()).toEqual([{ text: 'one\ntwo\n', start: 0, end: 8 }]);
  });
});
