import { join } from 'node:path';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { isLineLocal } from '#src/scrub/exact/line-local.js';
import { Pattern } from '#src/scrub/exact/pattern.js';
import { parseRuleFile } from '#src/scrub/exact/rule-config.js';
import { readRulePack } from '#src/scrub/exact/rule-pack.js';
import { generateSample, RULE_SAMPLES, seededRandom } from '../../../helpers/secret-samples.ts';

// The same cases in every run.
fc.configureGlobal({ seed: 20_261_121 });

const configs = readRulePack(join(import.meta.dirname, '../../../../src/scrub/rules')).flatMap(parseRuleFile);

/** All matches as the engine below finds them in the whole text. */
function plainly(source: string, text: string): { start: number; end: number }[] {
  const matcher = RE2JS.compile(source).matcher(text);
  const found: { start: number; end: number }[] = [];
  while (matcher.find()) found.push({ start: matcher.start(), end: matcher.end() });
  return found;
}

describe('a pattern that keeps to its line', () => {
  it.each([
    'abc[0-9]{3}',
    '(?i)a[ \\t]*b\\b',
    '(?m)^a.*$',
    '(?im)(?:^|[^\\nA-Z])x',
    'a[^\\s"]+',
    '[:=]',
    '\\x1b\\[[0-9;]*m',
  ])('is known: %s', (source) => {
    expect(isLineLocal(source)).toBe(true);
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
  ])('is not taken for one: %s', (source) => {
    expect(isLineLocal(source)).toBe(false);
  });

  it('gives the same matches line by line as all at once, for every rule of the pack', () => {
    const texts = Object.entries(RULE_SAMPLES).flatMap(([, { match }]) => match);
    const piece = fc.oneof(
      fc
        .record({ pattern: fc.constantFrom(...texts), seed: fc.nat() })
        .map(({ pattern, seed }) => generateSample(pattern, seededRandom(seed)).text),
      fc.constantFrom('\n', '\r\n', ' ', 'x', '"', '\\n', '\x1b[0m', 'é', '😀'),
    );
    const compiled = configs.map(({ id, regex, where }) => ({ id, regex, pattern: new Pattern(regex, where) }));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = pieces.join('');
        for (const { id, regex, pattern } of compiled) expect(pattern.findAll(text), id).toEqual(plainly(regex, text));
      }),
      { numRuns: 30 },
    );
  });

  it('finds what lies far behind others in a long text', () => {
    const text = `${'filler line\n'.repeat(2000)}a1\n${'filler line\n'.repeat(2000)}a2 a3`;
    expect(new Pattern('a[0-9]', 'test').findAll(text)).toEqual(plainly('a[0-9]', text));
    expect(new Pattern('\\sa[0-9]', 'test').findAll(text)).toEqual(plainly('\\sa[0-9]', text));
    expect(new Pattern('x*', 'test').findAll('axxb')).toEqual(plainly('x*', 'axxb'));
  });
});
