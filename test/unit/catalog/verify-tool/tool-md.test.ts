import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkToolMd } from '#src/catalog/verify-tool/verify-tool.js';
import { countTokens, TOOL_MD } from './tool-files.ts';

function check(text: string) {
  return checkToolMd({ text, bytes: Buffer.byteLength(text) }, 'good_tool', countTokens);
}

function faults(text: string): string[] {
  return check(text).flatMap(({ passed, detail }) => (passed ? [] : [detail]));
}

describe('TOOL.md', () => {
  it('DATA-3 has the required form', () => {
    expect(check(TOOL_MD)).toMatchObject([
      { rule: 'TOOL.md form', passed: true },
      { rule: 'TOOL.md cost', passed: true, figure: countTokens(TOOL_MD), limit: 99 },
    ]);
  });

  it.each([
    [TOOL_MD.replace('good', 'other'), 'line 1 must be: # and the name of the tool'],
    [TOOL_MD.replace('> Do one thing.', '> '), 'line 2 must be: > and its purpose'],
    [TOOL_MD.replace('\n\n', '\n'), expect.stringContaining('line 3 must be: empty; line 4')],
    [
      TOOL_MD.replace('`safe_bash`', 'safe_bash'),
      'line 5 must be: **Not**: and what it is not for → `the tool for that`',
    ],
    [TOOL_MD.replace('**Ref**: `TOOL_EXTENDED.md`', '**Ref**: none'), 'line 7 must be: **Ref**: `TOOL_EXTENDED.md`'],
    [TOOL_MD.trimEnd(), 'line 8 must be: the end of the file, after one line end'],
    [`${TOOL_MD}\n`, 'it has more than 7 lines'],
    [TOOL_MD.replaceAll('\n', '\r\n'), 'its lines must end with a line feed only'],
    ['', expect.stringContaining('line 8')],
  ])('DATA-3 names the line that is wrong', (text, fault) => {
    expect(faults(text)).toEqual([fault]);
  });

  it('CE-1.2 costs 99 tokens at most', () => {
    const long = (words: number) => TOOL_MD.replace('none', `none${' a'.repeat(words)}`);
    const own = countTokens(long(10)) - 10;
    expect(faults(long(99 - own))).toEqual([]);
    expect(faults(long(100 - own))).toEqual(['100 of at most 99 tokens']);
  });

  it('DATA-3 has exactly the form that a single pattern describes', () => {
    const pattern =
      /^# good_tool\n> .+\n\n\*\*Use\*\*: .+\n\*\*Not\*\*: .+ → `.+`.*\n\*\*Limits\*\*: .+\n\*\*Ref\*\*: `TOOL_EXTENDED\.md`\n$/;
    const bit = fc.constantFrom(' → `', '`', ' ', 'a', '\n', '\r', '\u2028', '**Not**: ', '→');
    const bits = fc.array(bit, { maxLength: 6 }).map((all) => all.join(''));
    const place = fc.nat({ max: TOOL_MD.length });
    const spliced = fc
      .tuple(place, fc.nat({ max: 3 }), bits)
      .map(([at, removed, text]) => TOOL_MD.slice(0, at) + text + TOOL_MD.slice(at + removed));
    const notLine = bits.map((text) => TOOL_MD.replace(/(?<=\*\*Not\*\*: ).*/, () => text));
    fc.assert(
      fc.property(fc.oneof(spliced, notLine), (text) => {
        expect(check(text)[0]?.passed).toBe(pattern.test(text));
      }),
    );
  });
});
