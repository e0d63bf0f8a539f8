import { takeCoverage } from 'node:v8';
import { afterAll } from 'vitest';

// A worker may be ended by a signal, which would drop what V8 counted: write it after each file.
afterAll(() => {
  if (process.env.NODE_V8_COVERAGE) takeCoverage();
});
