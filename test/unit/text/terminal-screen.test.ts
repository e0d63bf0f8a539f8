import { describe, expect, it } from 'vitest';
import { TerminalScreen } from '#src/text/terminal-screen.js';

const SIZE = { columns: 20, rows: 5 };

/** What a terminal of 20 columns and 5 rows shows in the end, with what scrolled off. */
async function shown(...writes: string[]): Promise<string> {
  let text = '';
  const screen = new TerminalScreen(SIZE, (more) => {
    text += more;
  });
  await Promise.all(writes.map((write) => screen.write(Buffer.from(write))));
  return text + screen.screen();
}

describe('the text of a terminal', () => {
  it('has no codes, and what was overwritten only as it was in the end', async () => {
    expect(await shown('\x1b[31mred\x1b[0m\r\n10%\r20%\r\n\x1b]0;title\x07end')).toBe('red\n20%\nend');
    expect(await shown('one\r\ntwo\r\n\x1b[2A\x1b[2KONE\x1b[2B\r\n')).toBe('ONE\ntwo\n');
  });

  it('keeps blanks that the program wrote, such as those after a prompt', async () => {
    expect(await shown('> ')).toBe('> ');
  });

  it('joins the rows of a line that is wider than the terminal, on the screen and above it', async () => {
    const wide = 'abcdefghij '.repeat(8).trim();
    expect(await shown(`${wide}\r\nend\r\n`)).toBe(`${wide}\nend\n`);
    expect(await shown(`${wide}\r\n1\r\n2\r\n3\r\n4\r\n5\r\n`)).toBe(`${wide}\n1\n2\n3\n4\n5\n`);
  });

  it('keeps every line of an output that is longer than the memory of the emulator', async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `${i} ${'x'.repeat(i % 30)}`);
    expect(await shown(lines.map((line) => `${line}\r\n`).join(''))).toBe(`${lines.join('\n')}\n`);
    expect(await shown(...lines.map((line) => `${line}\r\n`))).toBe(`${lines.join('\n')}\n`);
  });

  it('keeps what the program cleared', async () => {
    expect(await shown('before\r\n\x1b[2J\x1b[Hafter\r\n')).toMatch(/^before\n+after\n$/);
  });

  it('shows a full-screen program as it is now, after what was there before it', async () => {
    expect(await shown('shell\r\n\x1b[?1049h\x1b[2J\x1b[Htop line\x1b[3;1Hthird')).toBe('shell\ntop line\n\nthird\n');
    expect(await shown('shell\r\n\x1b[?1049h\x1b[2J\x1b[Htop line\x1b[?1049lback\r\n')).toBe('shell\nback\n');
  });

  it.each([...'STLM@PXIZb', ' @', ' A', "'}", "'~"])(
    'does not repeat CSI %s two thousand million times',
    async (final) => {
      expect(await shown(`one\x1b[2147483647${final}\r\nend`)).toBe('one\nend');
    },
  );

  it('decodes a character that two writes divide', async () => {
    const screen = new TerminalScreen(SIZE, () => {});
    const bytes = Buffer.from('café');
    await screen.write(bytes.subarray(0, 4));
    await screen.write(bytes.subarray(4));
    expect(screen.screen()).toBe('café');
  });
});
