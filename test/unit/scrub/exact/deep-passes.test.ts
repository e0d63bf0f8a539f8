import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeOnce, firstPass, type Pass } from '#src/scrub/exact/decode-pass.js';
import { loadConfig, loadPackFile } from '#src/scrub/exact/load-config.js';
import { PartFinder } from '#src/scrub/exact/part-finder.js';
import { type Due, RuleIndex, type Slot } from '#src/scrub/exact/rule-index.js';
import { readRuleSources } from '#src/scrub/rule-sources.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';
import { generateSample, RULE_SAMPLES, seededRandom } from '../../../helpers/secret-samples.ts';

const { pack, official } = readRuleSources();
const configs = [...pack.map(loadPackFile), loadConfig(official, { readFile: () => '', official: official.text })];
const index = new RuleIndex(configs, {});

const samples = Object.values(RULE_SAMPLES).flatMap(({ match }) => match);
const escaped = (text: string): string =>
  text.replace(/[^a-z]/g, (one) => `%${Buffer.from(one).toString('hex').slice(0, 2)}`);
const units = (text: string): string =>
  Array.from(text, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
const codePoints = (text: string): string =>
  Array.from(text, (one) => `U+${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`).join('\n');
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const hex = (text: string): string => Buffer.from(text).toString('hex');

const piece = fc
  .record({
    pattern: fc.constantFrom(...samples),
    seed: fc.nat(),
    layers: fc.array(fc.constantFrom(escaped, units, codePoints, base64, hex), { maxLength: 3 }),
  })
  .map(({ pattern, seed, layers }) =>
    layers.reduce((text, encode) => encode(text), generateSample(pattern, seededRandom(seed)).text),
  );
const ordinary = fc.constantFrom(
  'plain words of a log, nothing else\n'.repeat(300),
  'data: [] kind: Secret token secret -u password key\n'.repeat(60),
  'U+0041\n',
  '%ff',
  ' ',
  '\n',
  '\n\n',
  `${'x'.repeat(9000)} `,
  `U+0041 U+0042\n${base64('ordinary text 1')}\n%ff`,
);
const text = fc.array(fc.oneof(ordinary, piece), { minLength: 3, maxLength: 9 }).map((pieces) => pieces.join(''));

/** All passes over a text. */
function passesOf(whole: string): Pass[] {
  const passes = [firstPass(whole)];
  for (let next = decodeOnce(firstPass(whole)); next !== undefined && passes.length < 9; next = decodeOnce(next))
    passes.push(next);
  return passes;
}

describe('SEC-1.1 a text that was decoded is searched around what was decoded', () => {
  it('and the same is decoded next as if all of it were searched', () => {
    let deep = 0;
    fc.assert(
      fc.property(text, (whole) => {
        for (const pass of passesOf(whole)) {
          const [near, everywhere] = [decodeOnce(pass), decodeOnce({ ...pass, depth: 0 })];
          expect(near?.text).toBe(everywhere?.text);
          expect(near?.segments).toEqual(everywhere?.segments);
          if (pass.depth > 0 && near !== undefined) deep += 1;
        }
      }),
    );
    expect(deep).toBeGreaterThan(propertyRuns() / 8);
  });

  it('and the same rules are needed as if all of it were searched', () => {
    fc.assert(
      fc.property(text, (whole) => {
        let due: Due | undefined;
        for (const pass of passesOf(whole)) {
          due = index.dueIn(pass, due);
          const found = new Map(due.slots.map((slot): [Slot, Slot[]] => [slot, [slot]]));
          const ids = (slots: readonly Slot[]): string[] => slots.map(({ config }) => config.id);
          expect(ids(due.confirmed(found))).toEqual(ids(index.dueFor(pass.text)));
        }
      }),
      { numRuns: propertyRuns('slow') },
    );
  });

  it('and each rule finds the same in its parts as in all of it', () => {
    let searchedLess = 0;
    fc.assert(
      fc.property(text, (whole) => {
        const finder = new PartFinder();
        for (const pass of passesOf(whole)) {
          const due = index.dueFor(pass.text).filter(({ rule }) => !rule.isForPathsOnly);
          const partsOf = finder.in(pass, due);
          for (const { rule } of due) {
            const parts = partsOf(rule, pass.text);
            if (parts !== undefined && pass.depth > 0) searchedLess += 1;
            expect(rule.hitsIn(pass.text, pass.segments, parts), rule.config.id).toEqual(
              rule.hitsIn(pass.text, pass.segments),
            );
          }
        }
      }),
      { numRuns: propertyRuns('slow') },
    );
    expect(searchedLess).toBeGreaterThan(propertyRuns('slow'));
  });
});
