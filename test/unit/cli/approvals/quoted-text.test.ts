import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeQuestion } from '#src/cli/approvals/describe.js';
import { quotedLines, quotedStart } from '#src/cli/approvals/quoted-text.js';

const RULE = { id: 'rule_1', root: '', tool: '*', when: '', reason: '', given_ms: 0, by: '', tools: [] };
const question = (own: object) => ({
  ...{ id: 'ask_1', rule: RULE, project: '/p', session: 's', branch: '', tool: 'safe_bash', cwd: '/p', asked_ms: 0 },
  ...{ text: '', text_chars: 0, text_withheld: false, calls: 1, hidden: [] },
  ...own,
});

/** All code points of a class, lone surrogates included. */
function codePoints(pattern: RegExp): string[] {
  return Array.from({ length: 0x110000 }, (_, point) => String.fromCodePoint(point)).filter((one) => pattern.test(one));
}

describe('issue 32.4 the text of a call that a person is shown', () => {
  it('issue 32.4 is quoted line by line, with an escape for what a terminal would carry out or not show', () => {
    const text = 'git push\r\u001b[2K\n\u202eask_2  safe_bash\u2028\u200b\u00a0e\u0301\ud800\u{e0041}\tend';
    expect(quotedLines(text)).toEqual([
      '  | git push<U+000D><U+001B>[2K',
      '  | <U+202E>ask_2  safe_bash<U+2028><U+200B><U+00A0>e<U+0301><U+D800><U+E0041><',
      '  | U+0009>end',
    ]);
  });

  it('issue 32.4 shows every character that is blank or invisible, also if a line has no other', () => {
    // Of the 900,000 that have no meaning yet or a private one, each 97th.
    const unseen = codePoints(/\p{Default_Ignorable_Code_Point}|[\p{C}\p{M}\p{Z}\u2800]/u).filter(
      (one, at) => !' \n'.includes(one) && (at % 97 === 0 || !/[\p{Cn}\p{Co}]/u.test(one)),
    );
    expect(unseen).toEqual(
      expect.arrayContaining(['\t', '\r', '\u00a0', '\u2028', '\ufeff', '\u3164', '\uffa0', '\u115f']),
    );
    const names = unseen.map((one) => `<U+${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`);
    const lines = quotedLines(unseen.join('\n'));
    const faults = names.filter((name, position) => lines[position] !== `  | ${name}`);
    expect(faults).toEqual([]);
    expect(quotedStart('\u00a0\u3164\t', 40)).toBe('<U+00A0><U+3164><U+0009>');
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
        const letters = (all: string) => all.replaceAll(/[^\p{L}]|\p{Default_Ignorable_Code_Point}/gu, '');
        const escaped = lines.map((line) => line.slice(4)).join('');
        expect(letters(escaped.replaceAll(/<U\+[0-9A-F]{4,6}>/g, ''))).toBe(letters(text));
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
    expect(quotedStart('a\n\u001b[1mb', 20)).toBe('a <U+001B>[1mb');
    expect(quotedStart('x'.repeat(100_000), 10)).toBe(`${'x'.repeat(10)}…`);
  });
});
