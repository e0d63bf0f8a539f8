import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { evalAndReport, quoteOnOneLine, readReport, withStatuses } from '#src/sandbox/run/pipe-status.js';

/** Descriptor 3 of the shell is a pipe, in place of the socket of a sandbox. */
function run(script: string) {
  const { status, signal, output } = spawnSync('bash', ['-c', script], { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  const [, out, err, report] = output.map(String);
  // The parts of a pipeline trace in any order.
  const lines = (err ?? '').split('\n').sort();
  return { end: { status, signal, out, lines }, report: report ?? '' };
}

/** What a script does by itself, and with the lines that report. */
function both(script: string) {
  const plain = run(`exec 3<&-; eval ${quoteOnOneLine(script)}`).end;
  const reporting = withStatuses(script);
  if (reporting === null) return { plain, reported: plain, statuses: [] };
  const { end, report } = run(evalAndReport(quoteOnOneLine(reporting)));
  return { plain, reported: end, statuses: readReport(report).pipeStatus };
}

describe('issue 31.1 the statuses of the last pipeline', () => {
  it.each<[string, number[]]>([
    ['(exit 2) | true', []],
    ['sh -c "exit 3" | sh -c "exit 4" | cat', [3, 4, 0]],
    ['false 2>&1 | tail -3', [1, 0]],
    ['cd / && false | true', [1, 0]],
    ['cd /nowhere 2>/dev/null && false | true', []],
    ['false |& cat >/dev/null\n', [1, 0]],
    ['false |\n  true # the end', [1, 0]],
    ['yes | head -1', [141, 0]],
    ['set -x; false | true', [1, 0]],
    ['set -u; IFS=,; false | false | true', [1, 1, 0]],
    ['set -e; echo a; false | true', [1, 0]],
    ['set -euo pipefail; echo a; false | true', []],
    ['set -o pipefail; false | true', [1, 0]],
    ['! false | true', [1, 0]],
    ['nothing-of-this-name | cat', [127, 0]],
    ['echo\necho $LINENO | cat\nnothing-of-this-name | cat', [127, 0]],
    ['exit 5; false | true', []],
    ['false | true; exit 5 | cat', [5, 0]],
    ['echo a | sh -c "cat; exit 7"', [0, 7]],
    ['kill -TERM $$ | cat', []],
    ["echo 'it'\\''s' \"$HOME\" é | cat", [0, 0]],
    ['compgen -v | grep _parts', [0, 1]],
    ['exec 3>/dev/null; echo a | cat >&3', [0, 0]],
    ['ls /proc/self/fd | wc -l', [0, 0]],
    ['echo "$(echo a | cat)" | sh -c "cat; exit 1"', [0, 1]],
    ['make() { return 2; }; make | cat', []],
    ['sleep 1 & false | true', []],
    ['exec 2>&1; echo "$-" "$0" "$#" "$_" "$BASH_SUBSHELL" "$SHLVL" | cat', [0, 0]],
    ['false | true || echo no', [1, 0]],
    ['true | false || echo no', []],
  ])('are known of %j, which does and prints the same', (script, statuses) => {
    const { plain, reported, statuses: found } = both(script);
    expect(reported).toEqual(plain);
    expect(found).toEqual(statuses);
  });

  it.each([
    'true',
    'false || true',
    'make | tail; echo done',
    'cat <<X | wc\na\nX',
    "echo 'a | b",
    'echo "a | b',
    'echo a | cat \\',
    'echo a |',
    'a | b &&',
    'if true; then echo a | cat; fi',
    'for i in 1 2; do echo $i | cat; done',
    '{ echo a | cat; }',
    'trap "echo $BASH_COMMAND" DEBUG; echo a | cat',
    'set -v; echo a | cat',
    'a | b > ',
    'diff <(ls) <(ls) | cat',
    'echo a | cat &',
    'a || | b',
    'echo `a | b',
  ])('leave %j as it is', (script) => {
    expect(withStatuses(script)).toBeNull();
  });
});
