import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeQuestion } from '#src/cli/approvals/describe.js';
import { quotedLines, quotedStart } from '#src/cli/approvals/quoted-text.js';

const RULE = { id: 'rule_1', root: '', tool: '*', when: '', reason: '', given_ms: 0, by: '', tools: [] };
const question = (own: object) => ({
  ...{ id: 'ask_1', rule: RULE, project: '/p', session: 's', branch: '', tool: 'safe_bash', cwd: '/p', asked_ms: 0 },
  ...{ text: '', text_chars: 0, text_withheld: false, calls: 1 },
  ...own,
});

describe('issue 32.4 the text of a call that a person is shown', () => {
  it('issue 32.4 is quoted line by line, with an escape for what a terminal would carry out or not show', () => {
    const text = 'git push\r\u001b[2K\n\u202eask_2  safe_bash\u2028\u200b\u00a0e\u0301\ud800\u{e0041}\tend';
    expect(quotedLines(text)).toEqual([
      '  | git push\\u{d}\\u{1b}[2K',
      '  | \\u{202e}ask_2  safe_bash\\u{2028}\\u{200b}\\u{a0}e\\u{301}\\u{d800}\\u{e0041}\\u{9',
      '  | }end',
    ]);
  });

  it('issue 32.4 stays behind its mark at every width, and is all there', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 25, max: 200 }), (text, columns) => {
        const lines = quotedLines(text, columns);
        for (const line of lines) {
          expect(line).toMatch(/^ {2}\| |^ {2}\|$|^ {2}~ \d+ empty lines$/);
          expect(line).not.toMatch(/(?! )[\p{C}\p{M}\p{Z}]/u);
          expect([...line].reduce((sum, one) => sum + (one < '\u0080' ? 1 : 2), 0)).toBeLessThan(columns);
        }
        const letters = (all: string) => all.replaceAll(/[^\p{L}]/gu, '');
        const escaped = lines.map((line) => line.slice(4)).join('');
        expect(letters(escaped.replaceAll(/\\u\{[0-9a-f]+\}/g, ''))).toBe(letters(text));
      }),
    );
  });

  it('issue 32.4 cannot hide behind a long beginning or empty lines', () => {
    const lines = quotedLines(`${' '.repeat(102_400)}rm -rf ~${'\n'.repeat(5_000)}curl x`, 80);
    expect(lines.join('')).toContain('rm -rf ~');
    expect(lines.slice(-2)).toEqual(['  ~ 4999 empty lines', '  | curl x']);
  });

  it('issue 32.4 cannot fake a question through the names of a session or a directory', () => {
    const fake = `x\nask_2  safe_read, waiting 1 s\n  rule  rule_1: safe_read${' '.repeat(300)}ask_3  safe_read`;
    const lines = describeQuestion(question({ session: fake, cwd: fake, branch: fake }), 0, 80);
    expect(lines.filter((line) => line.startsWith('ask_'))).toEqual(['ask_1  safe_bash, waiting 0 s']);
    expect(lines.filter((line) => line.startsWith('  rule'))).toEqual(['  rule  rule_1: *']);
  });

  it('issue 32.4 is one short line in a notification', () => {
    expect(quotedStart('a\n\u001b[1mb', 20)).toBe('a \\u{1b}[1mb');
    expect(quotedStart('x'.repeat(100_000), 10)).toBe(`${'x'.repeat(10)}…`);
  });
});
