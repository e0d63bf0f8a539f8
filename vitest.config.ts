import { defineConfig } from 'vitest/config';
import WholeFirst from './test/helpers/whole-first.ts';

/** What the gate leaves to the night: it costs much, and cheaper tests prove its claims more coarsely (decision 0152). */
const NIGHTLY = 'test/**/*.nightly.test.ts';

// The tests run the compiled program, natively: they test what is shipped, and one coverage pipeline sees both the test
// workers and every child process.
const SHARED = {
  setupFiles: ['test/helpers/coverage.ts', 'test/helpers/fast-check-defaults.ts'],
  pool: 'forks' as const,
  // The files of a worker share its modules, which saves a process for each file.
  isolate: false,
  // Ends what hangs, and says nothing about speed: beside other work a test may get a tenth of a processor.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  // The default is one second, which a busy machine can take for anything.
  expect: { poll: { timeout: 30_000 } },
  server: { deps: { external: [/\/dist\//] } },
  // Part of their time the tests wait for programs, so three fill two processors. One pool: each worker takes the next file.
  maxWorkers: 3,
};

export default defineConfig({
  test: {
    globalSetup: ['test/helpers/warm-homes.ts'],
    reporters: ['default', './test/helpers/count-reporter.ts'],
    sequence: { sequencer: WholeFirst },
    projects: [
      {
        test: {
          ...SHARED,
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
        },
      },
      {
        test: {
          ...SHARED,
          name: 'whole',
          include: ['test/**/*.test.ts'],
          exclude: ['test/unit/**', NIGHTLY],
        },
      },
      {
        test: {
          ...SHARED,
          name: 'nightly',
          include: [NIGHTLY],
        },
      },
    ],
  },
});
