import { defineConfig } from 'vitest/config';

// The tests run the compiled program, natively: they test what is shipped, and one coverage pipeline sees both the test
// workers and every child process.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/helpers/coverage.ts'],
    reporters: ['default', './test/helpers/count-reporter.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // The default is one second, which a busy machine can take for anything.
    expect: { poll: { timeout: 30_000 } },
    server: { deps: { external: [/\/dist\//] } },
  },
});
