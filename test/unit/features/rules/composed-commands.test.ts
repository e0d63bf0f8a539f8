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
];

/** They take a text. */
const OF_TEXTS: readonly Around[] = [
  (inner) => `sh -c ${quoted(inner)}`,
  (inner) => `bash -euc ${quoted(inner)} name`,
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
