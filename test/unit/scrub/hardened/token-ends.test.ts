import { describe, expect, it } from 'vitest';
import { emitGo } from '#src/scrub/exact/emit-go.js';
import { parseGo } from '#src/scrub/exact/go-syntax.js';
import { loadConfig, loadPackFile } from '#src/scrub/exact/load-config.js';
import { RuleSet } from '#src/scrub/exact/rule-set.js';
import { withTokenEnd } from '#src/scrub/hardened/token-ends.js';
import { type MarkedToken, markedTokens } from '../../../helpers/marked-tokens.ts';
import { stride } from '../../../helpers/property-runs.ts';
import { ALNUM, URL64 } from '../../../helpers/sample-patterns.ts';
import { generate, seededRandom } from '../../../helpers/secret-samples.ts';
import { engine, official, pack } from '../../../helpers/test-rules.ts';

const gitleaks = loadConfig(official, { readFile: () => '', official: official.text });
const CONFIGS = [...pack.map(loadPackFile), gitleaks];
const random = seededRandom(20_261_126);
const MARKED = markedTokens(CONFIGS, random);

/** All of printable ASCII, blanks, and characters of other scripts. */
const NEIGHBOURS = [
  ...Array.from({ length: 0x5f }, (_, at) => String.fromCharCode(0x20 + at)),
  '\t',
  '\u00a0',
  '\u00e9',
  '\u2026',
  '\u201d',
  '\u3002',
  '\u0436',
  '\u{1f600}',
];

/** A token by itself, with what its rule needs before it. Some random tokens are examples or say too little. */
function tokenOf(one: MarkedToken): { before: string; token: string } {
  for (let tries = 0; tries < 100; tries++) {
    const { before, token } = one.sample(random);
    if (shownOf([{ left: before, token, right: '' }]).length === 0) return { before, token };
  }
  throw new Error(`${one.rule} finds none of 100 samples`);
}

interface Line {
  left: string;
  token: string;
  right: string;
}

/** The lines whose token is not masked as a whole. All are searched as one text, with other lines between them. */
function shownOf(lines: readonly Line[]): string[] {
  let text = '';
  const places = lines.map(({ left, token, right }) => {
    const start = text.length + left.length;
    text += `${left}${token}${right}\n-- next --\n`;
    return { start, end: start + token.length };
  });
  const found = engine.scan(text);
  return places.flatMap(({ start, end }, at) => {
    let from = start;
    for (const finding of found) if (finding.start <= from) from = Math.max(from, finding.end);
    const { left = '', token = '', right = '' } = lines[at] ?? {};
    return from >= end ? [] : [`${left}${token}${right}`];
  });
}

/** A token with characters beside it that cannot belong to it: each third one, another third for the next token. */
function besides(one: MarkedToken, position: number): Line[] {
  const { before, token } = tokenOf(one);
  const others = NEIGHBOURS.filter(
    (character, at) => (at + position) % stride(3) === 0 && !one.isOfAlphabet(character),
  );
  return [
    ...others.map((character) => ({ left: before, token, right: `${character}x` })),
    ...(one.needsContext ? [] : others.map((character) => ({ left: character, token, right: '' }))),
  ];
}

describe('SEC-1.1 a token with a mark ends where its alphabet ends', () => {
  it('has the rules with a mark, ours and those of gitleaks', () => {
    const marked = new Set(MARKED.map(({ rule }) => rule));
    expect(marked.size).toBeGreaterThan(230);
    expect(gitleaks.rules.filter(({ id }) => marked.has(id)).length).toBeGreaterThan(110);
  });

  it.each(MARKED.map((one, position) => [one.rule, position] as const))('%s (%i)', (_rule, position) => {
    const one = MARKED[position];
    if (one === undefined) throw new Error('no such rule');
    expect(shownOf(besides(one, position))).toEqual([]);
  });

  const STRIPE = `sk_live_${ALNUM}{24}`;
  const GOOGLE = `AIza${URL64}{35}`;
  it.each([
    ['-u KEY: https://api.example.com', STRIPE],
    ['Config(key=KEY, retries=3)', STRIPE],
    ['7,KEY,2026-01-01', STRIPE],
    ['GET https://maps.example.com/js?key=KEY&callback=init', GOOGLE],
    ['https://api.example.com/v1/KEY/charges', STRIPE],
    ['[KEY]', STRIPE],
    ['fn(KEY)', GOOGLE],
    ['"see KEY."', STRIPE],
    ['x|KEY|y', GOOGLE],
  ])('masks the key of `%s` and nothing else', (line, pattern) => {
    const key = generate(pattern, random);
    const text = `${line.replace('KEY', key)}\n`;
    expect(engine.scan(text).map(({ start, end }) => text.slice(start, end))).toEqual([key]);
  });

  it('masks each of a list of keys without names', () => {
    const keys = Array.from({ length: 9 }, (_, at) => generate(at % 2 === 0 ? STRIPE : GOOGLE, random));
    for (const separator of [',', ', ', ';', '|', ' ', '/', '=>', '\t']) {
      const text = `${keys.join(separator)}\n`;
      expect(engine.scan(text).map(({ start, end }) => text.slice(start, end))).toEqual(keys);
    }
  });

  it('takes no method of a program for a token', () => {
    for (const text of ['return s.handleConnectionRequested(ctx, req)', 'x = s.validateNewConfiguration, y'])
      expect(engine.scan(`\t${text}\n`)).toEqual([]);
  });
});

describe('SEC-1.1 a rule with other ends finds all that it finds as it is written', () => {
  it('in every text that gitleaks finds something in', () => {
    for (const config of CONFIGS)
      for (const rule of config.rules) {
        const wide = withTokenEnd(rule);
        if (wide === rule) continue;
        const [written, used] = [rule, wide].map((one) => new RuleSet([{ ...config, rules: [one], patterns: [] }]));
        for (const marked of markedTokens([{ ...config, rules: [rule] }], random)) {
          const { before, token } = marked.sample(random);
          for (const after of ['', '\n', '"', "'", ' ', ';', '\\n', ',', 'x']) {
            const text = `${before} ${token}${after}`;
            const found = written?.find(text).map(({ start, end }) => expect.objectContaining({ start, end })) ?? [];
            expect(used?.find(text), JSON.stringify(text)).toEqual(expect.arrayContaining(found));
          }
        }
      }
  });

  it('is left as it is if the rule needs what stands beside the token', () => {
    for (const regex of [
      'k=(ghp_[a-z]{9})',
      '"(ghp_[a-z]{9})"',
      '(ghp_[a-z]{9})@',
      '\\b([a-z]{9})\\b',
      '(ghp_x|',
      'a(b)$c(d)',
    ]) {
      const [rule] = gitleaks.rules;
      if (rule === undefined) throw new Error('gitleaks has no rules');
      const given = { ...rule, regex };
      expect(withTokenEnd(given)).toBe(given);
    }
  });
});

describe('a pattern written from its tree', () => {
  it('has the same tree', () => {
    for (const { regex } of CONFIGS.flatMap(({ rules }) => rules)) {
      const written = emitGo(parseGo(regex));
      expect(emitGo(parseGo(written)), regex).toBe(written);
    }
  });
});
