import fc from 'fast-check';
import { expect, it } from 'vitest';
import { errorLineOf } from '#src/features/events/error-line.js';

const quiet = fc.array(fc.constantFrom('compiling a.ts', '', 'ok 12 tests', '\u001b[2mloading\u001b[0m'), {
  maxLength: 400,
});
const errors = fc.constantFrom(
  'Error: ENOENT, no such file',
  'src/a.ts(3,1): error TS2304: Cannot find name',
  'fatal: not a git repository',
);
const sums = fc.constantFrom('make: *** [all] Error 1', 'Tests  2 failed');

it('issue 19.7 finds the first error that is more than a sum of others, in the first text that has one', () => {
  fc.assert(
    fc.property(quiet, errors, quiet, errors, sums, (before, first, between, second, sum) => {
      const text = [...before, first, ...between, second, sum].join('\n');
      expect(errorLineOf([text])).toBe(first);
      expect(errorLineOf([before.join('\n'), text])).toBe(first);
      expect(errorLineOf([`${sum}\n`, text])).toBe(first);
      expect(errorLineOf([[...before, sum].join('\n')])).toBe(sum);
      expect(errorLineOf([second, text])).toBe(second);
    }),
  );
});

it('issue 19.7 takes the last line if nothing looks like an error, and looks at the end of a long text only', () => {
  expect(errorLineOf([])).toBe('');
  expect(errorLineOf(['', '  \n'])).toBe('');
  expect(errorLineOf(['one\ntwo\n\n'])).toBe('two');
  expect(errorLineOf([`Error: early\n${'x\n'.repeat(100_000)}Error: late\n`])).toBe('Error: late');
  expect(errorLineOf([`Error: ${'long '.repeat(1_000)}`]).length).toBeLessThanOrEqual(300);
});
