import { describe, expect, it } from 'vitest';
import { densify } from '#src/tokens/densify/densify.js';
import { output } from './outputs.ts';

const ESC = '\u001b';
const collapsed = (source: string): string => densify(source, ['progress']).text;

describe('the step progress', () => {
  it.each([
    [
      'counters',
      'Counting:  50% (1/2)\rCounting: 100% (2/2)\rCounting: 100% (2/2), done.\nok\n',
      'Counting: 100% (2/2), done.\nok\n',
    ],
    ['CRLF behind them', 'Reading... 0%\r\rReading... 100%\r\rReading... Done\r\n', 'Reading... Done\r\n'],
    ['text that is cleared with blanks', '0% [Working]\r            \rHit:1 http://x\n', 'Hit:1 http://x\n'],
    ['text that is erased', `[1/2] Building a.o${ESC}[K\r[2/2] Linking app${ESC}[K\n`, '[2/2] Linking app\n'],
    ['spinners', '|\b/\b-\b\\\bdone\n', 'done\n'],
    ['a spinner before its result', '⠙\r⠹\rInstalled 3 packages\n', 'Installed 3 packages\n'],
    ['bars without a word', '  0 10\r 50 20\r100 30\n', '100 30\n'],
    ['units that change', '1.0 kB of 9 MB\r1.2 MB of 9 MB\n', '1.2 MB of 9 MB\n'],
    ['a secret in every state', 'key [SECRET_12] 50%\rkey [SECRET_12] 60%\n', 'key [SECRET_12] 60%\n'],
    ['bold print', 'N\bNA\bAM\bME\bE _\bx\n', 'NAME x\n'],
    ['a prompt redrawn', `⠙ wait${ESC}[1G${ESC}[0K⠹ wait${ESC}[1G${ESC}[0Kadded 5\n`, 'added 5\n'],
    ['erasing to the end of the screen', `wait 1${ESC}[1G${ESC}[Jdone\n`, 'done\n'],
    ['erasing up to the cursor', `abcdef${ESC}[3D${ESC}[1K\n`, '    ef\n'],
    ['a cursor moved on', `abcdefghi\r${ESC}[3CX\n`, 'abcXefghi\n'],
    ['a text without line ends', 'fetching 10%\rfetching 20%\r', 'fetching 20%\r'],
  ])('collapses %s', (_name, source, text) => {
    expect(collapsed(source)).toBe(text);
  });

  it.each([
    ['a shorter text leaves the rest', 'step one of three 1\rstep 2\n', 'step 2ne of three 1\n'],
    ['half of a wide character is a blank', 'go 漢字漢字漢字 100%\rgo x 12%\n', 'go x 12% 字漢字 100%\n'],
    ['the other half of a wide character is a blank too', 'at 1% 漢字漢字\r漢字\b\b\bab 2%\n', ' ab 2%漢字漢字\n'],
    ['a wide character over a narrow one', 'abcdefgh 1%\rab漢 2%\n', 'ab漢 2%h 1%\n'],
  ])('overwrites: %s', (_name, source, text) => {
    expect(collapsed(source)).toBe(text);
  });

  it.each([
    ['CRLF', 'a\r\nb\r\n'],
    ['old line ends', 'first\rsecond\rthird'],
    ['old line ends before numbers', '1,2,3\r4,5,6\r7,8,9'],
    ['a log with old line ends', 'INFO start 1\rINFO stop 2\r'],
    ['a ruled heading with old line ends', 'Title\r=====\rText'],
    ['a carriage return in a field', '"Main Street\rSpringfield",1\n'],
    ['a result that is about something else', 'Working...\rSaved to /home/dev/out.txt\n'],
    ['movement to other lines', `a\n${ESC}[1A${ESC}[2K\rb 1%\n`],
    ['erasing of lines below, after movement', `a\n${ESC}[1A\nabc${ESC}[1G${ESC}[J\n`],
    ['styles, if they are kept', `${ESC}[32mgo 1%${ESC}[0m\r${ESC}[32mgo 2%${ESC}[0m\n`],
    ['tabs, which terminals place', '\tgo 1%\r\tgo 2%\n'],
    ['characters whose width is not known', 'go e\u0301 1%\rgo 2%\n'],
    ['erasing after kept text', `get 12345 1\rmake 2\rmake${ESC}[K\n`],
    ['a cursor moved over kept text', `get 12345\rmake 2\r${ESC}[8CX${ESC}[3D\n`],
    ['a cursor put after kept text', `get 12345\rmake 2\r${ESC}[9GX${ESC}[3D\n`],
    ['a secret that is partly overwritten', 'key [SECRET_12] 50%\rkey a 60%\n'],
    ['a control with a sign', `abc${ESC}[1 K\n`],
    ['a line that would become longer', `${ESC}[40Gx\n`],
    ['very long lines', `${'x'.repeat(5000)} 1%\rgo 2%\n`],
  ])('leaves %s', (_name, source) => {
    expect(densify(source, ['progress'])).toMatchObject({ text: source, steps: [] });
  });

  it('keeps a state that the next one does not replace, and collapses the states before and after', () => {
    expect(collapsed('get 1%\rget 2%\rmake a\rmake ab\n')).toBe('get 2%\rmake ab\n');
  });

  it('drops a kept state if the whole line is erased later', () => {
    expect(collapsed(`get 1\rmake 2\r${ESC}[Kdone\n`)).toBe('done\n');
    expect(collapsed(`get 1\rget 2\rmake 2\r${ESC}[Kdone\n`)).toBe('done\n');
    expect(collapsed(`get 1\rmake 2${ESC}[2K\rdone\n`)).toBe('done\n');
  });

  it('leaves a line whose collapsed form could be collapsed again', () => {
    const source = 'get 1%\rmake\rmake 2%\n';
    expect(collapsed(source)).toBe(source);
  });

  it('shows the final state of what git, cargo, npm, apt-get, curl and wget draw', () => {
    expect(densify(output('git-clone-terminal.txt'), ['ansi', 'progress']).text.split('\r\n').slice(0, 3)).toEqual([
      "Cloning into 'copy'...",
      'remote: Enumerating objects: 226, done.',
      'remote: Counting objects: 100% (226/226), done.',
    ]);
    expect(densify(output('cargo-build-terminal.txt'), ['ansi', 'progress']).text).not.toContain('Building');
    expect(densify(output('npm-install-terminal.txt'), ['ansi', 'progress']).text).toContain(
      '\r\nadded 3 packages in 2s\r\n',
    );
    expect(collapsed(output('apt-get-terminal.txt'))).not.toMatch(/Working|\r[^\n]/);
    expect(collapsed(output('curl-bar.txt'))).toMatch(/^#{72} 100\.0%\n$/);
    expect(collapsed(output('wget-terminal.txt'))).not.toContain('90%');
  });

  it('leaves the lines of docker pull, which overwrite each other', () => {
    const source = output('docker-pull-terminal.txt');
    expect(collapsed(source)).toBe(source);
  });
});
