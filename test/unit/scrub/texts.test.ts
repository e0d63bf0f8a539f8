import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '#src/core/json.js';
import { collectLeaves, replaceLeaves } from '#src/scrub/leaves.js';
import { isCovered, maskView, mergeFindings, PLACEHOLDER, subtractSpans } from '#src/scrub/spans.js';
import { escapeLookAlikes, replaceTokens } from '#src/scrub/vault/look-alike.js';

const TEXT = 'abcdefghijklmnopqrstuvwxyz';
const LENGTH = TEXT.length;
const span = fc
  .tuple(fc.nat(LENGTH), fc.nat(LENGTH))
  .map(([a, b]) => ({ rule: 'r', start: Math.min(a, b), end: Math.max(a, b) }));
const spans = fc.array(span, { maxLength: 8 });

/** The offsets that spans cover. */
function covered(list: readonly { start: number; end: number }[]): Set<number> {
  const offsets = new Set<number>();
  for (const { start, end } of list) for (let at = start; at < end; at++) offsets.add(at);
  return offsets;
}

describe('spans', () => {
  it('are merged without losing or adding a character', () => {
    fc.assert(
      fc.property(spans, (list) => {
        const merged = mergeFindings(list);
        expect(covered(merged)).toEqual(covered(list));
        for (const [i, { start, end }] of merged.entries()) {
          expect(start).toBeLessThan(end);
          expect(start).toBeGreaterThanOrEqual(merged[i - 1]?.end ?? 0);
        }
        for (const finding of list.filter(({ start, end }) => start < end))
          expect(isCovered(finding, merged)).toBe(true);
      }),
    );
  });

  it('are subtracted exactly', () => {
    fc.assert(
      fc.property(spans, spans, (left, right) => {
        const rest = subtractSpans(mergeFindings(left), mergeFindings(right));
        const taken = covered(right);
        expect([...covered(rest)].sort()).toEqual([...covered(left)].filter((at) => !taken.has(at)).sort());
      }),
    );
  });

  it('map the masked view back to the original', () => {
    fc.assert(
      fc.property(spans, fc.nat(), fc.nat(), (list, a, b) => {
        const merged = mergeFindings(list);
        const view = maskView(TEXT, merged);
        const [start = 0, end = 0] = [a % (view.text.length + 1), b % (view.text.length + 1)].sort((x, y) => x - y);
        const back = view.toOriginal({ rule: 'r', start, end });
        const plain = view.text.slice(start, end).split(PLACEHOLDER);
        if (start < end && plain.every((part) => /^[a-z]*$/.test(part)))
          expect(
            maskView(
              TEXT.slice(0, back.end),
              merged.filter((s) => s.end <= back.end),
            ).text,
          ).toBe(view.text.slice(0, end));
        expect(back.start).toBeLessThanOrEqual(back.end);
        for (const { start: from, end: to } of merged) {
          expect(from < back.start && back.start < to).toBe(false);
          expect(from < back.end && back.end < to).toBe(false);
        }
      }),
    );
  });
});

describe('leaves', () => {
  it('are put back where they came from', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (drawn) => {
        const value: Json = JSON.parse(JSON.stringify(drawn));
        expect(replaceLeaves(value, collectLeaves(value))).toEqual(value);
      }),
    );
  });

  it('include keys, in a fixed order', () => {
    expect(collectLeaves({ a: 'b', c: ['d', { e: null, f: 'g' }], h: 1 })).toEqual([
      'a',
      'b',
      'c',
      'd',
      'e',
      'f',
      'g',
      'h',
    ]);
  });

  it('lose no entry if keys become equal', () => {
    expect(replaceLeaves({ a: 1, b: 2, c: 3 }, ['x', 'x', 'x'])).toEqual({ x: 1, 'x (2)': 2, 'x (3)': 3 });
  });

  it('can be called __proto__', () => {
    const value: Json = JSON.parse('{"__proto__":{"a":"b"}}');
    expect(JSON.stringify(replaceLeaves(value, collectLeaves(value)))).toBe('{"__proto__":{"a":"b"}}');
  });

  it('must match the number of strings of the value', () => {
    expect(() => replaceLeaves(['a'], [])).toThrow(RangeError);
    expect(() => replaceLeaves(['a'], ['b', 'c'])).toThrow(RangeError);
  });
});

describe('SEC-1.3 text that looks like a token', () => {
  const tricky = fc
    .array(fc.constantFrom('[SECRET', '\\', '_', '7', ']', '[SECRET_1]', '[SECRET\\_1]', 'x'))
    .map((parts) => parts.join(''));

  it('is neutralised and restored exactly', () => {
    fc.assert(
      fc.property(fc.oneof(tricky, fc.string()), (text) => {
        const escaped = escapeLookAlikes(text);
        expect(escaped).not.toMatch(/\[SECRET_\d+\]/);
        expect(replaceTokens(escaped, () => expect.unreachable('nothing is left to open'))).toBe(text);
      }),
    );
  });

  it('gets one more backslash each time', () => {
    expect(escapeLookAlikes('[SECRET_7] [SECRET\\_7] [SECRET] [SECRET_x]')).toBe(
      '[SECRET\\_7] [SECRET\\\\_7] [SECRET] [SECRET_x]',
    );
  });
});
