import { deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeFindings } from '#src/scrub/spans.js';
import { Guard } from '#src/scrub/vault/guard.js';
import { bzip2, hasBzip2 } from '../../../helpers/bzip2.ts';
import { propertyRuns } from '../../../helpers/property-runs.ts';
import { CLEAN_TEXTS, generate, seededRandom } from '../../../helpers/secret-samples.ts';

const hex = (text: string): string => Buffer.from(text).toString('hex');
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const bytes = (text: string, show: (byte: number) => string, between = ''): string =>
  [...Buffer.from(text)].map(show).join(between);
const wrap = (text: string, width: number): string => text.replace(new RegExp(`.{${width}}`, 'g'), '$&\n');
const json = (text: string): string => JSON.stringify(text).slice(1, -1);

/** The forms that programs make of a text, by name. */
const WAYS: Readonly<Record<string, (secret: string) => string>> = {
  'as it is': (secret) => secret,
  JSON: json,
  'JSON in JSON': (secret) => json(json(secret)),
  percent: encodeURIComponent,
  'percent, every byte': (secret) => bytes(secret, (byte) => `%${byte.toString(16).padStart(2, '0')}`),
  'shell quotes': (secret) => secret.replaceAll("'", "'\\''"),
  XML: (secret) => secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;'),
  base64: base64,
  'base64, second place': (secret) => base64(`x${secret}yz`),
  'base64, third place': (secret) => base64(`xy${secret}z`),
  base64url: (secret) => Buffer.from(secret).toString('base64url'),
  'base64 of base64': (secret) => base64(`a ${base64(`bc ${secret}`)}`),
  'base64 four times': (secret) => base64(base64(base64(base64(secret)))),
  'base64 of UTF-16': (secret) => Buffer.from(secret, 'utf16le').toString('base64'),
  'base64, wrapped': (secret) => wrap(base64(`x${secret}`), 20),
  hex: hex,
  'hex, capitals': (secret) => hex(secret).toUpperCase(),
  'hex with colons': (secret) => bytes(secret, (byte) => byte.toString(16).padStart(2, '0'), ':'),
  'a C array': (secret) => bytes(secret, (byte) => `0x${byte.toString(16).padStart(2, '0')}`, ', '),
  'base64 of hex': (secret) => base64(hex(secret)),
  'hex of base64': (secret) => hex(base64(secret)),
  octal: (secret) => bytes(secret, (byte) => `\\${byte.toString(8).padStart(3, '0')}`),
  decimal: (secret) => JSON.stringify([...Buffer.from(secret)]),
  reversed: (secret) => [...secret].reverse().join(''),
  rot13: (secret) =>
    secret.replace(/[a-z]/gi, (letter) => {
      const first = letter <= 'Z' ? 65 : 97;
      return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first);
    }),
  capitals: (secret) => secret.toUpperCase(),
  spaced: (secret) => [...secret].join(' '),
  'one per line': (secret) => [...secret].join('\n'),
  gzip: (secret) => gzipSync(`before ${secret} after`).toString('base64'),
  'gzip in hex': (secret) => gzipSync(`before ${secret} after`).toString('hex'),
  ...(hasBzip2
    ? {
        bzip2: (secret: string) => bzip2(`before ${secret} after`).toString('base64'),
        'bzip2 in hex': (secret: string) => bzip2(`before ${secret} after`).toString('hex'),
      }
    : {}),
  zlib: (secret) => deflateSync(`before ${secret} after`).toString('base64'),
};
/** Forms that show a value of eight characters ambiguously, or split it. */
const ONLY_RICH = new Set(['base64, wrapped', 'spaced', 'one per line']);

const PIECE_CHARS = 8;

function mask(guard: Guard, text: string): string {
  let masked = '';
  let from = 0;
  for (const { start, end } of mergeFindings(guard.scan(text))) {
    masked += `${text.slice(from, start)}\u241f`;
    from = end;
  }
  return masked + text.slice(from);
}

/** Pieces of eight characters of one text that occur in another. */
function survivors(shown: string, masked: string): string[] {
  const pieces = Array.from({ length: Math.max(1, shown.length - PIECE_CHARS + 1) }, (_, at) =>
    shown.slice(at, at + PIECE_CHARS),
  );
  return pieces.filter((piece) => masked.includes(piece));
}

const surroundings = fc.constantFrom('', ' ', '"', 'see: ', '(', '\n', 'the deployment of tuesday ');
const ends = fc.constantFrom('', ' ', '"', ')', '\n', '; and more of it', '\nnext line');

describe('SEC-1.3 a secret in another form', () => {
  it.each(Object.entries(WAYS))('SEC-1.3 masks every piece of eight characters in the form %s', (_name, way) => {
    const patterns = fc.constantFrom(
      '[A-Za-z0-9]{24}',
      'ghp_[A-Za-z0-9]{36}',
      '[A-Za-z0-9+/]{40}',
      '[0-9a-f]{32}',
      '[A-Za-z0-9_&"<-]{30}',
    );
    fc.assert(
      fc.property(patterns, fc.nat(), surroundings, ends, (pattern, seed, before, after) => {
        const secret = generate(pattern, seededRandom(seed));
        const guard = new Guard();
        guard.add(secret, 'r');
        const shown = way(secret);
        const masked = mask(guard, `${before}${shown}${after}`);
        expect(survivors(secret, masked)).toEqual([]);
        if (shown.length >= PIECE_CHARS) expect(survivors(shown, masked)).toEqual([]);
      }),
      { numRuns: propertyRuns('slow') },
    );
  });

  it.each(Object.entries(WAYS).filter(([name]) => !ONLY_RICH.has(name)))(
    'SEC-1.3 masks a short secret as a whole in the form %s',
    (_name, way) => {
      fc.assert(
        fc.property(fc.nat(), (seed) => {
          const secret = generate('[a-z]{4}[0-9]{2}[A-Z]{2}[!#%]{1}[a-z]{3}', seededRandom(seed));
          const guard = new Guard();
          guard.add(secret, 'r');
          const shown = way(secret);
          expect(mask(guard, `see: ${shown} there`)).not.toContain(shown.slice(2, -2));
        }),
        { numRuns: propertyRuns('door') },
      );
    },
  );

  it('SEC-1.3 every piece of twelve or more letters and digits is masked, and nothing else', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat({ max: 24 }), fc.integer({ min: 12, max: 20 }), (seed, at, chars) => {
        const secret = generate('[A-Z]{2}[0-9]{2}[a-z]{1}[0-9A-F]{40}', seededRandom(seed));
        const guard = new Guard();
        guard.add(secret, 'r');
        expect(mask(guard, `it begins with <${secret.slice(at, at + chars)}> and so on`)).toBe(
          'it begins with <\u241f> and so on',
        );
      }),
    );
  });

  it('leaves innocent text around and between two whole values', () => {
    const secret = generate('[A-Za-z0-9]{40}', seededRandom(5));
    const guard = new Guard();
    guard.add(secret, 'r');
    expect(
      mask(guard, `a ${secret} between ${base64(secret)} and ${secret.slice(0, 20)} or ${secret.slice(0, 20)}.`),
    ).toBe('a \u241f between \u241f and \u241f or \u241f.');
  });

  it.each([
    [
      'https://hooks.slack.com/services/T[A-Z0-9]{8}/B[A-Z0-9]{8}/[A-Za-z0-9]{24}',
      'see https://hooks.slack.com/services/ for it',
    ],
    ['eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ[A-Za-z0-9]{40}.[A-Za-z0-9]{43}', 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9'],
    ['correct-horse-battery-[A-Z0-9]{8}', 'the correct horse, its battery'],
  ])('does not treat the common part of a kind of secret as a piece: %s', (pattern, text) => {
    const guard = new Guard();
    guard.add(generate(pattern, seededRandom(3)), 'r');
    expect(guard.scan(text)).toEqual([]);
  });

  it('finds none of 200 secrets in ordinary and in random text', () => {
    const random = seededRandom(9);
    const guard = new Guard();
    for (let i = 0; i < 200; i++) guard.add(generate(i % 2 ? '[A-Za-z0-9]{40}' : '[0-9a-f]{32}', random), 'r');
    const texts = [...CLEAN_TEXTS.map((text) => generate(text, random)), generate('[A-Za-z0-9+/]{200000}', random)];
    texts.push(generate('[0-9a-f]{100000}', random), JSON.stringify(generate('[0-9 "%\\\\]{20000}', random)));
    for (const text of texts) expect(guard.scan(text)).toEqual([]);
  });

  it('is found despite data that inflate beyond the limit', () => {
    const secret = generate('[A-Za-z0-9]{40}', seededRandom(6));
    const guard = new Guard();
    guard.add(secret, 'r');
    const bomb = gzipSync(`${secret}${'0'.repeat(64 * 1024 * 1024)}`, { level: 9 }).toString('base64');
    expect(guard.scan(`${bomb} ${secret}`).at(-1)).toMatchObject({ shows: 'value' });
  });
});
