import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { errorIn } from '#src/tokens/views/errors/error-line.js';
import { lastErrorBlock, viewErrors } from '#src/tokens/views/errors.js';
import { FAILED_OUTPUTS } from './failed-outputs.ts';
import { expectFaithful, linesOf, readNumbered, type Shown } from './numbered.ts';

const OUTPUTS = new URL('../../../fixtures/outputs/', import.meta.url);

function errors(text: string, context = 0): { text: string; facts: Record<string, unknown> } {
  const view = viewErrors(text, { context });
  if (view.kind !== 'text') throw new Error(`no text: ${view.kind}`);
  expect(view.cut).toBe('head_tail');
  return view;
}

function output(name: string): string {
  return readFileSync(new URL(`failed-${name}.txt`, OUTPUTS), 'utf8');
}

function markOf(shown: readonly Shown[], beginning: string): string | undefined {
  const marks = shown.filter(({ text }) => text.startsWith(beginning)).map(({ mark }) => mark);
  return marks.includes(':') ? ':' : marks[0];
}

function lastBlock(text: string, maxChars: number): string | null {
  const block = lastErrorBlock(text, maxChars);
  return block === null ? null : text.slice(block.start, block.end);
}

describe('the view errors', () => {
  it('is tested with every recorded output', () => {
    const recorded = readdirSync(OUTPUTS).filter((name) => name.startsWith('failed-'));
    expect(recorded.sort()).toEqual(
      Object.keys(FAILED_OUTPUTS)
        .map((name) => `failed-${name}.txt`)
        .sort(),
    );
  });

  it.each(Object.entries(FAILED_OUTPUTS))('shows the failures in the output of %s', (name, expected) => {
    const text = output(name);
    const view = errors(text);
    const shown = readNumbered(view.text);
    const { errors: found, kept = [], hidden = [] } = expected;
    for (const line of [...found, ...kept, ...hidden])
      expect(
        linesOf(text).some((own) => own.startsWith(line)),
        `${line} is in the output`,
      ).toBe(true);
    expect(found.filter((line) => markOf(shown, line) !== ':')).toEqual([]);
    expect(kept.filter((line) => markOf(shown, line) === undefined)).toEqual([]);
    expect(hidden.filter((line) => markOf(shown, line) !== undefined)).toEqual([]);
    expectFaithful(view.text, text);
    expect(view.facts.lines).toBe(linesOf(text).length);
  });

  it('shows lines around each error', () => {
    const text = 'a\nb\nerror: x\nc\nd\ne\nf\nerror: y\ng\n';
    expect(errors(text, 1)).toMatchObject({
      text: '2-b\n3:error: x\n4-c\n--\n7-f\n8:error: y\n9-g\n',
      facts: { lines: 9, errors: 2 },
    });
  });

  it('shows the end of a text without errors', () => {
    const text = Array.from({ length: 30 }, (_, at) => `line ${at + 1}\n`).join('');
    const shown = readNumbered(errors(text).text);
    expect([shown.length, shown[0], shown[19]]).toEqual([
      20,
      { number: 11, mark: '-', text: 'line 11' },
      { number: 30, mark: '-', text: 'line 30' },
    ]);
    expect(errors(text).facts).toEqual({ lines: 30, errors: 0 });
    expect(errors('')).toMatchObject({ text: '', facts: { lines: 0, errors: 0 } });
  });

  it('shows the same error three times and counts the rest', () => {
    const text = Array.from({ length: 9 }, (_, at) => `a.c:${at}:1: error: no x\nok\n`).join('');
    const view = errors(`${text}error: other\n`);
    expect(readNumbered(view.text).map(({ number }) => number)).toEqual([1, 3, 5, 19]);
    expect(view.facts).toEqual({ lines: 19, errors: 10, repeats: 6 });
  });

  it('shows mere mentions of missing files ten times, and every error', () => {
    const talk = (i: number) => `File '/srv/${'abcdefghijklmnopqrst'[i % 20]}/package.json' does not exist.`;
    const lines = Array.from({ length: 400 }, (_, i) => talk(i));
    for (let i = 0; i < 15; i++)
      lines.splice(20 * i + 40, 0, `src/${'abcdefghijklmno'[i]}.ts(1,2): error TS2304: no x`);
    const shown = readNumbered(errors(`${lines.join('\n')}\n`).text).filter(({ mark }) => mark === ':');
    expect(shown.filter(({ text }) => text.startsWith('File'))).toHaveLength(10);
    expect(shown.filter(({ text }) => text.includes('error TS2304'))).toHaveLength(15);
    expect(errors(lines.join('\n')).facts).toEqual({ lines: 415, errors: 415, repeats: 390 });
  });

  it('limits a long message to thirty lines, and shows both ends of a long traceback', () => {
    const frames = Array.from({ length: 100 }, (_, at) => `    at f${at} (a.js:1:1)\n`).join('');
    expect(readNumbered(errors(`Error: deep\n${frames}`).text)).toHaveLength(31);
    const calls = Array.from({ length: 100 }, (_, at) => `  File "a.py", line ${at}, in f\n    f()\n`).join('');
    const shown = readNumbered(errors(`Traceback (most recent call last):\n${calls}RecursionError: deep\n`).text);
    expect(shown.map(({ number }) => number)).toEqual([
      ...Array.from({ length: 13 }, (_, at) => at + 1),
      ...Array.from({ length: 13 }, (_, at) => at + 190),
    ]);
  });

  it('shows the part of a long line that mentions the error', () => {
    const line = `${'{"level":30},'.repeat(1_000)}{"level":50,"msg":"x"}${',{}'.repeat(1_000)}`;
    const view = errors(`a\n${line}\n`);
    expect(view.text).toMatch(/^2:….{1,300}\{"level":50,"msg":"x"\}.{1,300}…\n$/);
    expect(view.facts).toEqual({ lines: 2, errors: 1, shortened_lines: 1 });
  });

  it('shows lines unchanged and in order, whatever the text', () => {
    const pool = Object.keys(FAILED_OUTPUTS).flatMap((name) => linesOf(output(name)));
    const text = fc.array(fc.constantFrom(...pool, '', 'plain', '\r', '  error: x')).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, fc.nat(3), (lines, context) => {
        const view = errors(lines, context);
        expectFaithful(view.text, lines);
        const marked = readNumbered(view.text).filter(({ mark }) => mark === ':').length;
        expect(marked).toBe(Number(view.facts.errors) - Number(view.facts.repeats ?? 0));
      }),
    );
  });
});

describe('an error line', () => {
  it.each([
    '0 errors',
    'Found 0 errors in 12 files',
    'errors: 0',
    'Failures: 0, Errors: 0',
    'no failures',
    'completed without errors',
    '{"error":null,"ok":true}',
    '{"errors":[]}',
    'error.ts',
    'src/errors/error.ts 12 kB',
    'vitest run --fail-fast',
    'PASS test/error.test.ts',
    '✓ handles error: no such file 3ms',
    'ok 12 - failed to connect is reported',
    'test handles_error ... ok',
    'tests/a.py::test_error_raised PASSED [ 40%]',
    '--- PASS: TestFatalError (0.00s)',
    '=== RUN   TestFail',
    '   Compiling thiserror v1.0.0',
    'added error-ex@1.3.2',
    'gcc -c error.c -o error.o',
    'warning: unused variable: `error`',
    'src/a.c:3:1: warning: no return',
    'npm warn deprecated x@1: failed to be maintained',
    '2026-01-01T00:00:00Z INFO retry after error: timeout',
    '$ echo "error: x"',
    '+ echo error: x',
    '      3 |   throw new Error("error: x")',
    '    at fail (src/error.ts:3:1)',
    '  let onError = (error: Error) => 1;',
    'src/fail.ts:3:const error: Failure = fail;',
    "src/fail.ts:3:  throw new AppError('failed to x');",
    'exit code 0',
    'process.on("error", handle)',
  ])('is not %s', (line) => {
    expect(errorIn(line)).toBe(-1);
  });

  it.each([
    'error: x',
    'Error: x',
    'ERROR x',
    '[ERROR] x',
    '2026-01-01 10:00:00,123 ERROR [main] x',
    '{"error":"no such user"}',
    '{"level":"error","msg":"x"}',
    'level=fatal msg=x',
    '##[error]Process completed with exit code 1.',
    'java.lang.IllegalStateException: x',
    'Caught MyError [E_CODE]: x',
    '3 errors, 0 warnings',
    'Found 1 error in src/a.ts:3',
    '0 passed, 1 failed',
    'FAIL',
    'Failed to compile.',
    'Automatic merge failed; fix conflicts',
    'Command failed with exit code 2.',
    'exited with code 137',
    'exit status 1',
    'Killed',
    'a.out: line 3: 12 Killed   ./x',
    'fatal: not a git repository',
    'mkdir: cannot create directory ‘x’: Permission denied',
    'connect ECONNREFUSED 127.0.0.1:80',
    'Error response from daemon: No such container: x',
    '==12==ERROR: AddressSanitizer: heap-use-after-free',
    'WARNING: DATA RACE',
    'Uncaught ReferenceError: x is not defined',
    'x.go:3:1: syntax error: unexpected newline',
    "a.rb:3:in 'f': undefined method 'x' for nil",
  ])('is %s', (line) => {
    expect(errorIn(line)).not.toBe(-1);
  });
});

describe('the last error block', () => {
  const noise = Array.from({ length: 500 }, (_, at) => `compiled module ${at}\n`).join('');

  it('is the message that failed, with the summary just below it', () => {
    const message = 'a.c:1:2: error: no x\n  x();\n  ^\nmake: *** [a.o] Error 1\n';
    expect(lastBlock(`error: earlier\n${noise}${message}${noise}`, 4_000)).toBe(message);
  });

  it('is the message and not a summary far below', () => {
    expect(lastBlock(`${noise}error: x\n${noise}make: *** [all] Error 1\n`, 4_000)).toBe('error: x\n');
    expect(lastBlock(`error: x\n${noise.repeat(20)}make: *** [all] Error 1\n`, 4_000)).toBe('error: x\n');
  });

  it('is a summary if there is nothing else', () => {
    expect(lastBlock(`${noise}make: *** [all] Error 1\n${noise}`, 4_000)).toBe('make: *** [all] Error 1\n');
  });

  it('is null without errors', () => {
    expect([lastErrorBlock(noise, 4_000), lastErrorBlock('', 4_000)]).toEqual([null, null]);
  });

  it('is found through colours', () => {
    expect(lastBlock(`${noise}\u001b[31merror\u001b[39m: x\n${noise}`, 4_000)).toBe('\u001b[31merror\u001b[39m: x\n');
  });

  it('is looked for only in the last 4 Mi characters', () => {
    const long = `${'x'.repeat(99)}\n`;
    expect(lastBlock(`error: far\n${long.repeat(50_000)}`, 4_000)).toBeNull();
    expect(lastBlock(`error: near\n${long.repeat(30_000)}`, 4_000)).toBe('error: near\n');
  });

  it('is a part of a line that is too long', () => {
    const part = lastBlock(`${'x '.repeat(10_000)} error: y ${'z '.repeat(10_000)}`, 1_000) ?? '';
    expect(part).toContain('error: y');
    expect(part.length).toBeLessThanOrEqual(1_000);
  });

  it('is whole lines with an error line and fits, whatever the text', () => {
    const pool = Object.keys(FAILED_OUTPUTS).flatMap((name) => linesOf(output(name)));
    const text = fc.array(fc.constantFrom(...pool, '', 'plain')).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, fc.integer({ min: 400, max: 4_000 }), (lines, maxChars) => {
        const block = lastErrorBlock(lines, maxChars);
        expect(block === null).toBe(errors(lines).facts.errors === 0);
        if (block === null) return;
        expect(block.end - block.start).toBeLessThanOrEqual(maxChars);
        expect(block.start === 0 || lines[block.start - 1] === '\n').toBe(true);
        expect(block.end === lines.length || lines[block.end - 1] === '\n').toBe(true);
        expect(errors(lines.slice(block.start, block.end)).facts.errors).not.toBe(0);
      }),
    );
  });
});
