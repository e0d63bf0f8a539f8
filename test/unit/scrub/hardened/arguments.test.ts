import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commandLines } from '#src/scrub/hardened/views/arguments.js';

const element = fc.stringMatching(/^[a-z][a-z0-9./:=@]{0,12}$/);
const program = fc.stringMatching(/^[a-z][a-z0-9-]{1,12}$/);
const option = fc.stringMatching(/^--?[a-z]{1,10}$/);
/** A program and its arguments, one of which is an option. */
const list = fc
  .tuple(program, fc.array(element, { maxLength: 5 }), option, fc.array(element, { maxLength: 5 }))
  .map(([first, before, one, after]) => [first, ...before, one, ...after]);

const WRITTEN: Readonly<Record<string, (list: readonly string[]) => string>> = {
  'in brackets': (all) => `x: [${all.map((one) => `"${one}"`).join(', ')}]\n`,
  'in brackets, on lines': (all) => `{\n  "Cmd": [\n${all.map((one) => `    '${one}'`).join(',\n')}\n  ]\n}\n`,
  'as arguments of a call': (all) => `exec.Command(${all.map((one) => `"${one}"`).join(', ')})\n`,
  'behind its program': ([program, ...rest]) => `spawn('${program}', [${rest.map((one) => `'${one}'`).join(', ')}]);\n`,
  'in YAML': (all) => `  command:\n${all.map((one) => `    - ${one}\n`).join('')}  ports:\n`,
  'in YAML, in quotes': (all) => `  command:\n${all.map((one) => `    - "${one}"\n`).join('')}`,
  'as kubectl describes it': (all) => `    Args:\n${all.map((one) => `      ${one}\n`).join('')}    State: x\n`,
};

describe('SEC-1.1 a list of arguments is read as a command line', () => {
  it.each(Object.entries(WRITTEN))('%s', (_, write) => {
    fc.assert(
      fc.property(list, (all) => {
        const text = write(all);
        const view = commandLines(text);
        expect(view?.text, text).toBe(`${all.join(' ')} `);
        let at = 0;
        for (const one of all) {
          const place = view?.toOriginal(at, at + one.length);
          expect(text.slice(place?.start, place?.end)).toBe(one);
          at += one.length + 1;
        }
      }),
    );
  });

  it('not a list without an option, and not lines without a heading', () => {
    const texts = [
      '["mysqladmin", "ping", "root"]\n',
      '- one\n- two\n',
      '  --password\n  kangaroo\n',
      'say "-p" and go\n',
      '- --password <value>  the password of a user\n- --token <value>  its token\n',
    ];
    for (const text of texts) expect(commandLines(text), text).toBeNull();
  });

  it('and takes time that grows with the text only', () => {
    for (const piece of ['["-a', '"-a", ', '  --a\n', '- -a\n', '[-a("-b"{', "'-a' x("]) {
      const view = commandLines(piece.repeat(20_000));
      expect(view?.text.length ?? 0).toBeLessThan(piece.length * 20_000 * 2);
    }
  });
});
