import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockersIn } from '#src/features/events/blockers.js';
import type { CallEventFacts, SessionEvent } from '#src/features/events/event.js';
import { callOf, factsOf } from './made-events.ts';

/** Commands by what they say at their end; the log that they make. */
function log(...calls: readonly (readonly [command: string, more?: Partial<CallEventFacts>])[]): SessionEvent[] {
  return calls.map(([command, more], place) =>
    callOf(place + 1, command, { facts: factsOf('safe_bash', command, more) }),
  );
}
const RED = { reported: { failed: 1, passed: 2, names: ['test_m.py::test_a'] }, errorLine: 'E  assert 1 == 2' };
const GREEN = { reported: { failed: 0, passed: 3, names: [] } };
const wrong = (errorLine: string, exitCode = 2) => ({ exitCode, errorLine });
const open = (events: readonly SessionEvent[]) => blockersIn(events).map(({ event }) => event.facts.subject);

/** How agents run tests: the status of each form is 0 when the test fails. */
const HIDING = [
  'T 2>&1 | tail -3',
  'T || true',
  'cd . && T; echo finished',
  'T | tee log | head',
  'T; true',
  'FORCE=1 T 2>/dev/null || echo no',
];
const TESTS = [
  'pytest -q test_m.py',
  '.venv/bin/python -m pytest -q test_m.py',
  'npm test',
  'go test ./...',
  'make check',
];

describe('issue 31.1 what failed and did not succeed since', () => {
  it('is a failing test in whatever form its status was hidden, once, until a run in any form is green', () => {
    const forms = fc.array(fc.constantFrom(...HIDING), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.constantFrom(...TESTS), forms, fc.constantFrom(...HIDING), (command, hiding, last) => {
        const runs = hiding.map((form): [string, Partial<CallEventFacts>] => [form.replace('T', command), RED]);
        const blockers = blockersIn(log(...runs));
        expect(blockers.map(({ event, times }) => [event.facts.subject, times])).toEqual([
          [runs.at(-1)?.[0], runs.length],
        ]);
        expect(open(log(...runs, [last.replace('T', command), GREEN]))).toEqual([]);
        expect(open(log(...runs, ['git log --oneline']))).toHaveLength(1);
      }),
    );
  });

  it('is still a failure after a command whose status is that of something else, unless its output reports a success', () => {
    const failed: [string, Partial<CallEventFacts>] = ['T', wrong('ImportError while loading conftest', 4)];
    const says = (form: string, more = {}) =>
      open(log([failed[0].replace('T', 'pytest -q a.py'), failed[1]], [form.replace('T', 'pytest -q a.py'), more]));
    for (const form of ['T || true', 'cd . ; T; echo finished', 'T\necho "done; or not"']) {
      expect([form, says(form)]).toEqual([form, ['pytest -q a.py']]);
      expect([form, says(form, GREEN)]).toEqual([form, []]);
    }
    for (const form of ['T', 'cd . && T', 'cd .; T', 'T && echo "a; b"', 'T 2>&1 | tail -3'])
      expect([form, says(form)]).toEqual([form, []]);
  });

  it.each([
    ['git log --onelin', 'fatal: unrecognized argument: --onelin', 'git log --oneline | head'],
    ['pip list --outdates', 'no such option: --outdates', 'pip list --outdated --format json | head'],
    ['pytest -q --no-such-flag', 'ERROR: unrecognized arguments: --no-such-flag', 'pytest -q'],
    [
      'pytest x.py::test_nonexistent',
      'ERROR: not found: /w/x.py::test_nonexistent',
      'pytest x.py::test_real | tail -3',
    ],
    ['npm run biuld', 'npm error Missing script: "biuld"', 'npm run build'],
    ['make lnit', "make: *** No rule to make target 'lnit'.  Stop.", 'make lint'],
    ['cargo tst', 'error: no such command: `tst`', 'cargo test'],
    ['go test -rce ./...', 'flag provided but not defined: -rce', 'go test -race ./...'],
  ])('is not `%s` after `%s` and `%s`', (command, errorLine, corrected) => {
    expect(open(log([command, wrong(errorLine)]))).toEqual([command]);
    expect(open(log([command, wrong(errorLine)], [corrected]))).toEqual([]);
  });

  it('names commands that were written wrongly last, and forgets them after more work', () => {
    const typo: [string, Partial<CallEventFacts>] = ['git rebas main', wrong("git: 'rebas' is not a git command.", 1)];
    expect(open(log(['npm test', { exitCode: 1 }], typo))).toEqual(['npm test', typo[0]]);
    const work = Array.from({ length: 20 }, (_, step): [string] => [`touch file-${step}`]);
    expect(open(log(['npm test', { exitCode: 1 }], typo, ...work))).toEqual(['npm test']);
  });

  it.each([
    ['pytest tests/test_a.py', 'pytest tests/test_b.py'],
    ['pytest', 'pytest tests/test_a.py'],
    ['make lint', 'make'],
    ['npm test', 'npm install'],
    ['cargo test', 'cargo build'],
    ['git push origin main', 'git push other main'],
  ])('is still `%s` after a success of `%s`', (failed, success) => {
    expect(open(log([failed, { exitCode: 1 }], [success]))).toEqual([failed]);
  });

  it.each([
    ['pytest tests/test_a.py::test_b', 'pytest'],
    ['pytest tests/test_a.py::test_b', 'pytest tests/test_a.py'],
    ['pytest tests/test_a.py', 'pytest -x tests'],
    ['npm test', 'npm test --silent 2>&1 | tail'],
    ['make check', 'make -j4 check'],
  ])('is no longer `%s` after a success of `%s`, which includes it', (failed, success) => {
    expect(open(log([failed, { exitCode: 1 }], [success]))).toEqual([]);
  });
});
