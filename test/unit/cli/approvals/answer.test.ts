import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeAnswer } from '#src/cli/approvals/answer.js';

type Answered = Parameters<typeof describeAnswer>[0];

describe('what `ctxd approve` says about an answer', () => {
  it('issue 36 counts the calls that it settled, and says nothing about calls if there were none', () => {
    const answers = fc.constantFrom('once', 'always', 'never', '1h');
    fc.assert(
      fc.property(fc.nat(300), answers, (calls, answer) => {
        const answered = {
          rule: { id: 'rule_1' },
          project: '/p',
          calls,
          expires_ms: answer === '1h' ? 1 : 0,
        } as Answered;
        const said = describeAnswer(answered, answer);
        expect(/\d+ waiting calls?/.test(said)).toBe(calls > 0);
        expect(said).not.toMatch(/^\.|\b0 /);
        if (answer !== 'once') expect(said).toContain(answer === 'never' ? 'Refused in /p' : 'Allowed');
      }),
    );
  });
});
