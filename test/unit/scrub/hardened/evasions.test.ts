import { describe, expect, it } from 'vitest';
import { PLACEHOLDER } from '#src/scrub/spans.js';
import { evasionCases, isMasked } from '../../../helpers/evasions.ts';
import { engine } from '../../../helpers/test-rules.ts';

const SEEDS = [1, 2, 3, 4, 5];

/**
 * Forms that no pattern can know: halves of a value, a value without its name, and values that somebody reversed,
 * rotated or capitalised on purpose. The guard finds them once the value was seen.
 */
const BEYOND_PATTERNS = [5, 6, 7, 55, 56, 57, 60, 66];

function mask(text: string): string {
  let masked = '';
  let from = 0;
  for (const { start, end } of engine.scan(text)) {
    masked += text.slice(from, start) + PLACEHOLDER;
    from = end;
  }
  return masked + text.slice(from);
}

describe('SEC-1.1 the 78 evasions, before the secret was seen', () => {
  it('has 78 evasions, each with the text that must not survive', () => {
    for (const seed of SEEDS) {
      const cases = evasionCases(seed);
      expect(cases.map(({ n }) => n)).toEqual(Array.from({ length: 78 }, (_, i) => i + 1));
      for (const evasion of cases) expect(isMasked(evasion, evasion.text), evasion.name).toBe(false);
    }
  });

  for (const { n, name } of evasionCases(1).filter(({ n }) => !BEYOND_PATTERNS.includes(n)))
    it(`${n}: ${name}`, () => {
      for (const seed of SEEDS) {
        const evasion = evasionCases(seed)[n - 1];
        expect(evasion && isMasked(evasion, mask(evasion.text)), `seed ${seed}`).toBe(true);
      }
    });

  it('SEC-1.3 finds nothing in the masked text', () => {
    for (const seed of SEEDS)
      for (const { name, text } of evasionCases(seed)) {
        const masked = mask(text);
        expect(mask(masked), name).toBe(masked);
      }
  });
});
