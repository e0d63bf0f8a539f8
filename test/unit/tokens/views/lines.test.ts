import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstLines, lastLines, viewLines } from '#src/tokens/views/ranges.js';
import type { Viewed } from '#src/tokens/views/view.js';
import { linesOf } from './numbered.ts';

const TEXT = fc.array(fc.constantFrom('a', 'bc', '\n', '\n\n', '\r\n', '😀', '…')).map((parts) => parts.join(''));

function shown(text: string, first: number, last: number): string {
  return sliceOf(text, viewLines(text, { first, last }));
}

function sliceOf(text: string, view: Viewed): string {
  if (view.kind !== 'range') throw new Error(`no range: ${view.kind}`);
  return text.slice(view.start, view.end);
}

describe('the view lines', () => {
  it.each([
    ['one line', 2, 2, 'two\n'],
    ['several', 1, 2, 'one\ntwo\n'],
    ['the last, without a line end', 3, 3, 'three'],
    ['to the end', 2, Number.POSITIVE_INFINITY, 'two\nthree'],
    ['more than there are', 2, 99, 'two\nthree'],
  ])('shows %s', (_name, first, last, expected) => {
    expect(shown('one\ntwo\nthree', first, last)).toBe(expected);
  });

  it('shows nothing beyond the end, and says so', () => {
    const text = 'one\ntwo\n';
    expect(viewLines(text, { first: 3, last: 9 })).toEqual({
      kind: 'range',
      start: text.length,
      end: text.length,
      facts: { lines: 2, beyond_end: true },
    });
    expect(viewLines('', { first: 1, last: 1 }).facts).toEqual({ lines: 0, beyond_end: true });
  });

  it('counts the lines of the whole text', () => {
    expect(viewLines('a\nb', { first: 1, last: 1 }).facts).toEqual({ lines: 2 });
    expect(viewLines('a\nb\n', { first: 1, last: 1 }).facts).toEqual({ lines: 2 });
    expect(viewLines('\n\n', { first: 1, last: 1 }).facts).toEqual({ lines: 2 });
  });

  it('splits a text into ranges that together give it back, whatever the text', () => {
    fc.assert(
      fc.property(TEXT, fc.integer({ min: 1, max: 4 }), (text, size) => {
        const { lines } = viewLines(text, { first: 1, last: 1 }).facts;
        expect(lines).toBe(linesOf(text).length);
        let again = '';
        for (let first = 1; first <= Number(lines); first += size) again += shown(text, first, first + size - 1);
        expect(again).toBe(text);
      }),
    );
  });
});

describe('the first and last lines', () => {
  it.each([
    [0, '', ''],
    [1, 'a\n', 'c'],
    [2, 'a\nb\n', 'b\nc'],
    [9, 'a\nb\nc', 'a\nb\nc'],
  ])('are %i of them', (count, first, last) => {
    const text = 'a\nb\nc';
    expect(text.slice(0, firstLines(text, count).end)).toBe(first);
    expect(text.slice(lastLines(text, count).start)).toBe(last);
  });

  it('together give the text back, whatever the text', () => {
    fc.assert(
      fc.property(TEXT, fc.nat(6), (text, count) => {
        const all = linesOf(text).length;
        const head = firstLines(text, count);
        const tail = lastLines(text, Math.max(0, all - count));
        expect([head.start, tail.end]).toEqual([0, text.length]);
        expect(head.end).toBe(tail.start);
        expect(linesOf(text.slice(0, head.end))).toEqual(linesOf(text).slice(0, count));
      }),
    );
  });
});
