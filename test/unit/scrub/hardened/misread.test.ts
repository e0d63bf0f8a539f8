import { describe, expect, it } from 'vitest';
import { withSwallowedLetters } from '#src/scrub/hardened/views/misread.js';
import { CHARSET_NAMES, charsetNamed, decodeBytes, isText, UTF8 } from '#src/text/charset.js';
import { encodeText, UnencodableCharacter } from '#src/text/charset-encode.js';
import { stride } from '../../../helpers/property-runs.ts';
import { generateSample, RULE_SAMPLES, seededRandom } from '../../../helpers/secret-samples.ts';
import { engine } from '../../../helpers/test-rules.ts';

const random = seededRandom(20_261_122);
const PATTERNS = Object.values(RULE_SAMPLES).flatMap(({ match }) => match);
const ASCII = /^[\n\x20-\x7e]+$/;

/** One sample in ASCII of every third rule, in bytes that are found if they are read as they are. */
const SAMPLES = PATTERNS.filter((_, index) => index % 3 === 0)
  .map((pattern) => generateSample(pattern, random))
  .filter(({ text, secret }) => ASCII.test(text) && secret.length >= 16 && isFound(`words\n${text}\n`, secret));

function isFound(text: string, secret: string): boolean {
  const at = text.indexOf(secret);
  return engine.scan(text).some(({ start, end }) => start <= at && end >= at + secret.length);
}

/** What a reader who knows the encoding gets back of a text in which everything found is masked; "" if nothing. */
function restored(text: string, name: string): string {
  let masked = '';
  let done = 0;
  for (const { start, end } of engine.scan(text)) {
    masked += `${text.slice(done, start)}\n`;
    done = Math.max(done, end);
  }
  masked += text.slice(done);
  const charset = charsetNamed(name) ?? UTF8;
  return Array.from(masked, (character) => encoded(character, charset)).join('');
}

function encoded(character: string, charset: typeof UTF8): string {
  try {
    return encodeText(character, charset).toString('latin1');
  } catch (thrown) {
    if (thrown instanceof UnencodableCharacter) return '?';
    throw thrown;
  }
}

describe('SEC-1.1 ASCII that was decoded from another encoding', () => {
  it.each(CHARSET_NAMES)('gives back no secret to a reader who encodes the answer as %s', (name) => {
    const first = CHARSET_NAMES.indexOf(name);
    const charset = charsetNamed(name) ?? UTF8;
    expect(SAMPLES.length).toBeGreaterThan(20);
    for (const [index, { text, secret }] of SAMPLES.entries()) {
      if ((first + index) % stride(3) !== 0) continue;
      // Every parity in UTF-16, and a byte that takes the first letter with it where an encoding has one.
      const lead = charset.unitBytes === 1 && index % 2 === 1 ? Buffer.from([0x81 + (index % 0x7d)]) : Buffer.alloc(0);
      const before = Buffer.concat([Buffer.from('x'.repeat(index % 5)), Buffer.from('\n'), lead]);
      const decoded = decodeBytes(Buffer.concat([before, Buffer.from(`${text}\n`)]), charset);
      if (charset.unitBytes === 1 && decoded.includes('\ufffd')) continue;
      const told = restored(decoded, name);
      const middle = secret.slice(4, -2);
      expect(
        told.includes(middle),
        `${name}, ${index}: ${JSON.stringify(decoded.replaceAll(secret.slice(8), '…'))}`,
      ).toBe(false);
    }
  });

  it('is masked with the letter that a byte before it took', () => {
    const { secret } = generateSample('«ghp_[A-Za-z0-9]{36}»', random);
    for (const name of ['shift_jis', 'gbk', 'gb18030', 'big5', 'euc-kr']) {
      const charset = charsetNamed(name) ?? UTF8;
      const leads = Array.from({ length: 126 }, (_, at) => 0x81 + at).filter((lead) =>
        isText(Buffer.from([lead, 0x67]), charset),
      );
      // EUC-KR and Shift_JIS have few characters or none whose second byte is a small g.
      if (name.startsWith('g') || name === 'big5') expect(leads.length).toBeGreaterThan(10);
      for (const lead of leads) {
        const text = `${decodeBytes(Buffer.concat([Buffer.from([lead]), Buffer.from(secret)]), charset)}\n`;
        // Half-width katakana of Shift_JIS are one byte and take no letter with them.
        if (text.includes(secret)) continue;
        const [found] = engine.scan(text);
        expect(found, `${name} ${lead}`).toMatchObject({ start: 0, end: text.length - 1 });
      }
    }
  });

  it('is masked alone: text beside it and text of other scripts stay', () => {
    const { secret } = generateSample('«ghp_[A-Za-z0-9]{36}»', random);
    const wide = Buffer.from(` key ${secret} `, 'latin1').toString('utf16le');
    const text = `plain words\n中文字符和标点。${wide}更多的文字\nmore words`;
    const found = engine.scan(text);
    expect(found).toHaveLength(1);
    expect(found[0]?.end).toBeLessThanOrEqual(text.indexOf('更多'));
    expect(found[0]?.start).toBeGreaterThan(text.indexOf('标点'));
    expect(engine.scan('汉字是世界上最古老的文字之一，也是使用人数最多的文字。'.repeat(200))).toEqual([]);
    expect(withSwallowedLetters('日本語、short')).toBeNull();
  });
});
