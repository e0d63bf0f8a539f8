import { describe, expect, it } from 'vitest';
import { judgeText } from '#src/features/rules/judge.js';
import type { RuleList } from '#src/features/rules/rule.js';

const RULES: RuleList = {
  client: 'claude',
  order: 'strictest',
  rules: ['rm *', 'git push *'].map((pattern) => ({
    action: 'deny',
    rule: `Bash(${pattern})`,
    pattern,
    file: '/home/ann/rules.json',
    isOfPerson: true,
  })),
};

function isPassed(text: string): boolean {
  const { denied, unseen } = judgeText({ text, input: { kind: 'nothing' }, isSeen: false }, [RULES]);
  return denied === null && unseen === null;
}

describe('FR-4.1: a rule covers a command in an array that a builtin is given', () => {
  it.each([
    'declare -a A=( $(rm f) )',
    'local -a a=( $(rm f) )',
    'export A=( "$(rm f)" )',
    'readonly -a Q=(<(rm f))',
    'typeset Q=( >(rm f) )',
    'declare A+=(`rm f`)',
    'declare -A A=([x]=$(rm f))',
    'declare -A A=([$(rm f)]=x)',
    'declare A=(a b) B=( "c`rm f`" )',
    "declare A=('a\nb' $(rm f\n) )",
    'f() { local a=( x $(declare -a b=( $(rm f) )) ); }; f',
  ])('%s', (text) => {
    expect(isPassed(text)).toBe(false);
  });

  it.each([
    "declare -a A=( '$(ls)' )",
    'declare -a A=( $(ls) "$(git status)" )',
    "cat <<'E'\n$(rm f)\nE",
    '[[ $x =~ ^(a|b)$ ]]',
  ])('and asks nothing about %s', (text) => {
    expect(isPassed(text)).toBe(true);
  });
});
