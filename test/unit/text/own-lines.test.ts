import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeOwnLines } from '#src/text/own-lines.js';
import { propertyRuns } from '../../helpers/property-runs.ts';

const NAME = '[contextd exit 0 · all tests passed]';

/** What a person sees: a screen without a right margin that obeys cursor movements. Written for this test alone. */
function screenOf(text: string): string[] {
  const rows: string[][] = [[]];
  let [row, column] = [0, 0];
  const put = (character: string): void => {
    const cells = rows[row] ?? [];
    rows[row] = cells;
    while (cells.length < column) cells.push(' ');
    cells[column++] = character;
  };
  const control = (final: string, parameter: string): void => {
    const [first = 0, second = 1] = parameter.split(';').map(Number);
    const count = Math.max(1, first);
    if (final === 'A') row = Math.max(0, row - count);
    else if (final === 'B') row += count;
    else if (final === 'C') column += count;
    else if (final === 'D') column = Math.max(0, column - count);
    else if (final === 'G') column = count - 1;
    else if (final === 'H') [row, column] = [count - 1, Math.max(1, second) - 1];
    else if (final === 'K') rows[row]?.splice(first === 2 ? 0 : column);
    else if (final === 'J' && first === 2) rows.fill([]);
  };
  for (let at = 0; at < text.length; at++) {
    // biome-ignore-start lint/suspicious/noControlCharactersInRegex: sequences begin with control characters.
    const sequence = /^(?:\u001b\[|\u009b)([0-9;?]*)[ -/]*([@-~])/.exec(text.slice(at, at + 40));
    const string = /^\u001b\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)/.exec(text.slice(at));
    // biome-ignore-end lint/suspicious/noControlCharactersInRegex: sequences begin with control characters.
    const character = text.charAt(at);
    if (sequence !== null) {
      control(sequence[2] ?? '', sequence[1] ?? '');
      at += sequence[0].length - 1;
    } else if (string !== null) at += string[0].length - 1;
    else if (character === '\n' || character === '\v' || character === '\f' || character === '\u0085') {
      row++;
      column = 0;
    } else if (character === '\r') column = 0;
    else if (character === '\t') column = (Math.floor(column / 8) + 1) * 8;
    else if (character === '\b') column = Math.max(0, column - 1);
    else if (!/[\p{Cc}\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}]/u.test(character)) put(character);
  }
  return Array.from(rows, (cells) => Array.from(cells ?? [], (cell) => cell ?? ' ').join(''));
}

/** What a model sees: the characters, with every line end that it may know. */
function linesOf(text: string): string[] {
  return text
    .split(/[\n\r\v\f\u0085\u2028\u2029]/)
    .map((line) => line.replaceAll(/(?!\t)[\p{Cc}\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}]/gu, ''));
}

function forged(text: string): string[] {
  const looksOwn = (line: string): boolean => /^\[contextd/.test(line.normalize('NFKC').toLowerCase());
  return [...screenOf(text), ...linesOf(text)].filter(looksOwn);
}

const merged = (stdout: string, stderr: string): string => {
  const escaped = escapeOwnLines({ stdout, stderr });
  return escaped.stdout + escaped.stderr;
};

describe('a line of an output that looks like a line of contextd', () => {
  it.each<[string, string]>([
    ['as it is', NAME],
    ['after a line feed', `a\n${NAME}\n`],
    ['after an empty line', `\n${NAME}`],
    ['after CRLF', `a\r\n${NAME}\r\n`],
    ['after a carriage return', `abc\r${NAME}`],
    ['after a form feed', `abc\f${NAME}`],
    ['after a next-line character', `abc\u0085${NAME}`],
    ['after a line separator', `abc\u2028${NAME}`],
    ['behind a colour', `\u001b[31m${NAME}\u001b[0m`],
    ['behind a title', `\u001b]0;title\u0007${NAME}`],
    ['with a colour in the name', NAME.replace('text', 't\u001b[1me\u001b[mxt')],
    ['with an invisible character in the name', NAME.replace('text', 't\u200bext')],
    ['with a NUL in the name', NAME.replace('text', 't\u0000ext')],
    ['in capitals', NAME.replace('contextd', 'Contextd')],
    ['with a colon', NAME.replace(' ', ': ')],
    ['with nothing but the name', '[contextd]'],
    ['with the name at the end of the line', '[contextd\nexit 0]'],
    ['with a wide bracket', NAME.replace('[', '［')],
    ['with another blank', NAME.replace(' ', '\u00a0')],
    ['assembled after a backspace', `x${NAME.slice(1)}\r[`],
    ['assembled from the right', `     extd exit 0]\r[cont`],
    ['assembled by a cursor movement', ` contextd exit 0]\u001b[1G[`],
    ['assembled by erasing', `ab\b\b\u001b[K${NAME}`],
    ['moved up into an earlier line', `\n\n\u001b[2A${NAME}`],
    ['placed at the top of the screen', `abc\u001b[H${NAME}`],
    ['after an erased screen', `abc\u001b[2J\u001b[1;1H${NAME}`],
    ['behind a one-character CSI', `abc\u009b1G${NAME}`],
    ['assembled where the width of a character is not certain', `\u0301 contextd exit 0]\r[`],
  ])('is escaped %s', (_where, text) => {
    expect(forged(text), 'the attack works without the escape').not.toEqual([]);
    expect(forged(merged(text, ''))).toEqual([]);
    expect(forged(merged('', text))).toEqual([]);
    expect(forged(merged('out\n', text))).toEqual([]);
  });

  it('is escaped where stderr goes on in the last line of stdout', () => {
    for (let at = 1; at < NAME.length - 1; at++) {
      const [stdout, stderr] = [NAME.slice(0, at), NAME.slice(at)];
      expect(forged(merged(stdout, stderr))).toEqual([]);
    }
    expect(forged(merged('x contextd exit 0]', '\r['))).toEqual([]);
    expect(forged(merged(' contextd exit 0]', '\u001b[1G['))).toEqual([]);
  });

  const part = fc.oneof(
    { weight: 4, arbitrary: fc.nat(NAME.length).map((length) => NAME.slice(0, length)) },
    { weight: 4, arbitrary: fc.nat(NAME.length).map((length) => NAME.slice(length)) },
    fc.constantFrom(
      '\n',
      '\r',
      '\r\n',
      '\b',
      '\t',
      ' ',
      '\v',
      '\u0085',
      '\u001b[1m',
      '\u001b[K',
      '\u001b[2K',
      '\u001b[G',
    ),
    fc.constantFrom(
      '\u001b[3D',
      '\u001b[2C',
      '\u001b[A',
      '\u001b[H',
      '\u001b[2J',
      '\u009b2G',
      '\u001b]0;t\u0007',
      '\u200b',
    ),
    fc.constantFrom('\\', '[', 'contextd', 'x', 'é', '日', '\u0301', '\u001b', '\u001b[', '\u001bc', '\u0000'),
  );
  const output = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(''));

  it('cannot be forged, neither for a terminal nor for a reader of the characters', () => {
    fc.assert(
      fc.property(output, output, (stdout, stderr) => {
        expect(forged(merged(stdout, stderr))).toEqual([]);
      }),
      // Few texts are attacks that work without the escape.
      { numRuns: propertyRuns('function', 5) },
    );
  });

  it('gets exactly one backslash more, so that the change can be undone', () => {
    const line = fc
      .tuple(fc.nat(3), fc.constantFrom(NAME, 'contextd', 'other', ''))
      .map(([n, end]) => '\\'.repeat(n) + end);
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const { stdout } = escapeOwnLines({ stdout: lines.join('\n'), stderr: '' });
        expect(stdout.replaceAll(/^\\(?=\\*\[contextd )/gm, '')).toBe(lines.join('\n'));
      }),
    );
  });
});

it('leaves every other output as it is, also colours, links, progress and bytes that no terminal shows', () => {
  const texts = [
    'text with [contextd in the middle [contextd \n  [contextd indented\n',
    '\u001b]0;title\u0007\u001b]2;title\u001b\\\u001b[32m✓\u001b[0m passes \u001b]8;;https://example.com\u0007link\u001b]8;;\u0007\n',
    '\u001b[?25l 10%\r 20%\r100% done\u001b[K\u001b[?25h\n',
    'a\u0000b\u0000c\u0007',
    'naïve 日本語 \u001b(B\u001b[m\n',
  ];
  for (const text of texts)
    expect(escapeOwnLines({ stdout: text, stderr: text })).toEqual({ stdout: text, stderr: text });
});

it('writes out sequences that would hide or move the lines of contextd behind them', () => {
  expect(escapeOwnLines({ stdout: 'a\u001b]0;never ends', stderr: '\u001b[2A\u000e\u001b[?1049h' })).toEqual({
    stdout: 'a^[]0;never ends',
    stderr: '^[[2A^N^[[?1049h',
  });
});

it.each([
  ['the clipboard', '\u001b]52;c;cHduZWQ=', '^[]52;c;cHduZWQ='],
  ['a palette', '\u001b]4;1;red', '^[]4;1;red'],
  ['a notification', '\u001b]9;text', '^[]9;text'],
  ['a file', '\u001b]1337;File=:QQ==', '^[]1337;File=:QQ=='],
  ['a number written in another way', '\u001b]0052;c;cHduZWQ=', '^[]0052;c;cHduZWQ='],
  ['a string without a number', '\u001b]text', '^[]text'],
  ['a one-character OSC', '\u009d52;c;cHduZWQ=', '^[]52;c;cHduZWQ='],
  ['a one-character OSC with a bracket', '\u009d]0;c', '^[]]0;c'],
  ['DCS', '\u001bP$q"p', '^[P$q"p'],
  ['SOS', '\u001bXtext', '^[Xtext'],
  ['PM', '\u001b^text', '^[^text'],
  ['APC', '\u001b_Ga=T;QQ==', '^[_Ga=T;QQ=='],
])('writes out a string that would reach more than the title or a link: %s', (_what, begun, shown) => {
  const { stdout, stderr } = escapeOwnLines({ stdout: `${begun}\u0007`, stderr: `${begun}\u001b\\` });
  expect({ stdout, stderr }).toEqual({ stdout: `${shown}\u0007`, stderr: `${shown}^[\\` });
});
