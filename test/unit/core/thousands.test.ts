import fc from 'fast-check';
import { expect, it } from 'vitest';
import { inThousands } from '#src/core/thousands.js';

it('issue 37: an amount is written as English text writes it, without the data of a language', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), (amount) => {
      expect(inThousands(amount)).toBe(amount.toLocaleString('en-US'));
    }),
  );
});
