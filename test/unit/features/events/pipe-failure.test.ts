import { describe, expect, it } from 'vitest';
import { isFailure, resultOf } from '#src/features/events/event.js';
import { failedStatus, partStatuses } from '#src/features/events/pipe-failure.js';
import { reportedResult } from '#src/features/events/test-result.js';
import { factsOf } from './made-events.ts';

/** What the record has of a command, and the result that is made of it. */
function resultFrom(pipeStatus: number[], printed: string, exitCode = pipeStatus.at(-1) ?? 0) {
  const reported = reportedResult([printed]);
  const failedPart = failedStatus({ exitCode, pipeStatus }, [printed], reported);
  const facts = factsOf('safe_bash', 'a | b', { exitCode, pipeStatus, failedPart, reported });
  return isFailure(facts) ? resultOf(facts) : 'ok';
}

describe('issue 31.1 a part of a pipeline', () => {
  it.each([
    ['make | tail', [2, 0], 'cc -c a.c', 'exits 2 0'],
    ['./checks | tail', [3, 0], 'step 4 of 5', 'exits 3 0'],
    ['cargo build | grep -v warning', [101, 1], '', 'exits 101 1'],
    ['prgram | tail', [127, 0], 'bash: prgram: command not found', 'exits 127 0'],
    ['./a.out | head', [139, 0], 'Segmentation fault', 'exits 139 0'],
    ['pytest | tail -3', [1, 0], '1 failed, 2 passed in 0.10s', 'exits 1 0, 1 failed'],
    ['node app.js | head', [1, 0], 'TypeError: x is not a function', 'exits 1 0, 1 failed'],
    ['cat f | python app.py', [0, 1], 'ValueError: bad', 'exits 0 1, 1 failed'],
    ['cat /nowhere | wc -l', [1, 0], 'cat: /nowhere: No such file or directory', 'exits 1 0'],
    ['git log | grep x | nothing', [141, 1, 127], 'bash: nothing: command not found', 'exits 141 1 127'],
  ])('that failed makes %s a failure', (_command, statuses, printed, result) => {
    expect(resultFrom(statuses, printed)).toBe(result);
  });

  it.each([
    ['yes | head -1', [141, 0], 'y'],
    ['git log | head -3', [141, 0], 'commit 1'],
    ['python gen.py | head -1', [1, 0], '1\nBrokenPipeError: [Errno 32] Broken pipe'],
    ['grep x f | head', [1, 0], ''],
    ['git log | grep x | wc -l', [0, 1, 0], '0'],
    ['pytest -q | grep FAILED', [0, 1], ''],
    ['diff a b | head', [1, 0], '1c1\n< a\n---\n> b'],
    ['check | tail', [1, 0], '12 passed in 1.20s'],
    ['ls | wc -l', [0, 0], '3'],
    ['set -o pipefail; yes | head -1', [141, 0], 'y', 141],
  ])(
    'that found nothing, or whose reader ended first, does not: %s',
    (_command, statuses, printed, exitCode?: number) => {
      expect(resultFrom(statuses, printed, exitCode)).toBe('ok');
    },
  );

  it.each([
    ['make; echo "exit: $?"', 'ld: no a.o\nexit: 2\n', [2, 0]],
    ['make 2>&1; echo EXIT=$?', 'EXIT=2', [2, 0]],
    ['make; printf "rc=%s, $?\\n"', 'rc=%s, 0', [0, 0]],
    ['make; echo exit $?; echo done', 'exit 127\ndone', [127, 0]],
    ["make; echo 'exit $?'", 'exit $?', []],
    ['make; echo "$? and $?"', '2 and 2', []],
    ['make; echo exit', 'exit 2', []],
  ])('that %s prints is its status', (command, printed, statuses) => {
    expect(partStatuses({ exit_code: 0 }, command, [printed])).toEqual(statuses);
  });

  it('that succeeded leaves the status of the whole as it is', () => {
    expect(resultFrom([0, 0], 'found', 1)).toBe('exit 1');
  });
});
