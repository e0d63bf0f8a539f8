import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claudeRules } from '#src/features/rules/claude-rules.js';
import { JudgeThread } from '#src/features/rules/judge-thread.js';
import type { JudgedText } from '#src/features/rules/judgement.js';
import type { RuleList } from '#src/features/rules/rule.js';

const rules = claudeRules({ permissions: { deny: ['Bash(git push *)'] } }, { file: '/rules.json', isOfPerson: true });
const LISTS: readonly RuleList[] = [{ client: 'claude', order: 'strictest', rules }];

const judged = (text: string): JudgedText => ({ text, input: { kind: 'nothing' }, isSeen: false });

let thread: JudgeThread;
beforeEach(() => {
  thread = new JudgeThread();
});
afterEach(() => thread.stop());

describe('the thread that reads commands', () => {
  it.each([
    ['expansions', '"$('.repeat(200_000)],
    ['groups', `${'('.repeat(200_000)}git push${')'.repeat(200_000)}`],
    ['backquotes', '`'.repeat(200_001)],
    ['conditions', 'if '.repeat(200_000)],
    ['here-documents', `${'cat <<A '.repeat(60_000)}\n`],
    ['more characters than are read', 'x'.repeat(1024 * 1024 + 1)],
    ['arithmetic', `${'$(('.repeat(1_000)}git push${') )'.repeat(1_000)}`],
  ])('comes back from a text of many %s without a wrong answer, and reads the next', async (_, text) => {
    const first = await thread.judge(judged(text), LISTS);
    // Unreadable, or not passed.
    if (first !== null && text.includes('git push')) expect(first.denied ?? first.unseen).not.toBeNull();
    expect(await thread.judge(judged("sh -c 'git push'"), LISTS)).toMatchObject({
      denied: { rule: 'Bash(git push *)', file: '/rules.json', command: 'git push' },
    });
  });

  it('calls a text unreadable that does not end where it should, or is larger than it may be', async () => {
    expect(await thread.judge(judged('"$('.repeat(200_000)), LISTS)).toBeNull();
    expect(await thread.judge(judged('x'.repeat(1024 * 1024 + 1)), LISTS)).toBeNull();
    expect(await thread.judge(judged('echo "'), LISTS)).toMatchObject({ unseen: { rule: 'Bash(git push *)' } });
  });

  it('answers texts that come together each for itself', async () => {
    const texts = ['git push', 'git status', 'sh -c "git push"', 'ls'];
    const found = await Promise.all(texts.map((text) => thread.judge(judged(text), LISTS)));
    expect(found.map((one) => one?.denied?.command ?? null)).toEqual(['git push', null, 'git push', null]);
  });
});
