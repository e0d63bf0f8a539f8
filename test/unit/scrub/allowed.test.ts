import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { systemClock } from '#src/core/clock.js';
import { silentLogger } from '#src/core/log.js';
import type { Scrubber } from '#src/scrub/scrubber.js';
import { createScrubber } from '#src/scrub/session-scrubber.js';
import { Allowance, hashForms } from '#src/scrub/vault/allowance.js';
import { generate, seededRandom } from '../../helpers/sample-patterns.ts';
import { sessionNamed } from '../../helpers/sessions.ts';
import { engine, scanner } from '../../helpers/test-rules.ts';

const KEY = Buffer.alloc(32, 7);
const SESSION = sessionNamed('s');
const random = seededRandom(164);
const make = (pattern: string): string => generate(pattern, random);

/** A scrubber, and a person who allows values for it. */
function scrubberAndPerson(): { scrubber: Scrubber; allow(value: string): void; mask(text: string): Promise<string> } {
  const forms = new Set<string>();
  let last = 0;
  const scrubber = createScrubber({
    scanner,
    engine,
    numbers: { next: () => ++last, last: () => last },
    allowed: () => (forms.size === 0 ? null : new Allowance(KEY, forms)),
    logger: silentLogger,
    clock: systemClock,
  });
  return {
    scrubber,
    allow: (value) => {
      for (const form of hashForms(KEY, value)) forms.add(form);
    },
    mask: async (text) => (await scrubber.scrub(SESSION, text)).value,
  };
}

/** Ways in which a program shows a value. */
const FORMS: Readonly<Record<string, (value: string) => string>> = {
  plain: (value) => value,
  'a setting': (value) => `API_TOKEN=${value}`,
  'a string of JSON': (value) => `{"password": ${JSON.stringify(value)}}`,
  base64: (value) => Buffer.from(value).toString('base64'),
  hex: (value) => Buffer.from(value).toString('hex'),
  'a URL': (value) => `https://example.com/?token=${encodeURIComponent(value)}`,
};

/** Texts that are another value. */
const CHANGED: Readonly<Record<string, (value: string) => string>> = {
  capitals: (value) => value.toUpperCase(),
  'small letters': (value) => value.toLowerCase(),
  reversed: (value) => [...value].reverse().join(''),
  'a half': (value) => value.slice(0, 14),
};

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** A file as programs print it whole. */
const PACKED: Readonly<Record<string, (text: string) => string>> = {
  base64,
  'wrapped base64': (text) => `${base64(text).replace(/.{32}/g, '$&\n')}\n`,
  hex: (text) => Buffer.from(text).toString('hex'),
  gzip: (text) => gzipSync(text).toString('base64'),
  'base64 of base64': (text) => base64(base64(text)),
};

const VALUES = [
  ...Array.from({ length: 12 }, () => make('ghp_[A-Za-z0-9]{36}')),
  ...Array.from({ length: 12 }, () => make('[a-z]{5}-[A-Z]{5}/[0-9]{6}\\+[a-z]{4}')),
];

describe('SEC-1.3 issue 16.4 a value that a person declared no secret', () => {
  it.each(VALUES)('shows in every form, in a session that had masked it (value %#)', async (value) => {
    const { allow, mask, scrubber } = scrubberAndPerson();
    expect(await mask(`API_TOKEN=${value}`)).toBe('API_TOKEN=[SECRET_1]');
    allow(value);
    for (const form of Object.values(FORMS)) expect(await mask(`${form(value)}\n`)).toBe(`${form(value)}\n`);
    expect(scrubber.openSecrets(SESSION, '[SECRET_1]', 'plain')).toBe(value);
  });

  it.each(VALUES)('is not remembered, and neither is a form of it (value %#)', async (value) => {
    const { allow, mask, scrubber } = scrubberAndPerson();
    allow(value);
    for (const form of Object.values(FORMS)) expect(await mask(`${form(value)}\n`)).toBe(`${form(value)}\n`);
    expect(scrubber.secrets(SESSION)).toEqual([]);
    const again = await scrubber.scrubAgain(SESSION, [`x ${value} x`], [{ rule: 'gitleaks', value }]);
    expect(again).toMatchObject({ value: [`x ${value} x`], secrets: [] });
  });

  it.each(VALUES)('does not open another value that only resembles it (value %#)', async (value) => {
    const { allow, mask } = scrubberAndPerson();
    const changed = Object.values(CHANGED).map((change) => change(value));
    await mask(`API_TOKEN=${value}`);
    const others = changed.filter((other) => other !== value);
    const before = await Promise.all(others.map((other) => mask(`${other}\n`)));
    allow(value);
    for (const [at, other] of others.entries()) {
      expect(await mask(`${other}\n`)).toBe(before[at]);
      expect(new Allowance(KEY, new Set(hashForms(KEY, value))).has(other)).toBe(false);
    }
  });

  it.each(Object.entries(PACKED))('shows a file in %s once its only secret is allowed', async (_name, pack) => {
    for (const known of [true, false]) {
      const { allow, mask } = scrubberAndPerson();
      const [value, other] = [make('ghp_[A-Za-z0-9]{36}'), make('ghp_[A-Za-z0-9]{36}')];
      const [one, two] = [`PORT=8080\nAPI_TOKEN=${value}\n`, `API_TOKEN=${value}\nOTHER_TOKEN=${other}\n`].map(pack);
      if (known) for (const text of [one, two]) expect(await mask(text ?? '')).toMatch(/^\[SECRET_\d\]=*\s*$/);
      allow(value);
      expect(await mask(one ?? '')).toBe(one);
      expect(await mask(two ?? '')).not.toContain((two ?? '').slice(20, 60));
    }
  });

  it('shows a file in base64 once its only secret is allowed, although a tool reports it', async () => {
    const { allow, scrubber } = scrubberAndPerson();
    const value = make('ghp_[A-Za-z0-9]{36}');
    const text = base64(`API_TOKEN=${value}\n`);
    allow(value);
    const firstPass = [[{ rule: 'github-pat', start: 0, end: text.length }]];
    expect((await scrubber.scrub(SESSION, text, { firstPass })).value).toBe(text);
  });

  it('does not open a larger secret of which it is a part, nor another secret beside it', async () => {
    for (let i = 0; i < 20; i++) {
      const { allow, mask } = scrubberAndPerson();
      const [part, rest, other] = [make('[A-Za-z0-9]{20}'), make('[A-Za-z0-9]{16}'), make('ghp_[A-Za-z0-9]{36}')];
      const larger = `ghp_${part}${rest}`;
      allow(part);
      for (const form of [FORMS.plain, FORMS.base64, FORMS['a setting'], FORMS['a URL']])
        expect(await mask(form?.(larger) ?? '')).not.toContain(part);
      expect(await mask(`${part} ${other}`)).toMatch(/^[A-Za-z0-9]{20} \[SECRET_\d\]$/);
      expect(await mask(larger.slice(0, 30))).toMatch(/^\[SECRET_\d\]$/);
    }
  });

  it('shows although a tool reports it as a secret', async () => {
    const { allow, scrubber } = scrubberAndPerson();
    const value = VALUES[0] ?? '';
    allow(value);
    const firstPass = [[{ rule: 'github-token', start: 2, end: 2 + value.length }]];
    expect((await scrubber.scrub(SESSION, `x ${value} x`, { firstPass })).value).toBe(`x ${value} x`);
  });

  it('is masked again once a person takes it back', async () => {
    const value = VALUES[0] ?? '';
    const forms = new Set(hashForms(KEY, value));
    const scrubber = createScrubber({
      scanner,
      engine,
      logger: silentLogger,
      clock: systemClock,
      numbers: { next: () => 1, last: () => 1 },
      allowed: () => (forms.size === 0 ? null : new Allowance(KEY, forms)),
    });
    expect((await scrubber.scrub(SESSION, value)).value).toBe(value);
    forms.clear();
    expect((await scrubber.scrub(SESSION, value)).value).toBe('[SECRET_1]');
  });

  it('is recorded by hashes that only the key of the installation makes', () => {
    const [value = ''] = VALUES;
    const other = hashForms(Buffer.alloc(32, 8), value);
    expect(hashForms(KEY, value).filter((form) => other.includes(form))).toEqual([]);
    expect(hashForms(KEY, value).every((form) => /^[0-9a-f]{64}$/.test(form))).toBe(true);
  });
});
