import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeOnce, firstPass, type Pass, toGivenText } from '#src/scrub/exact/decode-pass.js';
import { decodeRun, type EncodedRun, findEncoded } from '#src/scrub/exact/encodings.js';

/** gitleaks' joined pattern as a JavaScript one: a test oracle, too slow for real use. */
const JOINED = new RegExp(
  [
    '(%[0-9A-Fa-f]{2}(?:[^\\n]*%[0-9A-Fa-f]{2})?)',
    '((?:U\\+[a-fA-F0-9]{4}(?:[\\t\\n\\f\\r ]|$))+|(?:\\\\{1,2}[uU][a-fA-F0-9]{4})+)',
    '([0-9A-Fa-f]{32,})',
    '([A-Za-z0-9_/+-]{16,}={0,2})',
  ].join('|'),
  'g',
);
const KINDS = ['percent', 'unicode', 'hex', 'base64'] as const;

function byPattern(text: string): EncodedRun[] {
  return [...text.matchAll(JOINED)].flatMap((match) => {
    const kind = KINDS[match.slice(1).findIndex((group) => group !== undefined)];
    return kind === undefined ? [] : [{ kind, start: match.index, end: match.index + match[0].length }];
  });
}

/** The text after the given number of decoding passes; stops early if nothing is left to decode. */
function decoded(text: string, passes = 1): string {
  let pass: Pass = firstPass(text);
  for (let i = 0; i < passes; i++) pass = decodeOnce(pass) ?? pass;
  return pass.text;
}

const pieces = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '%41',
        '%4',
        '%zz',
        '%',
        '\n',
        ' ',
        '=',
        '==',
        'U+0041',
        'U+00e9 ',
        'u+0041',
        '\\u0041',
        '\\\\u0042',
        '\\U0043',
      ),
      fc.constantFrom(
        '\\',
        '\u00a0',
        'é',
        '\u{1f600}',
        '-',
        '_',
        '/',
        'zz',
        'deadbeef',
        '0123456789abcdef0123456789abcdef',
      ),
      fc.string({ unit: 'binary', maxLength: 6 }),
      fc.string({ maxLength: 30 }).map((text) => Buffer.from(text).toString('base64')),
      fc.string({ maxLength: 30 }).map((text) => Buffer.from(text).toString('hex')),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

describe('SEC-1.1 finding encoded places', () => {
  it('finds the same places as one scan with the joined pattern', () => {
    fc.assert(
      fc.property(pieces, (text) => {
        expect(findEncoded(text)).toEqual(byPattern(text));
      }),
    );
  });

  it('decodes printable, well-formed places as Node decodes them', () => {
    const printable = fc.string({ unit: fc.constantFrom(...'abcXYZ019 !~\t\n{}'), minLength: 24, maxLength: 90 });
    fc.assert(
      fc.property(printable, fc.constantFrom('base64', 'base64url', 'hex'), (value, encoding) => {
        const text = Buffer.from(value).toString(encoding);
        const run = findEncoded(text)[0];
        // Only a place with a character that does not occur in words is decoded.
        const isLikely = encoding === 'hex' ? /\d/.test(text) : /[0-9+/_-]/.test(text);
        expect(run && decodeRun(text, run)).toBe(isLikely ? value : '');
      }),
    );
  });
});

describe('SEC-1.1 decoding', () => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');

  it.each([
    ['base64', `x ${base64('secret number 42')} y`, 'x secret number 42 y'],
    ['base64 of the URL alphabet, unpadded', 'Pz8_Pz8-Pj4_Pz8_Pw', '?????>>>?????'],
    ['hex', `x ${Buffer.from('sixteen letters!').toString('hex')} y`, 'x sixteen letters! y'],
    ['percent from the first escape of a line to its last', '%41b%20c\n%42', 'Ab c\nB'],
    ['percent with other characters between', '%41é😀%42', 'Aé😀B'],
    ['backslash escapes', '\\u0041\\\\u00e9\\U0042', 'AéB'],
    ['code points, each with its white space', 'U+0041 U+0042\tU+0043', 'ABC'],
    ['surrogates one by one', '\\ud83d\\ude00', '\ufffd\ufffd'],
  ])('decodes %s', (_what, text, expected) => {
    expect(decoded(text)).toBe(expected);
  });

  it.each([
    ['base64 with a wrong number of pads', base64('secret number 42').replace('==', '=')],
    ['base64 of the standard alphabet, unpadded', 'Pz8/Pz8+Pj4/Pz8/Pw'],
    ['base64 of both alphabets', 'Pz8/Pz8-Pj4/Pz8/Pw=='],
    ['base64 that is not printable', Buffer.alloc(24, 0xe9).toString('base64')],
    ['a long word', 'internationalisation'],
    ['hex of an odd length', `${Buffer.from('sixteen letters!').toString('hex')}7`],
    ['hex without a digit', 'abcdefabcdefabcdefabcdefabcdefab'],
    ['percent with one byte that is not printable', '%41 %80 %42'],
    ['too few digits', '\\u004 U+004 %4'],
  ])('leaves %s unchanged', (_what, text) => {
    expect(decoded(text)).toBe(text);
  });

  it('decodes percent escapes before base64 if the two touch', () => {
    const text = `%41${base64('secret number 42')}`;
    expect(decoded(text, 1)).toBe(`A${base64('secret number 42')}`);
    const before = `${base64('secret number 42')}%3d`;
    expect(decoded(before)).toBe(`${base64('secret number 42')}=`);
  });

  it('decodes as many layers as it is asked to', () => {
    const text = base64(base64(Buffer.from('a secret of three layers 1').toString('hex')));
    expect(decoded(text, 3)).toBe('a secret of three layers 1');
    expect(decoded(text, 9)).toBe('a secret of three layers 1');
  });

  it('takes linear time for lines full of broken escapes', () => {
    const text = `%41${'%zz'.repeat(100_000)}${'%4'.repeat(100_000)}`;
    expect(findEncoded(text)[0]).toEqual({ kind: 'percent', start: 0, end: 3 });
  });
});

describe('SEC-1.1 mapping decoded text back', () => {
  it('maps decoded text to the whole encoded place, and other text to itself', () => {
    const words = fc.string({ unit: fc.constantFrom(...'abc12é😀'), maxLength: 8 });
    const secret = fc.string({ unit: fc.constantFrom(...'secrt019'), minLength: 18, maxLength: 40 });
    const layers = fc.array(fc.constantFrom('base64' as const, 'hex' as const), { maxLength: 3 });
    fc.assert(
      fc.property(fc.array(fc.tuple(words, secret, layers), { minLength: 1, maxLength: 4 }), (parts) => {
        const blobs = parts.map(([, value, kinds]) =>
          kinds.reduce((text, kind) => Buffer.from(text).toString(kind), value),
        );
        const text = parts.map(([word], i) => `${word} .${blobs[i]}. `).join('');
        let pass: Pass | undefined = firstPass(text);
        while (pass !== undefined) {
          for (const match of pass.text.matchAll(/\.([^. ]+)\. /g)) {
            const { start, end } = toGivenText(pass, {
              start: match.index + 1,
              end: match.index + 1 + (match[1] ?? '').length,
            });
            expect(blobs).toContain(text.slice(start, end));
            const middle = toGivenText(pass, { start: match.index + 3, end: match.index + 5 });
            expect(middle.start >= start && middle.end <= end).toBe(true);
          }
          pass = decodeOnce(pass);
        }
      }),
    );
  });
});
