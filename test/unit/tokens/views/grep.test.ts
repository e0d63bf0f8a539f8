import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { requiredLiteral } from '#src/text/required-literal.js';
import { checkPattern, viewGrep } from '#src/tokens/views/grep.js';
import { linesOf } from './numbered.ts';

function grep(text: string, pattern: string, before = 0, after = before): { text: string; facts: unknown } {
  const view = viewGrep(text, { pattern, before, after });
  if (view.kind !== 'text') throw new Error(`no text: ${view.kind}`);
  expect(view.cut).toBe('head');
  return view;
}

/** A plain line-by-line grep. */
function naiveGrep(text: string, pattern: string, { before, after }: { before: number; after: number }): string {
  const compiled = RE2JS.compile(pattern);
  const lines = linesOf(text);
  const matching = lines.map((line) => compiled.test(line));
  let out = '';
  let last = -1;
  lines.forEach((line, at) => {
    if (!matching.slice(Math.max(0, at - after), at + before + 1).includes(true)) return;
    if (last >= 0 && at > last + 1 && before + after > 0) out += '--\n';
    out += `${at + 1}${matching[at] ? ':' : '-'}${line}\n`;
    last = at;
  });
  return out;
}

describe('the view grep', () => {
  const text = 'one\ntwo\nthree\nfour\nfive\nsix\nseven two\n';

  it('shows the lines that match, with their numbers', () => {
    expect(grep(text, 'two')).toMatchObject({ text: '2:two\n7:seven two\n', facts: { lines: 7, matches: 2 } });
    expect(grep(text, '^t(wo|hree)$').text).toBe('2:two\n3:three\n');
    expect(grep(text, '(?i)SEVEN').text).toBe('7:seven two\n');
    expect(grep(text, 'nine')).toMatchObject({ text: '', facts: { lines: 7, matches: 0 } });
  });

  it('shows lines around a match, and -- between groups', () => {
    expect(grep(text, 'two', 1).text).toBe('1-one\n2:two\n3-three\n--\n6-six\n7:seven two\n');
    expect(grep(text, 'two', 0, 1).text).toBe('2:two\n3-three\n--\n7:seven two\n');
    expect(grep(text, 'four|six', 1).text).toBe('3-three\n4:four\n5-five\n6:six\n7-seven two\n');
  });

  it.each(['(', '[a', 'a**', '(?=a)', '(a)\\1', 'a{1001}'])('refuses %s and names its position', (pattern) => {
    expect(() => checkPattern(pattern)).toThrow(ContextdError);
    try {
      checkPattern(pattern);
    } catch (thrown) {
      expect(thrown).toMatchObject({ code: 'ARGS_INVALID', details: { faults: [{ pointer: '/view/grep' }] } });
    }
  });

  it.each(['a', 'a.b', '(?i)x', '[[:alpha:]]+', '\\d{1,3}', 'ü', ''])('takes %s', (pattern) => {
    expect(() => checkPattern(pattern)).not.toThrow();
  });

  it('takes plain text literally, but never across a line end', () => {
    expect(grep('a b\nb c\n', 'b\nb').text).toBe('');
    expect(grep('x\u{1f600}y\n', '\u{1f600}').text).toBe('1:x\u{1f600}y\n');
  });

  it('finds what a search line by line finds, whatever the text and the pattern', () => {
    const texts = fc
      .array(fc.constantFrom('a', 'b', 'abc', 'error', '1', '\n', '\n', '\n\n', '.', ' ', 'X', '\r\n', '😀'))
      .map((parts) => parts.join(''));
    const atoms =
      'a,b,abc,error,[ab],[^a],.,(?:ab|c),a?,b*,c+,^,$,\\b,x{0,2},(?i),(?i:e),(a),\\.,[]a],[[:alpha:]]c,\\d+,|,😀,{,r{2}';
    const patterns = fc
      .array(fc.constantFrom(...atoms.split(',')), { minLength: 1, maxLength: 6 })
      .map((parts) => parts.join(''))
      .filter(isPattern);
    fc.assert(
      fc.property(texts, patterns, fc.nat(3), fc.nat(3), (lines, pattern, before, after) => {
        expect(grep(lines, pattern, before, after).text).toBe(naiveGrep(lines, pattern, { before, after }));
      }),
    );
  });
});

describe('the view grep in long lines', () => {
  const filler = 'var x=1;'.repeat(500);

  it('shows the matches, with … for what is left out', () => {
    const { text, facts } = grep(`short\n${filler}NEEDLE${filler}\n`, 'NEED(LE)');
    expect(text).toMatch(/^2:….{1,300}NEEDLE.{1,300}…\n$/);
    expect(facts).toEqual({ lines: 2, matches: 1, shortened_lines: 1 });
  });

  it('shows several matches in one line, for a plain text too', () => {
    const line = `ONE${filler}ONE${filler}ONE`;
    for (const pattern of ['ONE', 'ON(E)'])
      expect(grep(line, pattern).text).toMatch(/^1:ONE[^…]+…[^…]+ONE[^…]+…[^…]+ONE\n$/);
  });

  it('shows about 2,000 characters of a line at most', () => {
    expect(grep('ab'.repeat(50_000), 'a').text.length).toBeLessThan(2_500);
    expect(grep('ab'.repeat(50_000), 'a.*b').text.length).toBeLessThan(2_500);
  });

  it('splits no secret and no character', () => {
    const line = `${'[SECRET_12]'.repeat(300)}NEEDLE${'😀'.repeat(2_000)}`;
    const { text } = grep(line, 'NEEDLE');
    expect(text).toMatch(/^1:…(\[SECRET_12\])+NEEDLE(😀)+…\n$/u);
  });

  it('says if it searched only the beginning', () => {
    const line = `${'x'.repeat(1024 * 1024)}NEEDLE`;
    expect(grep(`${line}\nNEEDLE\n`, 'NEEDLE')).toMatchObject({
      text: '2:NEEDLE\n',
      facts: { lines: 2, matches: 1, long_lines: 1 },
    });
    expect(grep(line, 'NEED.E').facts).toEqual({ lines: 1, matches: 0, long_lines: 1 });
  });
});

describe('the literal text of a pattern, which every match contains', () => {
  it.each([
    ['error TS\\d+', 'error TS'],
    ['\\d+ failed', ' failed'],
    ['a\\.txt', 'a.txt'],
    ['abc?def', 'def'],
    ['abcd*', 'abc'],
    ['abc+d', 'abc'],
    ['x{2}abc', 'abc'],
    ['(?:yes|no)abc', 'abc'],
    ['[abc]def', 'def'],
    ['[]x]def', 'def'],
    ['[[:alpha:]]def', 'def'],
    ['(?P<name>abcdef)ghi', 'ghi'],
  ])('of %s is %s', (pattern, literal) => {
    expect(requiredLiteral(pattern)).toBe(literal);
  });

  it.each(['abc|def', '(?i)abc', '(?i:abc)', '(a(?i)b)cde', 'ab', '[abc]', 'abc{', '\\Qabc\\E', '\\x41bcd', '(abc'])(
    'of %s is not looked for',
    (pattern) => {
      expect(requiredLiteral(pattern)).toBeNull();
    },
  );
});

function isPattern(pattern: string): boolean {
  try {
    checkPattern(pattern);
    return true;
  } catch {
    return false;
  }
}
