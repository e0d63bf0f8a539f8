import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalName, shownHost } from '#src/egress/names.js';

describe('a host name', () => {
  const NORMAL = [
    'example.com',
    'a.b.c.example.com',
    'xn--bcher-kva.example',
    'my_host.example.com',
    'nexus',
    '1.example',
    'a-b.example.com',
    `${'a'.repeat(63)}.example`,
  ];
  for (const name of NORMAL)
    it(`${name.slice(0, 30)} is in its normal form`, () => {
      expect(normalName(name)).toEqual({ name, why: null });
    });

  it('may be written in upper case', () => {
    expect(normalName('Registry.EXAMPLE.com').name).toBe('registry.example.com');
  });

  const ADDRESSES = [
    '127.0.0.1',
    '::1',
    '[::1]',
    '::ffff:10.0.0.1',
    '[::ffff:7f00:1]',
    '0x7f000001',
    '2130706433',
    '127.1',
    '127.2',
    '0177.0.0.1',
    '0',
    '1.2.3',
    '0x7f.1',
    '10.0.0.1:80',
  ];
  for (const address of ADDRESSES)
    it(`${address} is refused as an address`, () => {
      expect(normalName(address)).toEqual({ name: null, why: 'it is an address, and only names can be allowed' });
    });

  const OTHERS = [
    '',
    '.',
    'example.com.',
    '.example.com',
    'a..b',
    'example.com/',
    'example.com/x',
    'evil.example#good.example',
    'evil.example?x',
    'user@example.com',
    'good.example\\evil',
    'a%00.example',
    'a\0.example',
    'a\r\n.example',
    'a\t.example',
    'a b.example',
    ' example.com',
    'example.com ',
    '-a.example',
    'a-.example',
    'bücher.example',
    'ＥＸＡＭＰＬＥ.com',
    'example。com',
    'exa\u00admple.com',
    'xn--.example',
    '*.example.com',
    'example.1',
    '127.0.0.1.',
    '256.256.256.256',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(127)}aa`,
    'a!b.example',
    'ﬀ.example',
    '\u212a.example',
  ];
  for (const text of OTHERS)
    it(`${JSON.stringify(text).slice(0, 40)} is refused`, () => {
      expect(normalName(text).name).toBeNull();
    });

  it('is refused or equal to the text in lower case, whatever the text is', () => {
    const piece = fc.constantFrom(
      'a',
      'Z',
      '0',
      '1',
      'x',
      '.',
      '-',
      '_',
      '/',
      '@',
      ':',
      '%',
      '\0',
      '\r',
      '\n',
      '[',
      ']',
      'ß',
      '。',
      'xn--',
      'example',
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
    );
    fc.assert(
      fc.property(text, (raw) => {
        const { name } = normalName(raw);
        if (name === null) return;
        expect(name).toBe(raw.toLowerCase());
        expect(new URL(`https://${name}/`).host).toBe(name);
      }),
    );
  });

  it('is shown as bounded printable ASCII', () => {
    expect(shownHost('a\r\nX-Header: 1')).toBe('a??X-Header:?1');
    expect(shownHost('a'.repeat(5_000))).toHaveLength(253);
  });
});
