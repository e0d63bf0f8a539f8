import { describe, expect, it } from 'vitest';
import { parseGo } from '#src/scrub/exact/go-syntax.js';
import { isLineLocal, maxLength, minLength } from '#src/scrub/exact/go-tree.js';

describe('a pattern that matches within one line', () => {
  it.each([
    'abc[0-9]{3}',
    '(?i)a[ \\t]*b\\b',
    '(?m)^a.*$',
    '(?im)(?:^|[^\\nA-Z])x',
    'a[^\\s"]+',
    '[:=]',
    '\\x1b\\[[0-9;]*m',
    '[[:alpha:]]',
    '[\\x20-\\x7e]',
  ])('is recognised: %s', (source) => {
    expect(isLineLocal(parseGo(source))).toBe(true);
  });

  it.each([
    '^a',
    'a$',
    'a\\s+b',
    'a[\\s,]b',
    'a[^"]+b',
    'a\\nb',
    'a\nb',
    '(?s)a.b',
    '(?s:a.b)',
    '\\Aa',
    'a\\z',
    '[[:space:]]',
    'a\\W',
    'a[\\W]',
    'a[\\x00-\\x20]',
    'a[\\t- ]',
    '(?m)(?-m:^a)',
    'a[^\\\\n]b',
    'a\\x0ab',
    '\\pZ',
    '\\Qa\nb\\E',
  ])('is not confused with another pattern: %s', (source) => {
    expect(isLineLocal(parseGo(source))).toBe(false);
  });
});

describe('the longest possible match', () => {
  it.each([
    ['', 0, 0],
    ['a{2,3}b?', 2, 4],
    ['(a|bcd)*', 0, Number.POSITIVE_INFINITY],
    ['(?:^|\\b)*x', 1, 1],
    ['[a-z]|😀', 1, 2],
    ['.{2}', 2, 4],
    ['(?:a{0,2}){3}', 0, 6],
  ])('%s', (source, least, most) => {
    expect([minLength(parseGo(source)), maxLength(parseGo(source))]).toEqual([least, most]);
  });
});
