import { describe, expect, it } from 'vitest';
import { densify } from '#src/tokens/densify/densify.js';
import { output } from './outputs.ts';

const trimmed = (source: string): string => densify(source, ['trailing_spaces']).text;

describe('the step trailing_spaces', () => {
  it.each([
    ['the padding of a table', 'NAME   AGE    \nfoo    1      \n', 'NAME   AGE\nfoo    1\n'],
    ['a single blank', 'a \nb\t\nc', 'a\nb\nc'],
    ['lines of only blanks', 'a\n    \n\t\nb\n', 'a\n\n\nb\n'],
    ['blanks before CRLF', 'a   \r\n', 'a\r\n'],
    ['padding before a patch', 'message   \ndiff --git a/x b/x\n ok   \n', 'message\ndiff --git a/x b/x\n ok   \n'],
  ])('drops %s', (_name, source, text) => {
    expect(trimmed(source)).toBe(text);
  });

  it.each([
    ['the mark above a signature', '-- \n'],
    ['a hard break of Markdown', 'first line  \nsecond line\n'],
    ['a patch', 'diff --git a/x b/x\n \n+foo   \n'],
    ['hunks', '@@ -1,2 +1,2 @@\n \n-foo   \n'],
    ['a painted patch', '\u001b[1mdiff --git a/x b/x\u001b[m\n foo   \n'],
    ['a match with its file and line', 'src/a.ts:12:foo   \n'],
    ['a match with its line', '12:foo   \n'],
    ['a numbered line', '     3\tfoo   \n'],
    ['an empty field at the end of a row', 'a\tb\t\t\n'],
    ['a backslash that continues nothing', 'cc \\   \n'],
    ['a line end that overwrites text', 'abc\r   \n'],
    ['a line with a terminal sequence', '\u001b[1mabc   \n'],
    ['a prompt', 'Go on?   '],
  ])('keeps the blanks of %s', (_name, source) => {
    expect(densify(source, ['trailing_spaces'])).toMatchObject({ text: source, steps: [] });
  });

  it('keeps every byte of patches and matches', () => {
    for (const name of ['git-diff.txt', 'git-format-patch.txt', 'grep-trailing.txt', 'grep-rn.txt']) {
      expect(trimmed(output(name))).toBe(output(name));
    }
    expect(output('grep-trailing.txt')).toMatch(/ {3}\n/);
    expect(output('git-format-patch.txt')).toContain('\n-- \n');
  });

  it('drops the padding of docker images', () => {
    expect(output('docker-images.txt')).toMatch(/ {3}\n/);
    expect(trimmed(output('docker-images.txt'))).not.toMatch(/ \n/);
  });
});
