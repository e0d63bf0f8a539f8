import { join } from 'node:path';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { parseGo } from '#src/scrub/exact/go-syntax.js';
import { LinearEngine } from '#src/scrub/exact/linear-engine.js';
import { loadConfig } from '#src/scrub/exact/load-config.js';
import { isTranslatable } from '#src/scrub/exact/native-engine.js';
import { Pattern } from '#src/scrub/exact/pattern.js';
import { readRulePack } from '#src/scrub/exact/rule-pack.js';
import { ShortLineEngine } from '#src/scrub/exact/short-line-engine.js';
import type { Span } from '#src/text/offset-map.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';
import { generateSample, RULE_SAMPLES, seededRandom } from '../../../helpers/secret-samples.ts';

const rules = readRulePack(join(import.meta.dirname, '../../../../src/scrub/rules')).flatMap(
  (file) => loadConfig(file, { readFile: () => '', official: null }).rules,
);

/** All matches as re2js finds them in the whole text, those left out that Go leaves out. */
function plainly(source: string, text: string): Span[] {
  const matcher = RE2JS.compile(source).matcher(text);
  const found: Span[] = [];
  while (matcher.find()) {
    const range = { start: matcher.start(), end: matcher.end() };
    if (range.start < range.end || range.end !== found.at(-1)?.end) found.push(range);
  }
  return found;
}

const hostileText = fc
  .array(fc.constantFrom('a', 'b', 'k', ' ', '\n', '\r', '=', '"', '1', 'ſ', 'é', '😀', '\u2028', 'ab\n', 'kk=a1'), {
    maxLength: 40,
  })
  .map((pieces) => pieces.join(''));

/** Patterns of every kind that is searched in its own way: by lines, by blocks, in the whole text. */
const KINDS = [
  'a[b-k]+',
  '(?m)^a.*$',
  'k\\s*=\\s*\\S{1,4}',
  '\\ba.{0,3}?1\\b',
  '(?s)a.*b',
  '^a|b$',
  'x*',
  '(?:a|k|😀)?',
  'a\\z',
];

describe('SEC-1.1 a pattern finds what Go finds, wherever it looks', () => {
  it('finds the same matches in pieces as in one go, for every rule of the pack', () => {
    const texts = Object.values(RULE_SAMPLES).flatMap(({ match }) => match);
    const piece = fc.oneof(
      fc
        .record({ pattern: fc.constantFrom(...texts), seed: fc.nat() })
        .map(({ pattern, seed }) => generateSample(pattern, seededRandom(seed)).text),
      fc.constantFrom('\n', '\r\n', ' ', 'x', '"', '\\n', '\x1b[0m', 'é', '😀'),
    );
    const patterns = rules
      .filter(({ regex }) => regex !== '')
      .map(({ id, regex, where }) => ({ id, regex, pattern: new Pattern(regex, where) }));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const text = pieces.join('');
        for (const { id, regex, pattern } of patterns) expect(pattern.findAll(text), id).toEqual(plainly(regex, text));
      }),
      { numRuns: propertyRuns('door') },
    );
  });

  it('finds matches across the borders of blocks in long texts', () => {
    const long = fc.tuple(hostileText, fc.integer({ min: 1, max: 9 }), fc.constantFrom(0, 200, 255, 256, 4094, 4096));
    fc.assert(
      fc.property(fc.array(long, { maxLength: 4 }), (parts) => {
        const text = parts.map(([some, times, gap]) => `${'-'.repeat(gap)}${some.repeat(times)}`).join('');
        for (const source of KINDS) {
          const linear = new LinearEngine(source);
          expect(linear.findAll(text), source).toEqual(plainly(source, text));
          if (!isTranslatable(parseGo(source))) continue;
          const byLine = new ShortLineEngine(parseGo(source), () => linear);
          expect(byLine.findAll(text), source).toEqual(plainly(source, text));
          expect(byLine.test(text), source).toBe(plainly(source, text).length > 0);
        }
      }),
      { numRuns: propertyRuns('slow') },
    );
  });

  it('finds a match far behind others in a long text', () => {
    const text = `${'filler line\n'.repeat(2000)}a1\n${'filler line\n'.repeat(2000)}a2 a3${'-'.repeat(600)}a4`;
    for (const source of ['a[0-9]', '\\sa[0-9]', '(?s)a[0-9].*3'])
      expect(new Pattern(source, 'test').findAll(text)).toEqual(plainly(source, text));
  });

  it('skips an empty match that touches the one before it', () => {
    expect(new Pattern('x*', 'test').findAll('axxb')).toEqual([
      { start: 0, end: 0 },
      { start: 1, end: 3 },
      { start: 4, end: 4 },
    ]);
  });

  it('returns the groups of the first match, and the last turn of a repeated group', () => {
    const pattern = new Pattern('(?:(a)|(b))+(c)?', 'test');
    expect(pattern.groupCount).toBe(3);
    expect(pattern.groups('-ab-')).toEqual([{ start: 1, end: 2 }, { start: 2, end: 3 }, undefined]);
    expect(pattern.groups('-')).toEqual([]);
  });

  it('refuses what Go refuses and names the position', () => {
    expect(() => new Pattern('a(?=b)', 'mine.toml: rule "x"')).toThrow(/mine\.toml: rule "x".*refused/);
  });
});
