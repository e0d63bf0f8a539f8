import { describe, expect, it } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import type { GitleaksConfig } from '#src/scrub/exact/config.js';
import { Detector } from '#src/scrub/exact/detector.js';
import { loadConfig, loadPackFile } from '#src/scrub/exact/load-config.js';
import { RuleSet } from '#src/scrub/exact/rule-set.js';

const OFFICIAL = `[[rules]]\nid = 'official'\nregex = 'o=(\\w+)'\nkeywords = ['o=']\n[allowlist]\nstopwords = ['example']\n`;

/** `files` are the files that a configuration can extend. */
function load(text: string, files: Record<string, string> = {}, official: string | null = OFFICIAL): GitleaksConfig {
  const readFile = (path: string): string => {
    const found = files[path];
    if (found === undefined) throw new Error(`no file ${path}`);
    return found;
  };
  return loadConfig({ name: 'mine.toml', text }, { readFile, official });
}

/** rule:secret for every finding. */
function found(config: GitleaksConfig, text: string, path = ''): string[] {
  return new Detector(config).detect(text, { path }).map(({ rule, secret }) => `${rule}:${secret}`);
}

function faultOf(action: () => unknown): string {
  try {
    action();
  } catch (thrown) {
    if (thrown instanceof ContextdError) return `${thrown.code} ${thrown.message}`;
    throw thrown;
  }
  return 'no fault';
}

const R = `[[rules]]\nid = 'r'\nregex = '''k=(\\w+)'''\n`;
const BASE = `[[rules]]\nid = 'r'\nregex = 'k=(\\w+)'\nentropy = 1.5\ntags = ['base']\nkeywords = ['K']
[[rules.allowlists]]\nregexes = ['^abc3$']\n[[rules]]\nid = 'b'\nregex = 'b=(\\w+)'\n`;

describe('SEC-1.1 reading a gitleaks configuration', () => {
  it('accepts keys in any case and values of other types', () => {
    const config = load(
      `[[RULES]]\nId = 7\nREGEX = '(k)=(\\w+)'\nSecretGroup = '2'\nKeyWords = 'K,J'\nskipreport = 'F'\n`,
    );
    expect(config.rules).toMatchObject([{ id: '7', secretGroup: 2, keywords: ['k', 'j'], skipReport: false }]);
    expect(found(config, 'k=abc')).toEqual(['7:abc']);
  });

  it('may hold settings that gitleaks ignores; our own pack may not', () => {
    const text = `color = 'blue'\n${R}weight = 2\n`;
    expect(load(text).rules).toHaveLength(1);
    const pack = faultOf(() => loadPackFile({ name: 'mine.toml', text }));
    expect(pack).toContain('SCHEMA_INVALID mine.toml: rule "r": "weight"');
  });

  it.each([
    ['a value of another type', `${R}entropy = '1.0'\n`, '"entropy" must be a number'],
    ['an id used twice', `${R}${R}`, 'rule "r": the id is used twice'],
    ['an empty keyword', `${R}keywords = ['']\n`, 'rule "r": a keyword is empty'],
    ['extend', `[extend]\nuseDefault = true\n`, '"extend" is a gitleaks setting that is not supported here'],
    ['a path', `${R}path = 'x'\n`, 'rule "r": paths and commits are not known'],
    ['an allowlist of paths', `${R}[[rules.allowlists]]\npaths = ['x']\n`, 'rule "r": paths and commits'],
  ])('refuses %s in our own rules', (_what, text, fault) => {
    expect(faultOf(() => loadPackFile({ name: 'mine.toml', text }))).toContain(fault);
  });

  it('uses the last of two rules with one id', () => {
    expect(found(load(`${R}[[rules]]\nid = 'r'\nregex = 'l=(\\w+)'\n`), 'k=abc l=xyz')).toEqual(['r:xyz']);
  });

  it.each([
    ['a pattern Go refuses', `[[rules]]\nid = 'r'\nregex = '(?=k)'\n`, 'mine.toml: rule "r": the pattern is refused'],
    [
      'a pattern of an allowlist',
      `${R}[[rules.allowlists]]\nregexes = ['(?!x)']\n`,
      'rule "r", allowlist 1: the pattern',
    ],
    ['halves of a pattern', `${R}[[rules.allowlists]]\nregexes = ['a)(b']\n`, 'rule "r", allowlist 1: the pattern'],
    ['a path pattern', `${R}path = '['\n`, 'rule "r": the pattern is refused'],
    ['a missing group', `${R}secretGroup = 2\n`, 'rule "r": "secretGroup" is 2, the regex has 1 groups'],
    ['no id', `[[rules]]\nregex = 'k'\n`, 'rule number 1: it has no id'],
    ['neither regex nor path', `[[rules]]\nid = 'r'\n`, 'rule "r": it has neither regex nor path'],
    [
      'both kinds of allowlist',
      `${R}allowlist = { regexes = ['a'] }\nallowlists = [{ regexes = ['b'] }]\n`,
      'rule "r": "allowlist" and',
    ],
    [
      'both kinds for all rules',
      `[allowlist]\nregexes = ['a']\n[[allowlists]]\nregexes = ['b']\n`,
      'mine.toml: "allowlist" and',
    ],
    ['an empty allowlist', `${R}[[rules.allowlists]]\n`, 'rule "r", allowlist 1: it has none of'],
    [
      'another condition',
      `${R}[[rules.allowlists]]\ncondition = 'XOR'\nstopwords = ['a']\n`,
      'allowlist 1: "condition" is "XOR"',
    ],
    [
      'another target',
      `${R}[[rules.allowlists]]\nregexTarget = 'file'\nstopwords = ['a']\n`,
      'allowlist 1: "regexTarget" is "file"',
    ],
    [
      'an unknown target rule',
      `${R}[[allowlists]]\ntargetRules = ['x']\nstopwords = ['a']\n`,
      'an allowlist is for rule "x"',
    ],
    [
      'an unknown required rule',
      `${R}[[rules.required]]\nid = 'x'\n`,
      'rule "r": the required rule "x" is not in this file',
    ],
    [
      'a requirement without an id',
      `${R}[[rules.required]]\nwithinLines = 1\n`,
      'rule "r", required 1: it names no rule',
    ],
    ['a wrong type', `${R}keywords = { a = 1 }\n`, 'rule "r": "keywords" must be a list of strings'],
    ['broken TOML', `${R}x = `, 'mine.toml: not valid TOML'],
  ])('refuses %s and says where it is', (_what, text, fault) => {
    const told = faultOf(() => new Detector(load(text)));
    expect(told).toContain('SCHEMA_INVALID');
    expect(told).toContain(fault);
  });

  it('is refused for a bad pattern even if no rule uses it in the end', () => {
    const files = { 'base.toml': `[[rules]]\nid = 'bad'\nregex = '('\n` };
    const config = load(`[extend]\npath = 'base.toml'\ndisabledRules = ['bad']\n${R}`, files);
    expect(config.rules).toHaveLength(1);
    expect(faultOf(() => new Detector(config))).toContain('base.toml: rule "bad"');
    expect(faultOf(() => new RuleSet([config]))).toContain('base.toml: rule "bad"');
  });
});

describe('SEC-1.1 extending a configuration', () => {
  it('adds the official rules and allowlists, except the disabled ones', () => {
    expect(found(load(`[extend]\nuseDefault = true\n${R}`), 'o=abc k=abc o=example1').sort()).toEqual([
      'official:abc',
      'r:abc',
    ]);
    expect(found(load(`[extend]\nuseDefault = true\ndisabledRules = ['official']\n${R}`), 'o=abc k=abc')).toEqual([
      'r:abc',
    ]);
  });

  it('reports what is missing', () => {
    expect(faultOf(() => load(`[extend]\nuseDefault = true\n`, {}, null))).toContain(
      'mine.toml: it extends the configuration',
    );
    expect(faultOf(() => load(`[extend]\npath = 'x.toml'\n`))).toContain(
      'mine.toml: it extends x.toml, which cannot be read',
    );
    expect(faultOf(() => load(`[extend]\npath = 'x.toml'\nuseDefault = true\n`))).toContain('exclude each other');
  });

  it('starts a changed rule from the base and applies every value that is not empty', () => {
    const ours = `[extend]\npath = 'base.toml'\n[[rules]]\nid = 'r'\nregex = 'key=(\\w+)'\ntags = ['mine']\nkeywords = ['Key']
[[rules.allowlists]]\nstopwords = ['no']\n`;
    const rule = load(ours, { 'base.toml': BASE }).rules.find(({ id }) => id === 'r');
    expect(rule).toMatchObject({ regex: 'key=(\\w+)', entropy: 1.5, tags: ['base', 'mine'], keywords: ['k', 'key'] });
    expect(rule?.allowlists.map(({ regexes, stopwords }) => [...regexes, ...stopwords])).toEqual([['^abc3$'], ['no']]);
  });

  it('drops required and skipReport of a changed rule', () => {
    const ours = `[extend]\npath = 'base.toml'\n[[rules]]\nid = 'r'\nskipReport = true\n[[rules.required]]\nid = 'x'\n[[rules]]\nid = 'x'\nregex = 'x'\n`;
    const rule = load(ours, { 'base.toml': BASE }).rules.find(({ id }) => id === 'r');
    expect(rule).toMatchObject({ skipReport: false, required: [] });
  });

  it('follows two files up and no further', () => {
    const rule = (id: string): string => `[[rules]]\nid = '${id}'\nregex = 'k'\n`;
    const files = {
      '1.toml': `[extend]\npath = '2.toml'\n${rule('one')}`,
      '2.toml': `[extend]\npath = '3.toml'\n${rule('two')}`,
      '3.toml': rule('three'),
    };
    const ids = load(`[extend]\npath = '1.toml'\n${rule('mine')}`, files).rules.map(({ id }) => id);
    expect(ids.sort()).toEqual(['mine', 'one', 'two']);
  });

  it('stops if files extend each other', () => {
    const files = { 'a.toml': `[extend]\npath = 'a.toml'\n${R}` };
    expect(load(`[extend]\npath = 'a.toml'\n`, files).rules).toHaveLength(1);
  });

  it('adds allowlists to the rules they name, except those of an extended file', () => {
    const list = `[[allowlists]]\ntargetRules = ['r']\nstopwords = ['abc']\n`;
    expect(found(load(`[extend]\npath = 'base.toml'\n${list}`, { 'base.toml': BASE }), 'k=abcd b=abc')).toEqual([
      'b:abc',
    ]);
    expect(found(load(`[extend]\npath = 'base.toml'\n`, { 'base.toml': `${R}${list}` }), 'k=abcd')).toEqual(['r:abcd']);
  });
});
