import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { errorLineOf } from '#src/features/events/error-line.js';
import { isResultLine, reportedResult } from '#src/features/events/test-result.js';

const OUTPUTS = new URL('../../../fixtures/outputs/', import.meta.url);
const output = (name: string): string => readFileSync(new URL(`${name}.txt`, OUTPUTS), 'utf8');

/** Recorded outputs of real runners: how many tests failed and passed, and the first that failed. */
const RUNNERS: Readonly<Record<string, readonly [failed: number, passed: number, name: string | undefined]>> = {
  'cargo-test': [2, 2, 'tests::is_wrong'],
  'dotnet-test': [1, 1, undefined],
  'go-test': [1, 0, 'TestTable'],
  gradle: [1, 0, 'CartTest > sumsPrices()'],
  gtest: [1, 0, 'Cart.Sums'],
  jest: [2, 2, 'is wrong'],
  mocha: [2, 2, undefined],
  'node-tap': [3, 2, 'joins lists'],
  'node-test': [3, 2, 'joins lists'],
  pytest: [3, 2, 'test_calc.py::test_rounding'],
  'pytest-q': [3, 2, 'test_calc.py::test_rounding'],
  rspec: [2, 0, './spec/cart_spec.rb:7'],
  unittest: [2, 0, 'test_crash (__main__.Calc.test_crash)'],
  vitest: [3, 3, 'shows a receipt'],
};
/** Of compilers, linters and builds: how many errors they count, or one. */
const COMPILERS: Readonly<Record<string, number>> = {
  'cargo-build': 2,
  clang: 2,
  eslint: 6,
  javac: 2,
  'make-gcc': 1,
  'tsc-pretty': 6,
  tsc: 1,
};

describe('issue 31.1 the result that a command reports', () => {
  it.each(Object.entries(RUNNERS))('is read from the output of %s', (name, [failed, passed, first]) => {
    const reported = reportedResult([output(`failed-${name}`)]);
    expect(reported).toMatchObject({ failed, passed });
    expect(reported?.names[0]).toBe(first);
  });

  it.each(Object.entries(COMPILERS))('is read from the output of %s', (name, failed) => {
    expect(reportedResult([output(`failed-${name}`)])?.failed).toBe(failed);
  });

  it.each([
    'find',
    'git-diff',
    'git-log-oneline',
    'json-lines',
    'npm-ls-json',
    'kubectl-json',
    'docker-ps',
    'apt-get-terminal',
  ])('is not found in an output of %s, which runs no test', (name) => {
    expect(reportedResult([output(name)])).toBeNull();
  });

  it('has the counts of a summary in any of the usual forms', () => {
    const sizes = fc.record({ failed: fc.integer({ min: 1, max: 5_000 }), passed: fc.integer({ min: 0, max: 5_000 }) });
    fc.assert(
      fc.property(sizes, fc.constantFrom(...SUMMARIES), ({ failed, passed }, summary) => {
        const text = `collecting\n${summary(failed, passed)}\n`;
        expect(reportedResult([text, ''])).toEqual({ failed, passed, names: [] });
        const rerun = `${text}${summary(0, failed + passed)}\n`;
        expect(reportedResult([rerun])?.failed ?? 0).toBe(0);
      }),
    );
  });

  it('is a success if everything passed, and nothing if the text says neither', () => {
    expect(reportedResult(['===== 3 passed in 0.02s =====\n'])).toEqual({ failed: 0, passed: 3, names: [] });
    expect(reportedResult(['Ran 3 tests in 0.001s\n\nOK\n'])).toEqual({ failed: 0, passed: 0, names: [] });
    expect(reportedResult(['', 'Wrote 3 files. 0 errors.\n'])).toBeNull();
    expect(reportedResult([])).toBeNull();
  });

  it('takes no status code for a count, however an error says it', () => {
    const forms = [
      (code: number) => `ERROR: HTTP error ${code} while getting https://example.com/simple/`,
      (code: number) => `Error: ${code} Client Error: Forbidden for url: https://example.com/`,
      (code: number) => `error ${code} (1 test skipped, 3 ms)`,
      (code: number) => `npm error ${code} Not Found - GET https://example.com/x`,
    ];
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 999 }), fc.constantFrom(...forms), (code, form) => {
        expect(reportedResult([form(code)])?.failed ?? 0).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('has a letter or a mark: other lines, which are not searched, report nothing', () => {
    const character = fc.oneof(
      fc.constantFrom(...'0123456789 \t.:,;/\\()[]{}<>*#=+-_|!?$%&@~^\'"`ℹ│›…'),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }).filter((one) => !/[a-z✖✗✘✕×●]/iu.test(one)),
    );
    const line = fc.array(character, { maxLength: 40 }).map((characters) => characters.join(''));
    fc.assert(
      fc.property(line, (text) => {
        expect(isResultLine(text)).toBe(false);
      }),
    );
    const numbers = fc.array(line, { maxLength: 5 }).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(fc.constantFrom(...SUMMARIES), numbers, numbers, (summary, before, behind) => {
        const text = `${before}\n${summary(3, 4)}\n${behind}`;
        expect(reportedResult([text])).toEqual({ failed: 3, passed: 4, names: [] });
      }),
    );
  });

  it('is a failure if the last line is the exception of a traceback', () => {
    const trace =
      'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nModuleNotFoundError: No module named b';
    expect(reportedResult(['', trace])?.failed).toBe(1);
    expect(errorLineOf([trace])).toBe('ModuleNotFoundError: No module named b');
  });
});

it.each([
  ['pytest', 'E       RuntimeError: no database'],
  ['pytest-q', 'E       RuntimeError: no database'],
  ['python-traceback', 'json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes'],
  ['jest', 'TypeError: no price'],
  ['unittest', "TypeError: unsupported operand type(s) for /: 'int' and 'NoneType'"],
  ['vitest', 'AssertionError: expected { total: 6,'],
])('issue 31.1 the reason line of %s says why and is no heading', (name, begin) => {
  const line = errorLineOf([output(`failed-${name}`)]);
  expect(line.slice(0, begin.length)).toBe(begin);
});

/** How runners sum up; with no failure each names none. */
const SUMMARIES: readonly ((failed: number, passed: number) => string)[] = [
  (failed, passed) => `===== ${failed > 0 ? `${failed} failed, ` : ''}${passed} passed in 0.12s =====`,
  (failed, passed) => `Tests:       ${failed} failed, ${passed} passed, ${failed + passed} total`,
  (failed, passed) => `      Tests  ${failed > 0 ? `${failed} failed | ` : ''}${passed} passed (${failed + passed})`,
  (failed, passed) => `  ${passed} passing (12ms)\n  ${failed} failing`,
  (failed, passed) => `# tests ${failed + passed}\n# pass ${passed}\n# fail ${failed}`,
  (failed, passed) =>
    `test result: ${failed > 0 ? 'FAILED' : 'ok'}. ${passed} passed; ${failed} failed; 0 ignored; finished in 0.00s`,
  (failed, passed) =>
    `${failed > 0 ? 'Failed' : 'Passed'}!  - Failed: ${failed}, Passed: ${passed}, Skipped: 0, Total: ${failed + passed}, Duration: 5 ms`,
];
