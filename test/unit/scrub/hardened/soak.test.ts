import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../helpers/property-runs.ts';
import { generate, seededRandom } from '../../../helpers/secret-samples.ts';
import { engine } from '../../../helpers/test-rules.ts';

/** Lines with a key; the number in braces is any length. */
const KEYS = [
  'API_KEY=gh«p_[A-Za-z0-9]{36}',
  'gh«p_[A-Za-z0-9]{36}',
  'AK«IA[A-Z2-7]{16}',
  'np«m_[A-Za-z0-9]{36}',
  'sk_«live_[A-Za-z0-9]{24,99}',
  'TOKEN=glp«at-[A-Za-z0-9]{20,60}',
  'API_KEY=[A-Za-z0-9]{16,90}',
  'SECRET_KEY=[0-9a-f]{32,64}',
  'Authorization: Bearer [A-Za-z0-9]{20,90}',
  'password=[A-Za-z0-9]{8,60}',
  'AWS_SECRET_ACCESS_KEY=[A-Za-z0-9]{40}',
  'https://u:[A-Za-z0-9]{8,40}@h.example/',
];
const WORDS = [
  'total',
  'build',
  'main',
  'index',
  'server',
  'request',
  'Module',
  'Version',
  'Header',
  'compile',
  'value',
];
/** Columns that lines are filled to: those at which tools break lines. */
const WIDTHS = [0, 0, 40, 48, 60, 64, 72, 76, 80, 100, 120];

describe('SEC-1.1 nothing is lost beside a secret', () => {
  it('whatever its length, and whatever stands in the lines around it', () => {
    const random = seededRandom(48);
    const one = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
    const pattern = (text: string) => (): string => generate(text, random).replace('«', '');
    const ordinary: readonly (() => string)[] = [
      pattern('total [0-9]{1,3}'),
      pattern('[0-9]{1,2}-[0-9]{1,2}-0.[0-9]{4}'),
      pattern('[0-9]{1,9}'),
      pattern('[0-9a-f]{7}'),
      pattern('[0-9a-f]{40}'),
      pattern('[0-9a-f]{64}'),
      pattern('0x[0-9a-f]{8}'),
      pattern('[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'),
      pattern('v[0-9]{1}.[0-9]{2}.[0-9]{1}'),
      pattern('2026-11-2[0-9]{1}T10:11:12Z done'),
      () => one(WORDS),
      () => `${one(WORDS)} ${one(WORDS)} ${one(WORDS)}`,
      () => `${one(WORDS)}${one(WORDS)}${one(WORDS)}`,
      () => `src/${one(WORDS)}/${one(WORDS)}.ts`,
      () => `${one(WORDS)}_${one(WORDS)}_7`,
      () => `  ${one(WORDS)}: ${one(WORDS)}`,
    ];
    const lines = (count: number): string => Array.from({ length: count }, () => `${one(ordinary)()}\n`).join('');
    const lost: string[] = [];
    for (let i = 0; i < propertyRuns('function', 2); i++) {
      const key = pattern(one(KEYS))();
      const line = key.padStart(one(WIDTHS), ' ');
      const before = lines(Math.floor(random() * 3));
      const text = `${before}${line}\n${lines(1 + Math.floor(random() * 4))}`;
      const end = before.length + line.length;
      if (engine.scan(text).some((found) => found.start < before.length || found.end > end)) lost.push(text);
    }
    expect(lost).toEqual([]);
  });

  it('and not in the lines after a private key that has no END line', () => {
    const body = (count: number): string =>
      Array.from({ length: count }, () => generate('[A-Za-z0-9+/]{64}', seededRandom(count)).replace('«', '')).join(
        '\n',
      );
    const head = `-----BEGIN RSA PRIVATE${' KEY'}-----`;
    for (const next of ['total 48', 'done', 'src/main/index.ts', '42', '0xdeadbeef', 'Compiled successfully']) {
      const text = `${head}\n${body(4)}\n${next}\n`;
      const found = engine.scan(text);
      expect(found.length).toBeGreaterThan(0);
      for (const { end } of found) expect(end).toBeLessThanOrEqual(text.length - next.length - 1);
    }
  });

  it('and not in code between the two lines of a key', () => {
    const text = [
      `	if !strings.HasPrefix(text, "-----BEGIN PRIVATE${' KEY'}-----") {`,
      '		return nil, errors.New("the text has no private key: it must begin with the line above")',
      '	}',
      '	lines := strings.Split(strings.TrimSpace(text), "\\n")',
      '	for index, line := range lines[1:] {',
      `		if line == "-----END PRIVATE${' KEY'}-----" {`,
    ].join('\n');
    expect(engine.scan(text)).toEqual([]);
  });
});
