import { describe, expect, it } from 'vitest';
import { KINDS, withoutMarks } from '../../helpers/scrub-kinds.ts';
import { seededRandom } from '../../helpers/secret-samples.ts';

const MAKERS = KINDS.flatMap(({ name, makers }) =>
  Object.entries(makers).map(([maker, make]) => [`${name}: ${maker}`, make] as const),
);

describe('the sessions of each kind of mistake', () => {
  it.each(MAKERS)('%s', async (_, make) => {
    for (const seed of [1, 2, 3]) {
      const { texts } = await make(seededRandom(seed));
      expect(texts.length).toBeGreaterThan(0);
      for (const marked of texts) {
        expect(marked.split('«').length).toBe(marked.split('»').length);
        const { text, secrets } = withoutMarks(marked);
        expect(text).not.toMatch(/[«»]/);
        for (const { start, end } of secrets) expect(text.slice(start, end)).not.toBe('');
      }
    }
  });
});
