import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadPackFile } from '#src/scrub/exact/load-config.js';
import { createEngine } from '#src/scrub/hardened/engine.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';
import { ALNUM, HEX, URL64 } from '../../../helpers/sample-patterns.ts';
import { generate, RULE_SAMPLES, seededRandom } from '../../../helpers/secret-samples.ts';
import { engine, pack } from '../../../helpers/test-rules.ts';

/** gitleaks' rules apply as they are written; some of them find a token in the middle of a word. */
const ownEngine = createEngine(pack, { compile: 'when used' });
const random = seededRandom(20_261_125);

const PROVIDERS = new Set(
  pack
    .filter(({ name }) => name.endsWith('providers.toml'))
    .flatMap((file) => loadPackFile(file).rules.map(({ id }) => id)),
);
/** Samples that are the secret and nothing else, and begin with a letter or digit. */
const PREFIXED = Object.entries(RULE_SAMPLES).flatMap(([rule, { match }]) =>
  (PROVIDERS.has(rule) ? match : [])
    .filter((pattern) => /^«[A-Za-z0-9]/.test(pattern) && pattern.indexOf('»') === pattern.length - 1)
    .filter((pattern) => !pattern.includes('://'))
    .map((pattern) => ({ rule, pattern: pattern.slice(1, -1) })),
);

/** What those samples begin with, up to the first random part. */
const PREFIXES = [...new Set(PREFIXED.map(({ pattern }) => pattern.replace(/\[.*$/s, '')))].filter((prefix) =>
  /^[A-Za-z]+(?:[_-][a-z]+)*[_-]$|^[A-Z]{3,5}$/.test(prefix),
);

/** What may stand right before a token: signs, and escapes that end with a letter or digit. */
const BEFORE = ['', ' ', '"', "'", '=', ':', '\n', '(', '\\n', '\\t', '\\u003d', '%3D', '%253D', '\u001b[0m'];

/** The rules of ours that find the secret. */
function findersOf(text: string, secret: string): string[] {
  const at = text.indexOf(secret);
  return ownEngine.scan(text).flatMap(({ rule, start, end }) => (start <= at && end > at ? [rule] : []));
}

describe('issue 16.1 a prefix of a provider counts only at the beginning of a word', () => {
  it('has samples of most providers', () => {
    expect(new Set(PREFIXED.map(({ rule }) => rule)).size).toBeGreaterThan(50);
  });

  it.each(PREFIXED)('$rule: $pattern', ({ pattern }) => {
    const secret = generate(pattern, random);
    for (const before of BEFORE) expect(findersOf(`${before}${secret}\n`, secret), before).not.toEqual([]);
  });

  it('takes no words for a token, whatever prefix of a provider is in the middle of them', () => {
    const word = fc.constantFrom('Sponsored', 'Products', 'Remote', 'Search', 'Pagination', 'Required', 'Session');
    const words = fc.array(word, { minLength: 10, maxLength: 14 }).map((all) => all.join(''));
    const prefix = fc.constantFrom(...PREFIXES);
    const letters = fc.stringMatching(/^[a-z0-9]{1,8}$/);
    fc.assert(
      fc.property(letters, prefix, words, (before, middle, rest) => {
        for (const text of [rest, rest.toLowerCase()])
          expect(ownEngine.scan(`${before}${middle}${text.slice(0, 90)}\n`)).toEqual([]);
      }),
    );
  });

  it('takes no word of a text for a token', () => {
    const texts = [
      'TODAYINASIAASACKOFRICEFELLOVER',
      `desktop-rhf_SponsoredProductsRemote${'SearchClickPagination'}`,
      'images/3/35/2018-250-xoxo-indieweb-1.jpg',
      `checksum: eaac${generate(`${HEX}{124}`, random)}`,
    ];
    for (const text of texts) expect(engine.scan(text)).toEqual([]);
  });
});

/** Tokens of one length. */
const FIXED = [
  ...['ghp_', 'gho_', 'ghu_'].map((prefix) => `${prefix}${ALNUM}{36}`),
  `ghr_${ALNUM}{76}`,
  `glpat-${URL64}{20}`,
  `hf_${ALNUM}{34}`,
  `gsk_${ALNUM}{52}`,
  `xai-${ALNUM}{80}`,
  `lin_api_${ALNUM}{40}`,
  `ntn_[0-9]{11}${ALNUM}{35}`,
  `shpat_${HEX}{32}`,
  `dckr_pat_${URL64}{27}`,
  `nvapi-${URL64}{64}`,
  `sk-ant-api03-${URL64}{93}AA`,
  `sk-proj-${URL64}{74}T3BlbkFJ${URL64}{74}`,
  `sq0csp-${URL64}{43}`,
  `r8_${ALNUM}{37}`,
  `GOCSPX-${URL64}{28}`,
];

describe('issue 16.2 a token of fixed length ends there', () => {
  it.each(FIXED)('%s', (pattern) => {
    const after = fc.constantFrom('y', 'Z', '7', 'yes', 'and more', '_x', 'y"', '', '\nnext');
    fc.assert(
      fc.property(after, fc.constantFrom('"', ' ', '', '_', '/'), (rest, before) => {
        const secret = generate(pattern, random);
        const text = `${before}${secret}${rest}\n`;
        expect(engine.scan(text).map(({ start, end }) => text.slice(start, end))).toEqual([secret]);
      }),
      { numRuns: propertyRuns('slow') },
    );
  });
});

describe('SEC-1.1 a value that was published as an example is shown', () => {
  it('if it is longer than a password, or counts', () => {
    for (const rest of ['x'.repeat(400), 'EXAMPLE'.repeat(60), '1234567890'.repeat(6), 'PUT_YOUR_TOKEN_HERE'])
      expect(engine.scan(`ops_eyJ${rest}`)).toEqual([]);
    expect(engine.scan(`token = ntn_${'1234567890'.repeat(5)}`)).toEqual([]);
  });
});
