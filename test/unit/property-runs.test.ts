import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PROPERTY_SEED, propertyRuns } from '../helpers/property-runs.ts';

const TESTS = join(import.meta.dirname, '..');

it('the number of cases of every property follows CONTEXTD_PROPERTY_RUNS, and none has a number or a seed of its own', () => {
  expect(fc.readConfigureGlobal()).toEqual({ seed: PROPERTY_SEED, numRuns: propertyRuns() });
  const files = readdirSync(TESTS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.test.ts'));
  expect(files.length).toBeGreaterThan(300);
  const typed = files.filter((name) =>
    /numRuns: *\d|\.configureGlobal\(/.test(readFileSync(join(TESTS, name), 'utf8')),
  );
  expect(typed).toEqual([]);
});
