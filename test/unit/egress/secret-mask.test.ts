import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { masked, SecretMask, spellings } from '#src/egress/secret-mask.js';

const SECRET = 'aab-aab-aac';
const PAIR = Buffer.from(`ann:${SECRET}`).toString('base64');

describe('spellings', () => {
  it.each([
    [`Bearer ${SECRET}`, [SECRET]],
    [`token ${SECRET}`, [SECRET]],
    [SECRET, [SECRET]],
    [`Basic ${PAIR}`, [PAIR, `ann:${SECRET}`, SECRET]],
    ['Bearer a/b+c=d/e', ['a/b+c=d/e', 'a%2Fb%2Bc%3Dd%2Fe', 'a%2fb%2bc%3dd%2fe']],
  ])('of %s hold the secret and its encodings', (value, texts) => {
    expect(spellings(value)).toEqual(expect.arrayContaining(texts));
    // base64url has no padding. Some encoders leave it out in Base64 too.
    const secret = Buffer.from(texts.at(-1) === SECRET ? SECRET : 'a/b+c=d/e');
    expect(spellings(value)).toContain(secret.toString('base64url'));
    expect(spellings(value)).toContain(secret.toString('base64').replace(/=+$/, ''));
  });

  it('leaves out what is in too many answers', () => {
    const value = `Basic ${Buffer.from('longer-name:abc').toString('base64')}`;
    expect(spellings(value)).not.toContain('abc');
  });
});

describe('SecretMask', () => {
  it('masks each secret, wherever a stream is split, and keeps every other byte', async () => {
    const secrets = spellings(`Basic ${PAIR}`);
    const word = fc.constantFrom(SECRET, PAIR, 'aab-', 'a', 'aab-aab', 'x', '\n', PAIR.slice(0, 9), 'é');
    await fc.assert(
      fc.asyncProperty(fc.array(word), fc.array(fc.nat(7)), async (words, sizes) => {
        const text = words.join('');
        const data = Buffer.from(text);
        const chunks: Buffer[] = [];
        for (let at = 0, turn = 0; at < data.length; turn += 1) {
          const size = (sizes[turn % Math.max(1, sizes.length)] ?? 0) + 1;
          chunks.push(data.subarray(at, at + size));
          at += size;
        }
        const result = await buffer(Readable.from(chunks).pipe(new SecretMask(secrets)));
        expect(result.toString()).toBe(masked(text, secrets));
        expect(result.length).toBe(data.length);
        expect(result.toString()).not.toContain(SECRET);
      }),
    );
  });

  it('does not hold back what cannot be the begin of a secret', () => {
    const mask = new SecretMask([SECRET]);
    mask.write('data: event\n\naab');
    expect(String(mask.read())).toBe('data: event\n\n');
  });
});
