import { describe, expect, it } from 'vitest';
import { DENSIFY_STEPS, densify, plainLines } from '#src/tokens/densify/densify.js';

const ESC = '\u001b';
const LINE = 'warning: src/a.ts:12:3 is said again and again, since nobody listens\n';

describe('densify', () => {
  it('names the steps that changed something, in their order, and runs only the requested steps', () => {
    const source = `${ESC}[1mgo 1%\rgo 2%${ESC}[0m\n${LINE.repeat(3)}end      \n`;
    expect(densify(source, DENSIFY_STEPS).steps).toEqual(['ansi', 'progress', 'repeats', 'trailing_spaces']);
    expect(densify(source, ['trailing_spaces', 'ansi']).steps).toEqual(['ansi', 'trailing_spaces']);
    expect(densify(source, [])).toMatchObject({ text: source, steps: [] });
    expect(densify('', DENSIFY_STEPS)).toMatchObject({ text: '', steps: [] });
  });

  it('finds JSON under colours and progress, and repeats under padding', () => {
    expect(densify(`wait 1%\r${ESC}[K{ "a": 1}\n`, DENSIFY_STEPS).text).toBe('{"a":1}\n');
    expect(densify(`${ESC}[1m{ ${ESC}[0m"a": 1}`, DENSIFY_STEPS).text).toBe('{"a":1}');
    const padded = `${LINE}${LINE.replace('\n', '    \n')}`;
    expect(densify(padded, DENSIFY_STEPS).text).toBe(`${LINE}… the line above 1 more time …\n`);
  });

  it('maps cuts through every step', () => {
    const progress = 'get 1%\rget 22%\n';
    const source = `${ESC}[1ma${ESC}[0m\n${progress}${LINE.repeat(4)}end    \nx\n`;
    const dense = densify(source, DENSIFY_STEPS);
    const at = (text: string): number => dense.text.indexOf(text);
    expect(dense.text).toBe(`a\nget 22%\n${LINE}… the line above 3 more times …\nend\nx\n`);
    expect(dense.sourceOf(at('get'), 'end')).toBe(source.indexOf('get 1%'));
    expect(dense.sourceOf(at('get'), 'start')).toBe(source.indexOf('get 1%'));
    expect(dense.cutBefore(at('22%'))).toBe(at('get'));
    expect(dense.cutAfter(at('22%'))).toBe(at('\nwarning'));
    expect(dense.cutBefore(at('… the'))).toBe(at('warning'));
    expect(dense.cutAfter(at('… the'))).toBe(at('end'));
    expect(dense.sourceOf(at('end'), 'start')).toBe(source.indexOf('end'));
    expect(dense.sourceOf(at('end') + 3, 'end')).toBe(source.indexOf('end') + 3);
    expect(dense.sourceOf(at('x\n'), 'start')).toBe(source.indexOf('x\n'));
  });

  it('assigns a cut at something left out to the tail', () => {
    const dense = densify(`a\n${ESC}[1mb${ESC}[0m\n`, DENSIFY_STEPS);
    expect([dense.sourceOf(2, 'end'), dense.sourceOf(2, 'start')]).toEqual([2, 2]);
    expect([dense.sourceOf(3, 'end'), dense.sourceOf(3, 'start')]).toEqual([7, 7]);
  });

  it('maps an empty result to the whole source', () => {
    const dense = densify(`${ESC}[1m${ESC}[0m`, DENSIFY_STEPS);
    expect(dense.text).toBe('');
    expect([dense.sourceOf(0, 'end'), dense.sourceOf(0, 'start')]).toEqual([8, 8]);
  });

  it('never cuts inside a secret, a character or a kept sequence', () => {
    const dense = densify(`${ESC}[1m[SECRET_12]${ESC}[0m😀${ESC}[1Ax`, DENSIFY_STEPS);
    expect(dense.text).toBe(`[SECRET_12]😀${ESC}[1Ax`);
    expect([dense.cutBefore(5), dense.cutAfter(5)]).toEqual([0, 11]);
    expect([dense.cutBefore(12), dense.cutAfter(12)]).toEqual([11, 13]);
    expect([dense.cutBefore(15), dense.cutAfter(15)]).toEqual([13, 17]);
  });

  // Each would take minutes if a step read it more than a few times.
  it.each([
    ['blanks', ' '],
    ['line ends', '\n'],
    ['short lines', 'x\n'],
    ['escapes', ESC],
    ['sequences never ended', `${ESC}[`],
    ['titles never ended', `${ESC}]0;`],
    ['links never closed', `${ESC}]8;;u\u0007a`],
    ['styles', `${ESC}[1ma`],
    ['carriage returns', '\r'],
    ['frames', '9%\r'],
    ['backspaces', 'ab\b'],
    ['erasing', `ab${ESC}[1K\r`],
    ['erasing of a wide line', `${ESC}[4000Gx${ESC}[1K`],
    ['brackets', '[ '],
    ['objects', '{ "a": '],
    ['quotes', '["'],
    ['blanks on lines', `${' '.repeat(60)}x${' '.repeat(60)}\n`],
    ['tabs on lines', '\tx\t\n'],
  ])('handles half a million characters of %s', (_name, part) => {
    const source = part.repeat(Math.ceil(500_000 / part.length));
    const dense = densify(source, DENSIFY_STEPS);
    expect(dense.text.length).toBeLessThanOrEqual(source.length);
    expect(dense.sourceOf(dense.text.length, 'end')).toBe(source.length);
    expect(plainLines(source).length).toBeLessThanOrEqual(source.length);
  });

  it('leaves the rest of a text unchanged if there are millions of places to change', () => {
    const source = `${ESC}[ma`.repeat(5_000_000);
    const dense = densify(source, ['ansi']);
    expect(dense.text.startsWith('a'.repeat(1000))).toBe(true);
    expect(dense.text.endsWith(`${ESC}[ma`.repeat(1000))).toBe(true);
    const middle = dense.cutBefore(dense.text.length >> 1);
    expect(source.slice(0, dense.sourceOf(middle, 'end')).replaceAll(`${ESC}[m`, '').length).toBe(
      dense.text.slice(0, middle).replaceAll(`${ESC}[m`, '').length,
    );
  });
});
