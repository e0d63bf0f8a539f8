import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Allowlist } from '#src/scrub/exact/allowlist.js';
import { parseGo } from '#src/scrub/exact/go-syntax.js';
import { loadPackFile } from '#src/scrub/exact/load-config.js';
import { readRulePack } from '#src/scrub/exact/rule-pack.js';

const rulesDir = join(import.meta.dirname, '../../../../src/scrub/rules');

describe('an allowlist of the rule pack', () => {
  it('SEC-1.1: has only parts that are valid patterns on their own, in every file', () => {
    const lists = readRulePack(rulesDir)
      .map(loadPackFile)
      .flatMap(({ allowlists, rules }) => [...allowlists, ...rules.flatMap((rule) => rule.allowlists)]);
    const sources = new Set(lists.flatMap(({ regexes, paths }) => [...regexes, ...paths]));
    expect(sources.size).toBeGreaterThan(10);
    for (const source of sources) expect(() => parseGo(source), source).not.toThrow();
  });

  it('SEC-1.1: is refused if its parts are valid patterns only when joined', () => {
    const [list] = readRulePack(rulesDir)
      .map(loadPackFile)
      .flatMap(({ rules }) => rules.flatMap(({ allowlists }) => allowlists));
    if (list === undefined) throw new Error('the pack has no allowlist');
    expect(() => new Allowlist({ ...list, regexes: ['(a', 'b)'], paths: [] })).toThrow('the pattern is refused');
  });
});
