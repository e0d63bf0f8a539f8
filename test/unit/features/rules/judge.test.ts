import { describe, expect, it } from 'vitest';
import { claudeRules } from '#src/features/rules/claude-rules.js';
import { judgeText } from '#src/features/rules/judge.js';
import { openCodeRules } from '#src/features/rules/opencode-rules.js';
import type { RuleList } from '#src/features/rules/rule.js';
import { CLAUDE_CASES, CLAUDE_PERMISSIONS } from '../../../fixtures/command-rules/claude-cases.ts';
import { OPENCODE_BASH, OPENCODE_CASES } from '../../../fixtures/command-rules/opencode-cases.ts';
import type { RuleCase } from '../../../fixtures/command-rules/rule-case.ts';

const OWN = { file: '/home/ann/rules.json', isOfPerson: true };
const CLAUDE: RuleList = {
  client: 'claude',
  order: 'strictest',
  rules: claudeRules({ permissions: CLAUDE_PERMISSIONS }, OWN),
};
const OPENCODE: RuleList = {
  client: 'opencode',
  order: 'last',
  rules: openCodeRules({ permission: { bash: OPENCODE_BASH } }, OWN),
};

function verdictOf(command: string, lists: readonly RuleList[]): Pick<RuleCase, 'verdict' | 'rule'> {
  const { denied, asked, unseen } = judgeText({ text: command, input: { kind: 'nothing' }, isSeen: false }, lists);
  if (denied !== null) return { verdict: 'deny', rule: denied.rule };
  const [first] = asked;
  if (first !== undefined) return { verdict: 'ask', rule: first.rule };
  return { verdict: unseen === null ? 'pass' : 'unseen' };
}

const stated = ({ command, verdict, rule }: RuleCase) => ({
  command,
  verdict,
  ...(rule === undefined ? {} : { rule }),
});

describe('the rules of a client are applied to the commands inside', () => {
  it('as the table of Claude Code states', () => {
    expect(CLAUDE_CASES.map(({ command }) => ({ command, ...verdictOf(command, [CLAUDE]) }))).toEqual(
      CLAUDE_CASES.map(stated),
    );
  });

  it('and what the client itself saw and asked about is not asked again, but still denied', () => {
    const seen = (text: string, list: RuleList) =>
      judgeText({ text, input: { kind: 'nothing' }, isSeen: true }, [list]);
    expect(seen('cd lib && timeout 5 git commit', CLAUDE).asked).toEqual([]);
    expect(seen("sh -c 'git commit'", CLAUDE).asked).toMatchObject([{ rule: 'Bash(git commit *)' }]);
    expect(seen('git push', CLAUDE).denied).toMatchObject({ rule: 'Bash(git push *)' });
    expect(seen('true && git commit', OPENCODE).asked).toEqual([]);
    // OpenCode does not look behind `timeout`.
    expect(seen('timeout 5 git commit', OPENCODE).asked).toMatchObject([{ rule: 'git commit *' }]);
  });

  it('as the table of OpenCode states', () => {
    expect(OPENCODE_CASES.map(({ command }) => ({ command, ...verdictOf(command, [OPENCODE]) }))).toEqual(
      OPENCODE_CASES.map(stated),
    );
  });
});
