import { deflateRawSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { maskView } from '#src/scrub/spans.js';
import { bzip2, hasBzip2 } from '../../../helpers/bzip2.ts';
import { base64, hex, reversed, wrap } from '../../../helpers/evasion-forms.ts';
import { generate, seededRandom } from '../../../helpers/secret-samples.ts';
import { engine } from '../../../helpers/test-rules.ts';

const mask = (text: string): string => maskView(text, engine.scan(text)).text;
const SEEDS = [1, 2, 3, 4, 5];

const nl = (text: string): string =>
  text
    .split('\n')
    .map((line, at) => `${String(at + 1).padStart(6)}\t${line}`)
    .join('\n');

/** `column`: down the columns of as many lines as given, with tabs between. */
function column(text: string, rows: number): string {
  const pieces = text.split('\n');
  return Array.from({ length: rows }, (_, row) => pieces.filter((_piece, at) => at % rows === row).join('\t')).join(
    '\n',
  );
}

/** A zip of one file, as `zip -` writes it. */
function zip(text: string): Buffer {
  const header = Buffer.alloc(30);
  header.write('PK\x03\x04', 'latin1');
  header.writeUInt16LE(20, 4);
  header.writeUInt16LE(8, 8);
  header.writeUInt16LE(1, 26);
  return Buffer.concat([
    header,
    Buffer.from('-'),
    deflateRawSync(text),
    Buffer.from('PK\x01\x02', 'latin1'),
    Buffer.alloc(60),
  ]);
}

function base32hex(text: string): string {
  const bits = [...Buffer.from(text)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => Number.parseInt(five.padEnd(5, '0'), 2).toString(32).toUpperCase())
    .join('');
}

function uuencode(text: string): string {
  const bytes = Buffer.from(text);
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 45) {
    const part = bytes.subarray(at, at + 45);
    const digits = [...Buffer.concat([part, Buffer.alloc((3 - (part.length % 3)) % 3)]).toString('base64')];
    const values = digits.map((digit) =>
      'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'.indexOf(digit),
    );
    lines.push(
      String.fromCharCode(32 + part.length) +
        values.map((value) => String.fromCharCode(value === 0 ? 96 : 32 + value)).join(''),
    );
  }
  return `begin 644 x\n${lines.join('\n')}\n\`\nend`;
}

function words(text: string): string {
  const bytes = Buffer.from(text.padEnd(Math.ceil(text.length / 4) * 4, '\n'));
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = Array.from({ length: Math.min(16, bytes.length - at) / 4 }, (_, word) =>
      bytes.readUInt32LE(at + word * 4),
    );
    lines.push([at.toString(8).padStart(7, '0'), ...row.map((word) => word.toString(16).padStart(8, '0'))].join(' '));
  }
  return lines.join('\n');
}

const utf32 = (text: string): Buffer =>
  Buffer.concat([...text].map((letter) => Buffer.from([letter.charCodeAt(0), 0, 0, 0])));
const tags = (text: string): string =>
  [...text].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');
const selectors = (text: string): string =>
  [...Buffer.from(text)].map((byte) => String.fromCodePoint(0xe0100 + byte - 16)).join('');
const LOOKS: Readonly<Record<string, string>> = {
  a: 'а',
  c: 'с',
  e: 'е',
  o: 'о',
  p: 'р',
  x: 'х',
  A: 'Α',
  B: 'В',
  H: 'Н',
  K: 'К',
  M: 'М',
  T: 'Т',
};

const DISGUISES: Readonly<Record<string, (secret: string) => string>> = {
  'fold -w8 | nl': (secret) => nl(wrap(secret, 8)),
  'base64 -w10 | nl': (secret) => nl(wrap(base64(secret), 10)),
  'fold -w8 | column': (secret) => column(wrap(secret, 8), 1),
  'fold -w5 | column': (secret) => column(wrap(secret, 5), 2),
  'fold -w5 | column -x': (secret) => wrap(secret, 5).replace(/\n/g, (_, at) => ((at + 1) % 18 === 0 ? '\n' : '  ')),
  'zip | base64': (secret) => zip(`token=${secret}\n`).toString('base64'),
  'zip | xxd -p': (secret) => wrap(zip(`token=${secret}\n`).toString('hex'), 60),
  'gzip | xxd -p': (secret) => wrap(gzipSync(`token=${secret}\n`).toString('hex'), 60),
  ...(hasBzip2
    ? {
        'bzip2 | base64': (secret: string) => bzip2(`token=${secret}\n`).toString('base64'),
        'bzip2 | base64 -w 40': (secret: string) => wrap(bzip2(`token=${secret}\n`).toString('base64'), 40),
        'bzip2 | xxd -p': (secret: string) => wrap(bzip2(`token=${secret}\n`).toString('hex'), 60),
      }
    : {}),
  'base64 | rev': (secret) => reversed(base64(secret)),
  'xxd -p | rev': (secret) =>
    wrap(hex(`token=${secret}\n`), 60)
      .split('\n')
      .map(reversed)
      .join('\n'),
  base32hex: (secret) => base32hex(secret),
  uuencode: (secret) => uuencode(`token=${secret}\n`),
  'od -t x4': (secret) => words(`token=${secret}\n`),
  'UTF-32 in base64': (secret) => utf32(secret).toString('base64'),
  'a tag between characters': (secret) => [...secret].join('<wbr>'),
  'character data in pieces': (secret) => `<t>${[...secret].map((letter) => `<![CDATA[${letter}]]>`).join('')}</t>`,
  'invisible tag characters': (secret) => tags(secret),
  'variation selectors that stand for bytes': (secret) => `x${selectors(secret)}`,
  'variation selectors between characters': (secret) => [...secret].join('\u{e0101}'),
  homoglyphs: (secret) => secret.replace(/[aceopxABHKMT]/g, (letter) => LOOKS[letter] ?? letter),
};

describe('SEC-1.1 a cheap disguise of a secret that was not seen before', () => {
  it.each(Object.entries(DISGUISES))('is masked: %s', (_, disguise) => {
    for (const seed of SEEDS) {
      const secret = generate('ghp_[A-Za-z0-9]{36}', seededRandom(seed));
      const shown = disguise(secret);
      const masked = mask(`begins\n${shown}\nends\n`);
      const digits = shown.split(/[^A-Za-z0-9+/]+/).filter((piece) => piece.length >= 8);
      for (const piece of digits.slice(1, -1)) expect(masked, shown).not.toContain(piece);
      expect(masked.length, shown).toBeLessThan(Math.max(40, shown.length / 2));
      expect(mask(masked)).toBe(masked);
    }
  });

  it.each([
    ['a numbered list of names', nl('alpha\nbravo\ncharlie\ndelta\nfoxtrot')],
    ['a listing in columns', 'main.ts  view.ts  text.ts\nhelp.ts  read.ts  mask.ts'],
    ['markup', '<td>1</td><td>22</td><td>333</td><td>4444</td><td>5</td>'],
    ['Russian and Greek', 'Файл main.ts не найден, αβγ x_1'],
    ['an emoji with a selector', 'ok ✔️ done ❤️'],
  ])('%s stays as it is', (_, text) => expect(mask(text)).toBe(text));
});
