import { takeCoverage } from 'node:v8';
import { afterAll } from 'vitest';

// A signal may end a worker and lose V8's counts, so they are written after each file.
afterAll(() => {
  if (process.env.NODE_V8_COVERAGE) takeCoverage();
});
