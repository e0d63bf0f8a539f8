import type { Expected } from './failed-outputs.ts';

/** Outputs of test runners. */
export const FAILED_TESTS: Readonly<Record<string, Expected>> = {
  'cargo-test': {
    errors: [
      'test tests::is_wrong ... FAILED',
      'assertion `left == right` failed',
      'test result: FAILED.',
      'error: test failed',
    ],
    kept: ['  left: 3', ' right: 4', 'index out of bounds: the len is 0'],
    hidden: ['test tests::handles_error_cases ... ok', 'running 4 tests'],
  },
  ctest: {
    errors: ['2/3 Test #2: cart', '67% tests passed, 1 tests failed', 'The following tests FAILED:'],
    hidden: ['1/3 Test #1: error_handling', '3/3 Test #3: fail_fast'],
  },
  'dotnet-test': {
    errors: ['  Failed Shop.Tests.CartTests.SumsPrices', '   Assert.Equal() Failure', 'Failed!  - Failed:     1'],
    kept: ['Expected: 3', 'Actual:   2'],
    hidden: ['  Passed Shop.Tests.CartTests.HandlesErrors'],
  },
  'go-panic': {
    errors: ['--- FAIL: TestFirst', 'panic: runtime error'],
    kept: ['goroutine 22 [running]:', 'example.com/shop/calc.First(...)', '\t/home/dev/project/calc/calc.go:11'],
  },
  'go-test': {
    errors: ['--- FAIL: TestTable', '    --- FAIL: TestTable/two', 'FAIL\texample.com'],
    kept: ['        calc_test.go:17: got 3'],
  },
  'go-test-v': {
    errors: ['--- FAIL: TestTable'],
    kept: ['    calc_test.go:17: got 3'],
    hidden: ['--- PASS: TestErrorsAreReported', '=== RUN   TestErrors'],
  },
  gtest: {
    errors: ['/home/dev/project/cart_test.cc:12: Failure', '[  FAILED  ] Cart.Sums (0 ms)', ' 1 FAILED TEST'],
    kept: ['Expected equality of these values:', '    Which is: 2'],
    hidden: ['[ RUN      ] Errors.AreHandled', '[       OK ] Errors'],
  },
  jest: {
    errors: [
      'FAIL __tests__/cart.test.js',
      '    ✕ is wrong',
      '  ● cart › is wrong',
      '    TypeError: no price',
      'Tests:       2 failed',
    ],
    kept: ['    expect(received).toEqual(expected)', '    -   "total": 2,', '    > 4 |   it('],
    hidden: ['    ✓ handles error: none', 'Time:'],
  },
  'maven-test': {
    errors: ['[ERROR] Tests run: 2, Failures: 1', 'org.opentest4j.AssertionFailedError', '[INFO] BUILD FAILURE'],
    kept: ['\tat shop.CartTest'],
    hidden: ['[INFO] Running shop.ErrorTest', '[INFO] Tests run: 4, Failures: 0'],
  },
  mocha: {
    errors: [
      '  2 failing',
      '      AssertionError [ERR_ASSERTION]',
      '      + expected - actual',
      '     Error: no price',
    ],
    kept: ['  1) cart', '      -    2', '  2) cart', '      at Context.<anonymous> (m.test.js:6:55)'],
    hidden: ['    ✔ handles errors', '  2 passing'],
  },
  'node-tap': {
    errors: ['not ok 3 - joins lists', "      error: 'x is not a list'", '# fail 3'],
    kept: ['    +     a: 1'],
    hidden: ['ok 2 - returns', '# pass 2'],
  },
  'node-test': {
    errors: ['✖ joins lists', '  AssertionError [ERR_ASSERTION]', '  TypeError: x is not a list', 'ℹ fail 3'],
    kept: ['  +     a: 1', "    operator: 'deepStrictEqual'"],
    hidden: ['✔ returns an error for bad input', 'ℹ pass 2'],
  },
  pytest: {
    errors: [
      'test_calc.py::test_rounding FAILED',
      'E       AssertionError: failed to round',
      'E       assert 3.5 == 3',
      "FAILED test_calc.py::test_load - KeyError: 'b'",
      '===================== 2 failed',
    ],
    kept: [
      '>       assert result == 3',
      '>       return {"a": 1}[name]',
      '________________________________ test_rounding',
    ],
    hidden: ['test_calc.py::test_error_is_raised PASSED', 'platform linux'],
  },
  'pytest-q': {
    errors: ["E       KeyError: 'b'", '2 failed, 2 passed, 1 error'],
    kept: ['>       raise RuntimeError'],
    hidden: ['..FFE'],
  },
  rspec: {
    errors: [
      '     Failure/Error: expect(cart.total)',
      '     KeyError:',
      '5 examples, 2 failures',
      'rspec ./spec/cart_spec.rb:7',
    ],
    kept: ['  1) Cart total sums prices', '            got: 2', '  2) Cart handles', '       no item'],
    hidden: ['.F..F', 'Finished in'],
  },
  unittest: {
    errors: [
      'test_wrong (__main__.Calc.test_wrong) ... FAIL',
      'ERROR: test_crash',
      'TypeError: unsupported operand',
      'AssertionError: {',
      'FAILED (failures=1, errors=1)',
    ],
    kept: ["- {'a': 1, 'b': [1, 2]}", '?                   ^', '    return a / b'],
    hidden: ['test_error_ok (__main__.Calc.test_error_ok) ... ok', 'Ran 4 tests'],
  },
  vitest: {
    errors: [
      '\u001b[31m     \u001b[31m×\u001b[31m shows a receipt',
      '\u001b[31m\u001b[1mSyntaxError\u001b[22m',
      '\u001b[31m\u001b[1mError\u001b[22m: Test timed out',
      '\u001b[2m      Tests',
    ],
    kept: ['\u001b[32m-   "total": 7', '\u001b[36m \u001b[2m❯\u001b[22m test/cart.test.ts:\u001b[2m8:3'],
    hidden: [' \u001b[32m✓\u001b[39m test/ok.test.ts', '     \u001b[32m✓\u001b[39m handles error'],
  },
};
