import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { densify } from '#src/tokens/densify/densify.js';
import { output } from './outputs.ts';

const compact = (source: string): string => densify(source, ['json']).text;
const steps = (source: string): readonly string[] => densify(source, ['json']).steps;
describe('the step json', () => {
  it.each([
    ['a value', '{ "a" : [ 1 , true , null ] , "b" : { } }\n', '{"a":[1,true,null],"b":{}}\n'],
    ['numbers to the digit', '[ 1.50, -0, 1E+2, 12345678901234567890 ]', '[1.50,-0,1E+2,12345678901234567890]'],
    ['strings to the byte', '{ "a  b" : "c \\u0041 \\" [ 1 , 2 ] é " }', '{"a  b":"c \\u0041 \\" [ 1 , 2 ] é "}'],
    ['repeated keys', '{"a": 1,\n "a": 2}', '{"a":1,"a":2}'],
    ['tokens of secrets', '{\n  "key": "[SECRET_12]"\n}\n', '{"key":"[SECRET_12]"}\n'],
    ['lines of values', '{"a": 1}\n{"b": [2, 3]}\r\n\n[ ]\n', '{"a":1}\n{"b":[2,3]}\n[]\n'],
    ['values printed one after another', '{\n "a": 1\n}\n{\n "b": 2\n}\n', '{"a":1}\n{"b":2}\n'],
    ['CRLF between them', '{"a": 1}\r\n{"b": 2}\r\n', '{"a":1}\r\n{"b":2}\r\n'],
    ['blanks around', '  \n {} \n\n', '{}\n'],
  ])('prints %s without white space', (_name, source, text) => {
    expect(compact(source)).toBe(text);
  });

  it.each([
    ['compact already', '{"a":1}\n'],
    ['another text', '[info] { "a" : 1 }\n'],
    ['text behind it', '{ "a": 1 }\nDone in 3 s\n'],
    ['two values on one line', '{ "a": 1 } { "b": 2 }'],
    ['no end', '{ "a": 1'],
    ['a comma too many', '[ 1, ]'],
    ['a key without quotes', '{ a: 1 }'],
    ['a number that is not JSON', '[ 01 ]'],
    ['a name that is not JSON', '[ NaN ]'],
    ['a control character in a string', '[ "a\tb" ]'],
    ['an escape that is not JSON', '[ "\\x41" ]'],
    ['the wrong bracket', '[ 1 }'],
    ['a colon in a list', '[ "a": 1 ]'],
    ['a word alone', ' true '],
    ['values deeper than anyone prints', `${'[ '.repeat(1001)}${']'.repeat(1001)}`],
  ])('leaves other text unchanged: %s', (_name, source) => {
    expect(compact(source)).toBe(source);
    expect(steps(source)).toEqual([]);
  });

  it('compacts values up to a thousand levels deep', () => {
    expect(compact(`${'[ '.repeat(1000)}${']'.repeat(1000)}`)).toBe('['.repeat(1000) + ']'.repeat(1000));
  });

  it('prints any value as JSON.stringify does, whatever its white space was', () => {
    fc.assert(
      fc.property(fc.oneof(fc.object(), fc.array(fc.jsonValue())), fc.nat(8), (value, indent) => {
        const source = JSON.stringify(value, null, indent);
        fc.pre(source !== undefined);
        expect(compact(source)).toBe(JSON.stringify(value));
        expect(compact(`${source}\n`.repeat(3))).toBe(`${JSON.stringify(value)}\n`.repeat(3));
      }),
    );
  });

  it('accepts as JSON exactly what JSON.parse accepts', () => {
    const part = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"\\n"',
      '"',
      '1',
      '-',
      '0',
      '1.5e3',
      'true',
      'null',
      ' ',
      '\\',
    );
    const almost = fc.tuple(fc.json(), fc.nat(), part).map(([json, at, text]) => {
      const place = at % (json.length + 1);
      return json.slice(0, place) + text + json.slice(place + 1);
    });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(part, { maxLength: 9 }).map((parts) => parts.join('')),
          almost,
        ),
        (text) => {
          const isTaken = steps(` ${text}`).length > 0;
          expect(isTaken).toBe(isValue(text));
        },
      ),
    );
  });

  it('prints the output of kubectl and npm, and of jq in colours, in a third of the space', () => {
    const pods = output('kubectl-json.txt');
    expect(compact(pods)).toBe(`${JSON.stringify(JSON.parse(pods))}\n`);
    expect(densify(output('jq-colour.txt'), ['ansi', 'json']).text).toBe(compact(pods));
    expect(compact(output('npm-ls-json.txt'))).toContain('"resolved":"file:../pk/a"');
  });
});

function isValue(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object' && /^\s*[[{]/.test(text);
  } catch {
    return false;
  }
}
