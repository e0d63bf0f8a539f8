import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Detector } from '#src/scrub/exact/detector.js';
import { loadConfig, loadPackFile } from '#src/scrub/exact/load-config.js';
import { RuleSet } from '#src/scrub/exact/rule-set.js';
import { isCovered } from '../../../helpers/covered-findings.ts';

const load = (text: string, name = 't'): ReturnType<typeof loadConfig> =>
  loadConfig({ name, text }, { readFile: () => '', official: null });

function found(toml: string, text: string): string[] {
  return new RuleSet([load(toml)]).find(text).map(({ start, end }) => text.slice(start, end));
}

function rule(settings: string, id = 'r'): string {
  return `[[rules]]\nid = '${id}'\n${settings}\n`;
}

const K = rule("regex = '''k=(\\w+)'''");
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('SEC-1.1 rules for masking', () => {
  it('ignore comments and paths', () => {
    const toml = `${rule("regex = '''k=(\\w+)'''\npath = '\\.yml$'")}[[rules.allowlists]]\npaths = ['.*']\n`;
    expect(found(toml, 'k=longsecret # gitleaks:allow')).toEqual(['longsecret']);
    expect(found(rule("path = '.*'"), 'anything')).toEqual([]);
  });

  it('mask the whole match if the secret is too short, or was captured in a repetition', () => {
    expect(found(K, 'x k=short y')).toEqual(['k=short']);
    expect(found(rule("regex = '''k=(?:(\\w{8})-)+'''"), 'k=aaaaaaaa-bbbbbbbb-')).toEqual(['k=aaaaaaaa-bbbbbbbb-']);
    expect(found(rule("regex = '''k=(?:(\\w{8})-)?'''"), 'k=aaaaaaaa-')).toEqual(['aaaaaaaa']);
  });

  it('masks the group of a rule of our own, however short', () => {
    const rules = new RuleSet([loadPackFile({ name: 'p', text: K })]);
    expect(rules.find('x k=short y')).toEqual([{ rule: 'r', start: 4, end: 9, isWhole: false }]);
  });

  it('treat an unfinished last line as a line, and nothing more', () => {
    const toml = `${K}[[rules.allowlists]]\nregexTarget = 'line'\nregexes = ['harmless']\n`;
    expect(found(toml, 'harmless\nk=longsecret')).toEqual(['longsecret']);
    expect(found(toml, 'k=longsecret harmless')).toEqual([]);
    expect(found(rule("regex = '''k=\\w+\\n'''"), 'k=longsecret')).toEqual(['k=longsecret']);
    expect(found(rule("regex = '''k=(\\w+)$'''"), 'k=longsecret')).toEqual(['longsecret']);
  });

  it('applies the allowlists of a file only to the rules of this file', () => {
    const lenient = load(`[allowlist]\nstopwords = ['long']\n${K}`, 'a');
    expect(new RuleSet([lenient]).find('k=longsecret')).toEqual([]);
    expect(new RuleSet([lenient, load(K, 'b')]).find('k=longsecret')).toHaveLength(1);
    expect(new RuleSet([lenient, load(K, 'b')]).ruleCount).toBe(2);
  });

  it('mask all of an encoded place, and nothing beside it', () => {
    const blob = Buffer.from('the key is k=longsecret').toString('hex');
    expect(found(K, `x ${blob} y`)).toEqual([blob]);
    expect(new RuleSet([load(K)]).find(blob, { maxDecodeDepth: 0 })).toEqual([]);
  });

  it('requires what a rule requires', () => {
    const toml = `${K}[[rules.required]]\nid = 'l'\nwithinLines = 0\n${rule("regex = 'l='\nskipReport = true", 'l')}`;
    expect(found(toml, 'k=longsecret l=\nk=othersecret\n')).toEqual(['longsecret']);
  });

  it('masks of percent encoding what stands for the secret, and no more of the line', () => {
    const masking = new RuleSet([load(`${K}[[rules.allowlists]]\nstopwords = ['abc']\n`)]);
    const part = fc.constantFrom('a', 'é', '%20', '%41', 'x/y', '"', ' ');
    const parts = fc.array(part, { maxLength: 400 }).map((list) => list.join(''));
    const value = fc.array(fc.constantFrom('%51', '%7a', '7', 'Q', 'k'), { minLength: 12, maxLength: 30 });
    fc.assert(
      fc.property(parts, value, parts, (before, letters, after) => {
        const text = `${before}%20\nx%20k=${letters.join('')}%20${after}%41`;
        for (const { start, end, inner } of masking.find(text)) {
          if (inner === undefined) continue;
          const decoded = text
            .slice(start, end)
            .replace(/%([0-9A-Fa-f]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
          expect([decoded]).toEqual(inner);
        }
      }),
    );
  });

  it('masks everything that the exact detector finds', () => {
    const config = load(
      `${K}[[rules.allowlists]]\nstopwords = ['abc']\n${rule("regex = '''(?s)<(.{0,9})>$'''", 'end')}${rule("regex = '''\\bq(?:(\\w)x)+'''", 'turns')}`,
    );
    const exact = new Detector(config);
    const masking = new RuleSet([config]);
    const texts = fc
      .array(
        fc.constantFrom(
          'k=',
          'abc',
          'xyz1',
          '\n',
          '<',
          '>',
          ' ',
          'é',
          '\u{1f600}',
          'qaxbx',
          '%41',
          base64('k=hidden 1234 <x>'),
        ),
        { maxLength: 20 },
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(texts, (text) => {
        const masked = masking.find(text);
        for (const finding of exact.detect(text)) expect(isCovered(finding, masked)).toBe(true);
      }),
    );
  });
});
