import { defineConfig } from 'vitest/config';

// The working day is not part of the gate: it downloads packages once, and builds real programs.
export default defineConfig({
  test: {
    include: ['test/day/*.day.ts'],
    reporters: ['default', './test/day/share-reporter.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
