import { describe, expect, it } from 'vitest';
import { EVERYDAY_SHAPES } from '../../helpers/everyday-shapes.ts';
import { PASSWORDS, SYNTAXES } from '../../helpers/password-syntaxes.ts';
import { generateSample, seededRandom } from '../../helpers/secret-samples.ts';
import { engine } from '../../helpers/test-rules.ts';

const SEEDS = [31, 62, 93, 124, 155, 186, 217, 248];

/** The part of a secret that is still there; "" if all of it is masked. */
function left(text: string, start: number, secret: string): string {
  let end = start;
  for (const span of engine.scan(text)) if (span.start <= end && span.end > end) end = span.end;
  return text.slice(end, start + secret.length);
}

/** A word there may be one of a sentence, a name in Go, or under a name for a key the name of something. */
const UNKNOWABLE = new Set(['words: an option', 'words: a variable of make', 'words: a constructor of C++']);

describe.each(Object.entries(PASSWORDS))('SEC-1.1 a password of %s', (kind, make) => {
  it('has more than 57 syntaxes', () => expect(Object.keys(SYNTAXES).length).toBeGreaterThan(57));

  it.each(Object.entries(SYNTAXES).filter(([name]) => !UNKNOWABLE.has(`${kind}: ${name}`)))(
    'is masked in %s',
    (_, write) => {
      for (const seed of SEEDS) {
        const secret = make(seededRandom(seed));
        const text = write(secret);
        expect(left(text, text.indexOf(secret), secret), text).toBe('');
      }
    },
  );
});

describe('SEC-1.1 an everyday shape', () => {
  it('is one of more than 85', () => expect(Object.keys(EVERYDAY_SHAPES).length).toBeGreaterThan(85));

  it.each(Object.entries(EVERYDAY_SHAPES))('is masked: %s', (_, pattern) => {
    for (const seed of SEEDS) {
      const { text, secret, start } = generateSample(pattern, seededRandom(seed));
      expect(left(text, start, secret), text).toBe('');
    }
  });
});
