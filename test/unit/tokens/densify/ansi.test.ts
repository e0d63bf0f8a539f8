import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { densify, plainLines } from '#src/tokens/densify/densify.js';
import { output } from './outputs.ts';

const ESC = '\u001b';
const styles = (source: string): string => densify(source, ['ansi']).text;

describe('the step ansi', () => {
  it.each([
    ['colours', `${ESC}[1;31merror${ESC}[0m: src/a.ts:12:3`, 'error: src/a.ts:12:3'],
    ['colours in full', `${ESC}[38;2;1;2;3ma${ESC}[38:2::1:2:3mb${ESC}[m`, 'ab'],
    ['a colour begun with one character', '\u009b31merror\u009b0m', 'error'],
    ['a title', `${ESC}]0;npm install\u0007ok`, 'ok'],
    ['marks of a shell', `${ESC}]133;A${ESC}\\$ ls`, '$ ls'],
    ['a hidden cursor and pasting', `${ESC}[?25l${ESC}[?1;2004hok${ESC}[?25h`, 'ok'],
    ['the usual character set', `ok${ESC}(B${ESC}[m`, 'ok'],
    ['keypad modes', `${ESC}=ok${ESC}>`, 'ok'],
    ['erasing where there is no text, as grep does', `${ESC}[35m${ESC}[Ka.ts${ESC}[m${ESC}[K:${ESC}[0K3`, 'a.ts:3'],
    [
      'a link whose text is its target',
      `${ESC}]8;id=1;http://x/${ESC}\\${ESC}[1mhttp://x/${ESC}[0m${ESC}]8;;${ESC}\\`,
      'http://x/',
    ],
    ['a file link whose text is its path', `${ESC}]8;;file://box/home/a${ESC}\\/home/a${ESC}]8;;${ESC}\\`, '/home/a'],
  ])('removes %s', (_name, source, text) => {
    expect(styles(source)).toBe(text);
  });

  it.each([
    ['another screen', `${ESC}[?1049hok`],
    ['line drawing', `${ESC}(0lqqk${ESC}(B`],
    ['moving up', `a\n${ESC}[1Ab`],
    ['erasing after a carriage return', `abc\rx${ESC}[K`],
    ['erasing after a backspace', `abc\b\b${ESC}[K`],
    ['erasing after a cursor put back', `abc${ESC}[1G${ESC}[K`],
    ['erasing on a line that the cursor moved to', `abc\n${ESC}[1Ax${ESC}[K`],
    ['erasing up to the cursor', `abc${ESC}[1K`],
    ['a link to elsewhere', `${ESC}]8;;http://x/${ESC}\\here${ESC}]8;;${ESC}\\`],
    ['a link that is never closed', `${ESC}]8;;http://x/${ESC}\\http://x/`],
    ['the clipboard', `${ESC}]52;c;aGk=\u0007`],
    ['a title that is cut off', `${ESC}]0;npm`],
    ['text that could complete a broken sequence', `${ESC}[3${ESC}[0m1m`],
    ['a lone escape before a sequence', `${ESC}${ESC}[0m[31m`],
    ['a wrongly decoded letter', 'â\u0080\u009bmore'],
  ])('leaves %s unchanged', (_name, source) => {
    expect(densify(source, ['ansi'])).toMatchObject({ text: source, steps: [] });
  });

  it('continues with the line after a broken sequence', () => {
    expect(styles(`${ESC}[3${ESC}[0m\n${ESC}[1mok${ESC}[0m`)).toBe(`${ESC}[3${ESC}[0m\nok`);
  });

  it('shows the output of git, cargo, tsc and grep as they print it without colours', () => {
    expect(styles(output('git-diff-colour.txt'))).toBe(output('git-diff.txt'));
    expect(styles(output('tsc-pretty.txt'))).toContain(
      "src/bad.ts:2:25 - error TS2307: Cannot find module './mod1/file9.js'",
    );
    expect(styles(output('cargo-build-colour.txt'))).toContain(
      'error[E0308]: mismatched types\n --> src/main.rs:3:18\n',
    );
    expect(styles(output('grep-colour.txt'))).toContain(
      'src/mod12/file2.ts:1:export function f12_2(a: number): string {\n',
    );
  });

  it('removes exactly the colours, wherever they are', () => {
    const part = fc.constantFrom('a', '1', ';', ' ', '\n', '[SECRET_12]', `${ESC}[0m`, `${ESC}[1;38;5;3m`);
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        expect(styles(parts.join(''))).toBe(parts.filter((text) => !text.startsWith(ESC)).join(''));
      }),
    );
  });
});

describe('plain lines', () => {
  it.each([
    ['links', `see ${ESC}]8;;http://x/${ESC}\\here${ESC}]8;;${ESC}\\`, 'see here'],
    ['movement', `a\n${ESC}[1A${ESC}[2Kb`, 'a\nb'],
    ['columns', `name${ESC}[20Gvalue`, 'name value'],
    ['images', `${ESC}Pq#0~~${ESC}\\done`, 'done'],
    ['progress', 'a 1%\ra 2%\r\nok', 'a 2%\r\nok'],
    ['a broken sequence', `a${ESC}[3`, 'a'],
  ])('hold no %s', (_name, source, text) => {
    expect(plainLines(source)).toBe(text);
  });

  it('are the text itself if nothing can be left out', () => {
    const source = 'a  \n{ "b": 1 }\nc\nc\nc\n';
    expect(plainLines(source)).toBe(source);
  });
});
