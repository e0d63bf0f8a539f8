import { describe, expect, it } from 'vitest';
import { innerCommands } from '#src/features/rules/inner-commands.js';
import type { Input } from '#src/features/rules/inputs.js';
import { hasHole, shownText } from '#src/features/rules/pattern.js';

const NOTHING: Input = { kind: 'nothing' };

/** Where a command can stand: what is before it and after it. */
const PLACES: readonly (readonly [before: string, after: string])[] = [
  ['(', ')'],
  ['( ', ' )'],
  ['((', ') )'],
  ['$(', ')'],
  ['$((', ') )'],
  ['`', '`'],
  ['"$(', ')"'],
  ['$"$(', ')"'],
  ['echo $(', ')'],
  ['{ ', '; }'],
  ['${ ', '; }'],
  ['if true; then ', '; fi'],
  ['if ', '; then :; fi'],
  ['while true; do ', '; done'],
  ['until ', '; do :; done'],
  ['for i in $(', '); do :; done'],
  ['select i in $(', '); do :; done'],
  ['for (( i = $(', '); i < 3; i++ )); do :; done'],
  ['for (( i = 1; i < $(', '); i++ )); do :; done'],
  ['case a in a) ', ';; esac'],
  ['case $(', ') in x) : ;; esac'],
  ['case a in $(', ')) : ;; esac'],
  ['f() { ', '; }'],
  ['function f { ', '; }'],
  ['cat <(', ')'],
  ['tee >(', ')'],
  ['cat > $(', ')'],
  ['cat <<< $(', ')'],
  ['cat <<E\n$(', ')\nE\n'],
  ['echo ${a:-$(', ')}'],
  ['echo ${a/$(', ')/b}'],
  ['echo ${a:$(', '):1}'],
  ['echo ${a[$(', ')]}'],
  ['echo $((1 + $(', ')))'],
  ['echo $[ $(', ') ]'],
  ['(( $(', ') ))'],
  ['(( a[$(', ')]++ ))'],
  ['[[ -n $(', ') ]]'],
  ['[[ a == $(', ') ]]'],
  ['a=$(', ')'],
  ['a=$(', ') ls'],
  ['a+=$(', ')'],
  ['a=($(', '))'],
  ['a[$(', ')]=1'],
  ['declare a=$(', ')'],
  ['echo {a,$(', ')}'],
  ['echo @($(', '))'],
  ['! ', ''],
  ['time ', ''],
  ['coproc ', ''],
  ['a | ', ''],
  ['a |& ', ' | b'],
  ['a && ', ' || b'],
  ['a & ', ' &'],
  ['# a comment\n', '\n# another'],
];

function found(text: string): 'found' | 'unreadable' | 'missed' {
  try {
    const commands = innerCommands(text, NOTHING).map(({ words }) => words);
    if (commands.some((words) => words.join(' ') === 'git push')) return 'found';
    return commands.some(([name = '']) => hasHole(name)) ? 'unreadable' : 'missed';
  } catch (thrown) {
    if (thrown instanceof RangeError) return 'unreadable';
    throw thrown;
  }
}

function shown(text: string, input: Input = NOTHING): string[] {
  return innerCommands(text, input).map(({ words }) => shownText(words.join(' ')));
}

describe('the commands of a text', () => {
  it.each(PLACES)('are found in %j … %j, and deeper down they are found or the text is unreadable', (before, after) => {
    const nested = (times: number): string => `${before.repeat(times)}git push${after.repeat(times)}`;
    expect(found(nested(1))).toBe('found');
    expect([2, 5, 40].map((times) => found(nested(times)))).not.toContain('missed');
  });

  it('are found in each of these places in each other one', () => {
    const texts = PLACES.flatMap(([before, after]) =>
      PLACES.map(([begin, end]) => `${before}${begin}git push${end}${after}`),
    );
    expect(texts.filter((text) => found(text) === 'missed')).toEqual([]);
  });

  it('are also those of two subshells, for a shell without arithmetic commands', () => {
    expect(found('((git push))')).toBe('found');
    expect(shown('((i++))')).not.toContain('…');
    expect(shown('(( $x > 3 ))')).not.toContain('…');
  });

  it.each([
    ['env -u A B=1 git push', 'git push'],
    ['env -S "git push"', 'git push'],
    ['sudo -u ann -- git push', 'git push'],
    ['sudo A=1 git push', 'git push'],
    ['timeout --signal=KILL -k 1 5s git push', 'git push'],
    ['nice nice -n5 ionice -c 3 git push', 'git push'],
    ['exec -a name git push', 'git push'],
    ['flock /tmp/lock git push', 'git push'],
    ["flock /tmp/lock -c 'git push'", 'git push'],
    ["su ann -c 'git push'", 'git push'],
    ["watch -n 1 'git push'", 'git push'],
    ['cat a | xargs -I {} git push {}', 'git push …'],
    ['cat a | xargs git', 'git …'],
    ['xargs -0 -n 1 git push', 'git push'],
    ['find . -name a -execdir git push {} +', 'git push …'],
    ['find . -exec a \\; -exec git push \\;', 'git push'],
    ['bash -euo pipefail -c "git push"', 'git push'],
    ['bash -o errexit -lc "git push"', 'git push'],
    ["bash -Eeuo pipefail -c 'true && git push'", 'git push'],
    ["bash -Eeuo pipefail <<'EOF'\ngit push\nEOF", 'git push'],
    ["bash -Eeuo pipefail <<< 'git push'", 'git push'],
    ["echo 'git push' | bash -Eeuo pipefail", 'git push'],
    ["bash -oc errexit 'git push'", 'git push'],
    ["bash -Oc extglob 'git push'", 'git push'],
    ["bash +Oo extglob errexit -c 'git push'", 'git push'],
    ["sh -ceo errexit 'git push'", 'git push'],
    ["bash -noprofile -posix -c 'git push'", 'git push'],
    ["bash -rcfile /dev/null --init-file x -c 'git push'", 'git push'],
    ["zsh -oextendedglob -c 'git push'", 'git push'],
    ["ksh -eo errexit -c 'git push'", 'git push'],
    ['/bin/sh -c -- "git push"', 'git push'],
    ['busybox sh -c "git push"', 'git push'],
    ['builtin eval "git push"', 'git push'],
    ['eval "eval \'git push\'"', 'git push'],
    ["eval 'git pu''sh'", 'git push'],
    ["echo 'git push' | bash -s", 'git push'],
    ["printf 'cd lib\\ngit push\\n' | sh", 'git push'],
    ["cat <<'EOF' | sh\ngit push\nEOF", 'git push'],
    ["sh -s <<'EOF'\ngit push\nEOF", 'git push'],
    ['echo push origin | xargs git', 'git push origin'],
    ["alias x='git push'", 'git push'],
    ['sh -c "cd $DIR && git push"', 'git push'],
    ['bash <(curl -s a)', '…'],
    ['source <(curl -s a)', '…'],
    ['curl -s a | sh', '…'],
    ['bash < <(curl -s a)', '…'],
    ['{git,push}', '…'],
    ['/usr/bin/gi? push', '… push'],
  ])('are those of %s', (text, command) => {
    expect(shown(text)).toContain(command);
  });

  it.each([
    'command -v git push',
    'bash script.sh',
    'bash "$SCRIPT"',
    './run.sh',
    'sh < script.sh',
    'sh',
    '[ -n "$A" ]',
    'test "$A" = b',
    'python3 -c "$CODE"',
    "trap - EXIT; trap '' INT",
    'a=$B; export C="$D"',
  ])('hide nothing in %s', (text) => {
    expect(shown(text).filter((one) => one.startsWith('…'))).toEqual([]);
  });

  it('are read from the input that a shell reads', () => {
    expect(shown('sh', { kind: 'text', text: 'git push' })).toContain('git push');
    expect(shown('cat; sh', { kind: 'unknown' })).toContain('…');
    expect(shown('sh -c "cat"', { kind: 'unknown' })).not.toContain('…');
  });

  it('never pass for known words by a character that stands for a hole', () => {
    expect(shown('git\uE000 push')).toEqual(['git… push']);
    expect(shown("'\uE000'")).toEqual(['…']);
  });
});
