import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Reading, readingsOf, VIEW_KINDS } from '#src/scrub/hardened/readings.js';
import { base32Decoded, base64Decoded, hexDecoded, inflated } from '#src/scrub/hardened/views/blobs.js';
import {
  inPlainLetters,
  overlaidLines,
  withoutInvisible,
  withoutTerminalCodes,
} from '#src/scrub/hardened/views/display.js';
import { ascii85Decoded, dumpsRead } from '#src/scrub/hardened/views/dumps.js';
import {
  percentDecoded,
  quotedPrintableDecoded,
  unescaped,
  withoutEntities,
} from '#src/scrub/hardened/views/escapes.js';
import { joinedStrings, unwrapped, withoutSpacing } from '#src/scrub/hardened/views/joints.js';
import { Edits, type ViewOf } from '#src/text/offset-map.js';
import { ascii85, base32, base64, eachCharacter, hex, hexdump, wrap } from '../../../helpers/evasion-forms.ts';
import { propertyRuns } from '../../../helpers/property-runs.ts';

/** Letters and digits, long enough to be recognised alone, with a digit and letters in both cases. */
const planted = fc.stringMatching(/^[a-z][A-Z][0-9][A-Za-z0-9]{37}$/);
const surroundings = fc.array(fc.constantFrom('some words ', 'x = 1;\n', '\n', 'ünï ', '😀', '"', '> '), {
  maxLength: 12,
});

type Form = (secret: string) => string;
const halves =
  (joint: string): Form =>
  (secret) =>
    `${secret.slice(0, 20)}${joint}${secret.slice(20)}`;

/** A form that one view reads, and whether it is on lines of its own. */
const FORMS: Readonly<Record<string, { of: ViewOf; form: Form; alone?: boolean }>> = {
  'ANSI colours': { of: withoutTerminalCodes, form: halves('\x1b[1;31m') },
  'OSC links': { of: withoutTerminalCodes, form: halves('\x1b]8;;https://example.com\x07') },
  'ANSI colours made visible': { of: withoutTerminalCodes, form: halves('^[[1;31m') },
  'OSC links made visible': { of: withoutTerminalCodes, form: halves('^[]8;;https://example.com^G') },
  'zero-width spaces': { of: withoutInvisible, form: halves('\u200b\u00ad\ufeff') },
  'UTF-16': { of: withoutInvisible, form: (secret) => eachCharacter(secret, (character) => `${character}\0`) },
  overstrikes: { of: overlaidLines, form: (secret) => eachCharacter(secret, (c) => `${c}\b${c}`) },
  underlines: { of: overlaidLines, form: (secret) => eachCharacter(secret, (c) => `_\b${c}`) },
  'carriage returns': {
    of: overlaidLines,
    form: (secret) => `\n****${secret.slice(4)}\r${secret.slice(0, 4)}\n`,
    alone: true,
  },
  'full-width letters': {
    of: inPlainLetters,
    form: (secret) => eachCharacter(secret, (_, code) => String.fromCharCode(code + 0xfee0)),
  },
  'JSON escapes': {
    of: unescaped,
    form: (secret) => eachCharacter(secret, (_, code) => `\\u${code.toString(16).padStart(4, '0')}`),
  },
  'hex escapes': { of: unescaped, form: (secret) => eachCharacter(secret, (_, code) => `\\x${code.toString(16)}`) },
  'octal escapes': {
    of: unescaped,
    form: (secret) => eachCharacter(secret, (_, code) => `\\${code.toString(8).padStart(3, '0')}`),
  },
  entities: { of: withoutEntities, form: (secret) => eachCharacter(secret, (_, code) => `&#x${code.toString(16)};`) },
  percent: { of: percentDecoded, form: (secret) => `%C3%A9${eachCharacter(secret, (c) => `%${hex(c)}`)}` },
  'quoted-printable': { of: quotedPrintableDecoded, form: (secret) => `=3D${halves('=\n')(secret)}` },
  'hard wraps': { of: unwrapped, form: (secret) => `\n${wrap(secret, 16)}\n\n`, alone: true },
  'one character per line': { of: unwrapped, form: (secret) => `\n${[...secret].join('\n')}\n\n`, alone: true },
  concatenations: { of: joinedStrings, form: halves('" +\n  "') },
  'spaced letters': { of: withoutSpacing, form: (secret) => `\n${[...secret].join(' ')}\n`, alone: true },
  'base64 with an é': { of: base64Decoded, form: (secret) => ` ${base64(`é é ${secret} é`)} ` },
  'base64 that begins early': { of: base64Decoded, form: (secret) => ` xy${base64(secret)} ` },
  'base64 over lines': {
    of: base64Decoded,
    form: (secret) => `\n${wrap(base64(`words before ${secret}`), 36)}\n\n`,
    alone: true,
  },
  'compressed base64': { of: inflated, form: (secret) => ` ${gzipSync(`x=${secret}`).toString('base64')} ` },
  base32: { of: base32Decoded, form: (secret) => ` ${base32(secret)} ` },
  ascii85: { of: ascii85Decoded, form: (secret) => ` ${ascii85(secret)} ` },
  'hex over lines': { of: hexDecoded, form: (secret) => `\n${wrap(hex(secret), 40)}\n\n`, alone: true },
  'hexdump -C': { of: dumpsRead, form: (secret) => `\n${hexdump(secret)}`, alone: true },
  'a list of bytes': { of: dumpsRead, form: (secret) => ` ${eachCharacter(secret, (c) => `0x${hex(c)}, `)}0x0a ` },
  'a list of bytes in brackets': { of: dumpsRead, form: (secret) => `[${eachCharacter(secret, (c) => ` ${hex(c)}`)}]` },
};

describe('SEC-1.1 a view', () => {
  for (const [name, { of, form, alone = false }] of Object.entries(FORMS))
    it(`shows the text in ${name}, and its position`, () => {
      fc.assert(
        fc.property(planted, surroundings, surroundings, (secret, before, after) => {
          const [head, tail] = [before.join(''), after.join('')];
          const shown = form(secret);
          const text = `${head}${alone ? '' : ' '}${shown}${alone ? '' : ' '}${tail}`;
          const view = of(text);
          const at = view?.text.indexOf(secret) ?? -1;
          expect(at).toBeGreaterThanOrEqual(0);
          const place = view?.toOriginal(at, at + secret.length);
          // Inside the form, and long enough that the rest holds nothing of the secret.
          expect(place?.start).toBeGreaterThanOrEqual(head.length);
          expect(place?.end).toBeLessThanOrEqual(text.length - tail.length);
          const rest = `${text.slice(0, place?.start)}\n\n${text.slice(place?.end)}`;
          const again = of(rest)?.text ?? rest;
          for (let from = 0; from + 8 <= secret.length; from++)
            expect(again).not.toContain(secret.slice(from, from + 8));
        }),
        { numRuns: propertyRuns('slow') },
      );
    });

  it('is null if the text has nothing to be read that way', () => {
    const plain = 'GET /api/v1/users 200 in 12 ms, "quoted" text; and (some) more.\n'.repeat(50);
    for (const { of } of VIEW_KINDS) expect(of(plain), of.name).toBeNull();
  });

  it('maps any range back to a position in the text, whatever the text', () => {
    const wild = fc
      .array(
        fc.constantFrom(
          '\x1b[32m',
          '\x1b]',
          '\\u0061',
          '\\\\',
          '\\"',
          '&#65;',
          '%41',
          '%C3',
          '=3D',
          '=\n',
          '\r',
          '\b',
          '\0',
          '\u200b',
          '\uff41',
          'a\n',
          'a b c d e f g h i j k l m n o p q r ',
          '" + "',
          'aGVsbG8gd29ybGQgdGhpcyBpcw',
          '67 68 70 5f ',
          '\n',
          'H4sIAAAA',
          'MII',
        ),
        { maxLength: 60 },
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(wild, fc.nat(), fc.nat(), (text, a, b) => {
        for (const { of } of VIEW_KINDS) {
          const view = of(text);
          if (view === null) continue;
          const [start = 0, end = 0] = [a % view.text.length, b % (view.text.length + 1)].sort((x, y) => x - y);
          const place = view.toOriginal(start, end);
          if (place === null) continue;
          expect(place.start).toBeGreaterThanOrEqual(0);
          expect(place.end).toBeLessThanOrEqual(text.length);
          expect(place.start).toBeLessThan(place.end);
        }
      }),
    );
  });

  it('joins nothing that is apart in the text', () => {
    const far = ' x'.repeat(10_000);
    const view = withoutTerminalCodes(`a\x1b[1mb${far}c\x1b[1md`);
    const [end, begin] = [view?.text.indexOf('\n\n') ?? -1, (view?.text.lastIndexOf('\n\n') ?? -1) + 2];
    expect(end).toBeGreaterThan(0);
    expect(view?.text.length).toBeLessThan(10_000);
    expect(view?.toOriginal(end - 2, begin + 2)).toBeNull();
    expect(view?.toOriginal(0, 2)).toEqual({ start: 0, end: 6 });
  });

  it('maps a view of a view back to the text', () => {
    const text = '{"a":"\\u001b[32mAB\\u001b[0mCD"}';
    const inner = unescaped(text);
    const outer = inner && withoutTerminalCodes(inner.text);
    const at = outer?.text.indexOf('ABCD') ?? -1;
    const shown = outer?.toOriginal(at, at + 4);
    const place = shown && inner?.toOriginal(shown.start, shown.end);
    expect(text.slice(place?.start, place?.end)).toBe('AB\\u001b[0mCD');
  });

  it('shows every change once, however close the changes are', () => {
    const gap = fc.integer({ min: 0, max: 3000 }).map((length) => 'y'.repeat(length));
    fc.assert(
      fc.property(fc.array(gap, { minLength: 1, maxLength: 12 }), fc.boolean(), (gaps, isLarge) => {
        const text = `${gaps.join('\x1b[1m!')}\x1b[1m!${' z'.repeat(isLarge ? 40_000 : 0)}`;
        expect(withoutTerminalCodes(text)?.text.split('!')).toHaveLength(gaps.length + 1);
      }),
    );
  });

  it('keeps lines whole around a change', () => {
    const edits = new Edits(`one\n${'two '.repeat(20)}!\nthree`, 10);
    const at = 4 + 80;
    edits.replace(at, at + 1, '?');
    expect(edits.view()?.text).toBe(`${'two '.repeat(20)}?\nthree`);
  });
});

describe('SEC-1.3 views of a text', () => {
  it('have at most twice its characters, or 262,144, besides those that later steps may show', () => {
    const unit = '\x1b[32m"a\\u0067\\"&#65;=3D%C3%A9 t\b\u200b';
    const text = unit.repeat(400_000 / unit.length);
    const isShownLater = ({ kinds }: Reading) => kinds.length === 1 && kinds[0]?.isAlwaysRead === true;
    const [always, others] = [true, false].map((wanted) =>
      [...readingsOf(text)].filter((reading) => isShownLater(reading) === wanted),
    );
    expect(always).toHaveLength(2);
    expect(others?.reduce((sum, { view }) => sum + view.text.length, 0)).toBeLessThanOrEqual(2 * text.length);
  });
});

describe('SEC-1.1 lines that only follow each other', () => {
  const first = `API_TOKEN=${'k3'.repeat(12)}`;

  it.each(['README', 'DB_PASSWORD=abcde-fghij-12', 'name: value'])('are not joined into one value: %s', (second) => {
    expect(unwrapped(`${first}\n${second}\nPORT=1\n`)).toBeNull();
  });

  it('are joined if the first is as long as the one before it', () => {
    expect(unwrapped(`${'.'.repeat(first.length)}\n${first}\n${'q7'.repeat(6)}\n`)?.text).toContain('k3q7');
  });

  it('end with a short one after a line of a usual width', () => {
    const wide = `A=${'k3'.repeat(31)}`;
    const read = unwrapped(`${wide}\n1\n2\n3\n4\n`)?.text;
    expect(read).toContain('k31');
    expect(read).not.toContain('k312');
  });

  it('are joined, however short, if the first ends with a continuation sign', () => {
    const read = unwrapped(`SERVICE_API_TOKEN_OF_STAGING=\n${'k3q7\n'.repeat(8)}`)?.text;
    expect(read).toContain(`STAGING${'k3q7'.repeat(8)}`);
  });
});
