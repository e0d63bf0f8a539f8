import { describe, expect, it } from 'vitest';
import { maskView, PLACEHOLDER } from '#src/scrub/spans.js';
import { base64, wrap } from '../../../helpers/evasion-forms.ts';
import { stride } from '../../../helpers/property-runs.ts';
import { generate, generateSample, RULE_SAMPLES, seededRandom } from '../../../helpers/secret-samples.ts';
import { engine } from '../../../helpers/test-rules.ts';

const random = seededRandom(16);
const mask = (text: string): string => maskView(text, engine.scan(text)).text;

/** Columns at which tools break lines: a line of such a width may be wrapped. */
const WIDTHS = [40, 48, 60, 64, 72, 76, 80, 100, 120, 132, 160];
const LINE_ENDS = ['\n', '\r\n'];
const NEXT_LINES = [
  '42,',
  '1',
  '3000',
  'abc123',
  'v1.2.3',
  '  42',
  '2026-11-22',
  '2026-11-22T12:30:00Z',
  '127.0.0.1',
  '12:30',
  'deadbeef',
  'node',
  '- 42',
  'total 48',
  '7-12-0.8337',
  'README.md',
  'drwxr-xr-x 2 me me',
  'The next line, 2',
];
const HASHES = ['[0-9a-f]{12}', '[0-9a-f]{40}', '[0-9a-f]{64}', '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{12}'];

/** The samples that end with their secret, as lines: as they are, and made as wide as a line that may be wrapped. */
function linesOf(pattern: string): string[] {
  const { text, secret, start } = generateSample(pattern, random);
  if (start + secret.length < text.length || secret.includes('\n') || secret.includes('\\n')) return [];
  const last = text.slice(text.lastIndexOf('\n') + 1);
  const before = text.slice(0, text.length - last.length);
  const wider = WIDTHS.filter((width) => width > last.length + 1).slice(0, 1);
  const padded = wider.map((width) => `${before}${'#'.repeat(width - last.length - 1)} ${last}`);
  return [text, ...padded].filter((line) => engine.scan(`${line}\n`).at(-1)?.end === line.length);
}

const LINES = Object.entries(RULE_SAMPLES).map(([id, { match }]) => ({ id, lines: match.flatMap(linesOf) }));

describe('SEC-1.1 the line after a secret', () => {
  it('stays as it is, whatever rule finds the secret', () => {
    expect(LINES.filter(({ lines }) => lines.length > 0).length).toBeGreaterThan(150);
    const cases = LINES.flatMap(({ id, lines }) =>
      lines.flatMap((line) => LINE_ENDS.flatMap((lineEnd) => NEXT_LINES.map((next) => ({ id, line, lineEnd, next })))),
    );
    // A rule has 72 cases: each seventh has each next line, each line end and each width with every few rules.
    const tried = cases.filter((_, at) => at % stride(7) === 0);
    const wrong = tried.filter(({ line, lineEnd, next }) => {
      const rest = `${next}${lineEnd}end${lineEnd}`;
      return mask(`${line}${lineEnd}${rest}`) !== `${mask(`${line}${lineEnd}`)}${rest}`;
    });
    expect(wrong).toEqual([]);
  });

  it('stays as it is if it is a hash and the secret is not in hex', () => {
    for (const key of ['ghp_[A-Za-z0-9]{36}', 'sk_live_[A-Za-z0-9]{24}', 'glpat-[A-Za-z0-9]{20}'])
      for (const hash of HASHES.map((pattern) => generate(pattern, random)))
        for (const name of ['API_KEY=', ''])
          for (const lineEnd of LINE_ENDS) {
            const rest = `${lineEnd}${hash}${lineEnd}`;
            expect(mask(`${name}${generate(key, random)}${rest}`)).toBe(`${name}${PLACEHOLDER}${rest}`);
          }
  });

  it('is a secret of its own if a rule finds one in it', () => {
    const lines = [1, 2, 3].map(() => generate('ghp_[A-Za-z0-9]{36}', random));
    expect(mask(`${lines.join('\n')}\n42\n`)).toBe(`${PLACEHOLDER}\n${PLACEHOLDER}\n${PLACEHOLDER}\n42\n`);
  });

  it('stays as it is after two names of the same length', () => {
    const line = (name: string): string => `${name}=${generate('ghp_[A-Za-z0-9]{36}', random)}`;
    expect(mask(`${line('ONE_KEY')}\n${line('TWO_KEY')}\nab12\n`)).toBe(
      `ONE_KEY=${PLACEHOLDER}\nTWO_KEY=${PLACEHOLDER}\nab12\n`,
    );
  });

  it('stays as it is if the lines are in a string of JSON, or numbered by grep', () => {
    const key = generate('ghp_[A-Za-z0-9]{36}', random);
    expect(mask(JSON.stringify({ log: `API_KEY=${key}\n3000\n` }))).toBe(
      JSON.stringify({ log: `API_KEY=${PLACEHOLDER}\n3000\n` }),
    );
    expect(mask(`12:KEY_=${key}\n13:3000\n`)).toBe(`12:KEY_=${PLACEHOLDER}\n13:3000\n`);
  });

  it('stays as it is after a secret in base64', () => {
    const key = base64(generate('ghp_[A-Za-z0-9]{36}', random));
    expect(mask(`${key}\n3000\n`)).toBe(`${PLACEHOLDER}\n3000\n`);
  });
});

describe('SEC-1.1 a secret over two lines', () => {
  const key = generate('ghp_[A-Za-z0-9]{36}', random);
  const long = generate('sk-proj-[A-Za-z0-9]{156}', random);

  it('is masked as a whole if its first line alone is no finding', () => {
    for (const lineEnd of LINE_ENDS) {
      const name = 'GITHUB_API_KEY_='.padEnd(20, '_');
      expect(mask(`${name}${key.slice(0, 20)}${lineEnd}${key.slice(20)}${lineEnd}42\n`)).not.toContain(key.slice(-8));
      expect(mask(`a\n${key.slice(0, 20)}${lineEnd}${key.slice(20)}${lineEnd}`)).toBe(`a\n${PLACEHOLDER}${lineEnd}`);
    }
  });

  it('is masked as a whole if its first line is a full one, though this line alone is a finding', () => {
    for (const width of WIDTHS)
      for (const lineEnd of LINE_ENDS) {
        const folded = wrap(`It is ${long} and nothing else, they say, so keep it.`, width, lineEnd);
        const masked = mask(folded).replace(/\r?\n/g, '');
        for (let at = 0; at + 8 <= long.length; at++) expect(masked).not.toContain(long.slice(at, at + 8));
      }
  });

  it('is masked as a whole if its first line ends with numbers and its last line is hex', () => {
    const slack = generate('xoxp-[0-9]{11}-[0-9]{11}-[0-9]{11}-[0-9a-f]{32}', random);
    for (const width of [40, 64, 76]) {
      const masked = mask(
        wrap(` ${slack} and then more of the text of this paragraph`.padStart(80 + 75, 'so '), width),
      );
      const shown = masked.replace(/\n/g, '');
      for (let at = 0; at + 8 <= slack.length; at++) expect(shown).not.toContain(slack.slice(at, at + 8));
    }
  });

  it('is masked as a whole if a sign joins the lines', () => {
    // The length of this one is not fixed.
    const open = generate('sk-ant-oat01-[A-Za-z0-9]{40}', random);
    const text = `${open}\\\n${'x1'.repeat(3)}\n`;
    expect(mask(text)).toBe(`${PLACEHOLDER}\n`);
  });
});
