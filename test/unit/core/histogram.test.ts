import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DURATION_BOUNDS_US, Histogram, quantileUs } from '#src/core/histogram.js';

it('NFR-1.4 a histogram counts every value once, and its quantile is the bound of the bucket that holds it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(100_000_000), { minLength: 1 }),
      fc.double({ min: 0.01, max: 1, noNaN: true }),
      (values, quantile) => {
        const histogram = new Histogram();
        for (const value of values) histogram.add(value);
        const figures = histogram.read();
        expect(figures.count).toBe(values.length);
        expect(figures.sumUs).toBe(values.reduce((sum, one) => sum + one, 0));
        const sorted = values.toSorted((a, b) => a - b);
        const exact = sorted[Math.max(0, Math.ceil(quantile * values.length - 1e-9) - 1)] ?? 0;
        const bound = DURATION_BOUNDS_US.find((one) => exact <= one) ?? Number.POSITIVE_INFINITY;
        expect(quantileUs(figures, quantile)).toBe(bound);
      },
    ),
  );
  expect(quantileUs(new Histogram().read(), 0.5)).toBe(0);
});
