import { describe, expect, it } from 'vitest';
import { loadCounter } from '#src/tokens/counter.js';
import { densify } from '#src/tokens/densify/densify.js';
import { output } from './outputs.ts';
import { unfolded } from './terminal-line.ts';

const LINE = 'warning: src/a.ts:12:3 is said again and again, since nobody listens\n';
const counter = loadCounter();
const folded = (source: string): string => densify(source, ['repeats']).text;

describe('the step repeats', () => {
  it('folds equal lines into one line and a line that counts the others', () => {
    expect(folded(`a\n${LINE.repeat(57)}b\n`)).toBe(`a\n${LINE}… the line above 56 more times …\nb\n`);
    expect(folded(LINE.repeat(2))).toBe(`${LINE}… the line above 1 more time …\n`);
  });

  it('keeps CRLF as CRLF', () => {
    const line = LINE.replace('\n', '\r\n');
    expect(folded(line.repeat(3))).toBe(`${line}… the line above 2 more times …\r\n`);
  });

  it('folds each run separately, and the last line only with its line end', () => {
    const other = LINE.replace('12', '13');
    expect(folded(LINE.repeat(3) + other.repeat(3) + other.trimEnd())).toBe(
      `${LINE}… the line above 2 more times …\n${other}… the line above 2 more times …\n${other.trimEnd()}`,
    );
  });

  it.each([
    ['short lines', '}\n'.repeat(12)],
    ['a ruled line', `${'='.repeat(70)}\n`.repeat(9)],
    ['some blank lines', '\n'.repeat(300)],
    ['two alternating lines', `${LINE}other\n`.repeat(9)],
    ['lines that differ in one character', Array.from({ length: 9 }, (_, at) => LINE.replace('12', `1${at}`)).join('')],
    ['lines that are too long for a unit', `${'word '.repeat(1000)}\n`.repeat(4)],
    ['a text that looks like a notice', `${LINE}… the line above 3 more times …\n${LINE.repeat(9)}`],
  ])('leaves %s', (_name, source) => {
    expect(densify(source, ['repeats'])).toMatchObject({ text: source, steps: [] });
  });

  it.each(['}\n', '\n', ' \n', '\r\n', '=====\n', 'a b\n', LINE, '12345\n'])(
    'never costs more tokens: %j, however often',
    (line) => {
      for (const times of [2, 3, 5, 12, 13, 14, 40, 400, 401, 900]) {
        const source = `first\n${line.repeat(times)}last\n`;
        expect(counter.count(folded(source))).toBeLessThanOrEqual(counter.count(source));
        expect(unfolded(folded(source))).toBe(source);
      }
    },
  );

  it('never folds a run into more bytes than before, whatever else is folded', () => {
    const short = 'a b\n'.repeat(8);
    expect(folded(short + LINE.repeat(9))).toBe(`${short}${LINE}… the line above 8 more times …\n`);
  });

  it('folds 80 refused connections to one, and keeps the exit code', () => {
    expect(folded(output('retry-loop.txt'))).toBe(
      'connect ECONNREFUSED 127.0.0.1:5432 (attempt) at src/net/pool.ts:88:14\n… the line above 79 more times …\ngave up, exit code 7\n',
    );
  });
});
