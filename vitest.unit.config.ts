import { defineConfig } from 'vitest/config';

// The loop while working: unit tests on the sources, without a build. `npm test` runs them on the compiled program.
const CONDITION = 'contextd-source';

export default defineConfig({
  ssr: { resolve: { conditions: [CONDITION, 'module', 'node'], externalConditions: [CONDITION] } },
  test: {
    include: ['test/unit/**/*.test.ts'],
    setupFiles: ['test/helpers/fast-check-defaults.ts'],
    // A tenth of the gate's random cases, which `npm test` runs.
    env: { CONTEXTD_PROPERTY_RUNS: process.env.CONTEXTD_PROPERTY_RUNS ?? '30' },
    reporters: ['default', './test/helpers/count-reporter.ts'],
    pool: 'forks',
    isolate: false,
    maxWorkers: 2,
    execArgv: ['--conditions', CONDITION],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
    server: { deps: { external: [/\/(?:dist|src|tools)\//] } },
  },
});
