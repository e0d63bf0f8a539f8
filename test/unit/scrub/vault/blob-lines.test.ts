import { deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Guard } from '#src/scrub/vault/guard.js';
import { strong } from '../../../helpers/scrub-kinds/sessions.ts';
import { seededRandom } from '../../../helpers/secret-samples.ts';

const base64 = (bytes: Buffer | string): string => Buffer.from(bytes).toString('base64');
/** What manifests hold in base64 without padding, with a secret in it. */
const ENCODED: Readonly<Record<string, (text: string) => string>> = {
  base64: (text) => base64(text),
  'base64 twice': (text) => base64(base64(text)),
  gzip: (text) => base64(gzipSync(text)),
  deflate: (text) => base64(deflateSync(text)),
  hex: (text) => base64(Buffer.from(text).toString('hex')),
};

const secret = fc.nat().map((seed) => strong(seededRandom(seed)));
const filler = fc.stringMatching(/^[a-z]{0,60}$/);
/** The key of the next line, and what joins it with its value. */
const key = fc.stringMatching(/^[a-z][A-Za-z0-9._-]{1,14}$/);
const sign = fc.constantFrom(': ', ':', '=', ' = ', ': |\n    ');

describe('SEC-1.1 a known value in encoded text is masked without the key on the next line', () => {
  it.each(Object.entries(ENCODED))('%s', (_, encode) => {
    fc.assert(
      fc.property(secret, filler, filler, key, sign, (value, before, after, name, joined) => {
        const guard = new Guard();
        guard.add(value, 'token');
        const code = encode(`{"a":"${before}","b":"${value}"${after === '' ? '' : `,"c":"${after}"}`}`).replace(
          /=+$/,
          '',
        );
        const text = `data:\n  config: ${code}\n  ${name}${joined}YXBw\nkind: Secret\n`;
        const end = text.indexOf(code) + code.length;
        const spans = guard.scan(text);
        expect(spans.length, text).toBeGreaterThan(0);
        for (const span of spans) expect(span.end, text.slice(span.start, span.end)).toBeLessThanOrEqual(end);
      }),
    );
  });

  it('and a blob on several lines is read as a whole', () => {
    const guard = new Guard();
    const value = 'Kqzx481MWPr7d2hs9vtb3';
    guard.add(value, 'token');
    const code = base64(gzipSync(`${'kangaroo '.repeat(9)}${value}`));
    const wrapped = code.replace(/.{40}/g, '$&\n    ');
    for (const text of [`  blob: |\n    ${wrapped}\n  db: x\n`, `x="${wrapped}"\n`, `<a>${wrapped}</a>\n`])
      expect(guard.scan(text).length, text).toBeGreaterThan(0);
  });
});
