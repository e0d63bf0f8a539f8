import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isCredential } from '#src/scrub/credential.js';
import { camel, number, pascal, snake, strong, word } from '../../helpers/scrub-kinds/sessions.ts';
import { generate, seededRandom } from '../../helpers/secret-samples.ts';

type Make = (random: () => number) => string;

function shareOf(make: Make, count = 2000): number {
  const random = seededRandom(38);
  return Array.from({ length: count }, () => make(random)).filter(isCredential).length / count;
}

describe('SEC-1.3 what could be a credential by itself', () => {
  it.each<[string, Make]>([
    ['strong passwords', strong],
    ['twenty letters and digits', (random) => generate('[A-Za-z0-9]{20}', random)],
    ['forty characters of base64', (random) => generate('[A-Za-z0-9+/]{40}', random)],
    ['32 digits in hexadecimal', (random) => generate('[0-9a-f]{32}', random)],
    ['24 letters', (random) => generate('[a-z]{24}', random)],
  ])('%s are', (_, make) => {
    expect(shareOf(make)).toBeGreaterThan(0.99);
  });

  it.each<[string, Make]>([
    ['a word and a number', (random) => `${word(random)}${number(0, 99_999, random)}`],
    ['a word, a year and a sign', (random) => `${pascal(random)}${number(1970, 2030, random)}!`],
    ['the name of a variable', (random) => `${snake(random)}_${number(1, 99, random)}`],
    ['the name of a type', (random) => `${word(random)}.${pascal(random)}Ref{`],
    ['the end of a call', (random) => `).${camel(random)}();`],
  ])('%s is not, with few exceptions', (_, make) => {
    expect(shareOf(make)).toBeLessThan(0.1);
  });

  it('a date and a number are not', () => {
    const date = fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }).map((at) => at.toISOString());
    fc.assert(fc.property(fc.oneof(date, fc.bigInt({ min: 0n }).map(String)), (text) => !isCredential(text)));
  });
});
