import { describe, expect, it } from 'vitest';
import { KeywordIndex } from '#src/scrub/exact/keyword-index.js';
import { loadPackFile } from '#src/scrub/exact/load-config.js';
import { RuleSet } from '#src/scrub/exact/rule-set.js';
import { judge } from '#src/scrub/hardened/judge.js';
import { stride } from '../../helpers/property-runs.ts';
import { CLEAN_TEXTS, generate, generateSample, RULE_SAMPLES, seededRandom } from '../../helpers/secret-samples.ts';
import { engine, pack } from '../../helpers/test-rules.ts';

const configs = pack.map(loadPackFile).flatMap((file) => file.rules.map((rule) => ({ ...rule, file })));
const SEEDS = [1, 2, 3, 4, 5].filter((_, at) => at % stride(2) === 0);

describe('the rule pack', () => {
  it('has more than two hundred rules with unique ids', () => {
    expect(configs.length).toBeGreaterThan(200);
    expect(new Set(configs.map(({ id }) => id)).size).toBe(configs.length);
  });

  it('has samples for every rule of the folder, and for no other rule', () => {
    expect(Object.keys(RULE_SAMPLES).sort()).toEqual(configs.map(({ id }) => id).sort());
    for (const { match, clean } of Object.values(RULE_SAMPLES)) {
      expect(match.length).toBeGreaterThan(0);
      expect(clean.length).toBeGreaterThan(0);
    }
  });

  describe.each(configs.map((config) => [config.id, config] as const))('SEC-1.1 %s', (id, config) => {
    const rule = new RuleSet([{ ...config.file, rules: [{ ...config, keywords: [] }] }]);
    const find = (text: string) => rule.find(text, { maxDecodeDepth: 0 });
    const keywords = new KeywordIndex(config.keywords);
    const samples = RULE_SAMPLES[id] ?? { match: [], clean: [] };

    it.each(samples.match)('finds %j', (pattern) => {
      for (const seed of SEEDS) {
        const { text, secret, start } = generateSample(pattern, seededRandom(seed));
        const found = find(`${text}\n`);
        expect(
          found.map((finding) => text.slice(finding.start, finding.end)),
          text,
        ).toEqual([secret]);
        expect(found[0]?.start).toBe(start);
        if (config.keywords.length > 0) expect(keywords.find(text).size, `keyword in ${text}`).toBeGreaterThan(0);
      }
    });

    it.each(samples.clean)('leaves %j alone', (pattern) => {
      for (const seed of SEEDS) {
        const text = generate(pattern, seededRandom(seed));
        const believed = find(`${text}\n`).filter((finding) => judge(`${text}\n`, finding) !== null);
        expect(believed.map(({ start, end }) => text.slice(start, end))).toEqual([]);
      }
    });
  });

  it.each(CLEAN_TEXTS)('leaves %j alone, with all rules together', (pattern) => {
    for (const seed of SEEDS) {
      const text = generate(pattern, seededRandom(seed));
      expect(engine.scan(text).map(({ rule, start, end }) => `${rule}: ${text.slice(start, end)}`)).toEqual([]);
    }
  });
});
