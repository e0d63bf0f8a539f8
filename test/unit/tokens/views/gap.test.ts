import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinAroundGap } from '#src/sdk/cut-text.js';
import { readView } from '#src/tokens/views/read-view.js';
import { renderView, type ViewStream } from '#src/tokens/views/render-view.js';

/** A stream of lines `line 1` to `line n`, of which the bytes after the first `head` and before the last `tail` are gone. */
function numbered(lines: number, head: number, tail: number, lineOf = (n: number) => `line ${n}`): ViewStream {
  const whole = Array.from({ length: lines }, (_, i) => `${lineOf(i + 1)}\n`).join('');
  const middle = whole.slice(head, whole.length - tail);
  const missing = { bytes: middle.length, newlines: middle.split('\n').length - 1 };
  return { field: 'stdout', ...joinAroundGap(whole.slice(0, head), whole.slice(whole.length - tail), missing) };
}

function view(stream: ViewStream, asked: object) {
  const request = { view: readView({ ...asked }), failed: false, earlier: null, digestChars: 1000 };
  const { streams, facts } = renderView({ ...request, streams: [stream] });
  return { text: streams[0]?.text ?? '', facts };
}

const MARKER = /^… \d+ bytes were not kept by contextd, lines? \d+(-\d+)? …$/;

describe('CE-1.4 a text of which the middle was not kept', () => {
  it('has true line numbers in grep, errors and lines, on both sides of the gap', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 60, max: 400 }),
        fc.integer({ min: 40, max: 150 }),
        fc.integer({ min: 40, max: 150 }),
        fc.integer({ min: 1, max: 420 }),
        fc.nat(60),
        (count, head, tail, first, more) => {
          const stream = numbered(count, head, tail);
          const { firstLine, lastLine } = stream.gap ?? { firstLine: 0, lastLine: 0 };
          const isKept = (n: number) => n <= count && (n < firstLine || n > lastLine);
          const isMissing = (n: number) => n >= firstLine && n <= lastLine;
          const wanted = Array.from({ length: more + 1 }, (_, i) => first + i);

          const shown = view(stream, { lines: `${first}-${first + more}` });
          const lines = shown.text.split('\n').filter((line) => line !== '');
          expect(lines.filter((line) => !MARKER.test(line))).toEqual(wanted.filter(isKept).map((n) => `line ${n}`));
          expect(lines.filter((line) => MARKER.test(line))).toHaveLength(wanted.some(isMissing) ? 1 : 0);
          expect(shown.facts).toMatchObject({ lines: count });

          const found = view(stream, { grep: `^line ${first}$` });
          expect(found.text).toBe(isKept(first) ? `${first}:line ${first}\n` : '');
          expect(found.facts).toMatchObject({ lines: count, matches: isKept(first) ? 1 : 0 });
        },
      ),
    );
  });

  it('shows the line about the gap among the lines around a match, without a number, and never finds it', () => {
    const stream = numbered(100, 50, 50);
    const { firstLine, lastLine } = stream.gap ?? { firstLine: 0, lastLine: 0 };
    const { text } = view(stream, { grep: `line ${lastLine + 1}$`, context: 2 });
    expect(text.split('\n').map((line) => (MARKER.test(line) ? 'gap' : line))).toEqual([
      `${firstLine - 1}-line ${firstLine - 1}`,
      'gap',
      `${lastLine + 1}:line ${lastLine + 1}`,
      `${lastLine + 2}-line ${lastLine + 2}`,
      `${lastLine + 3}-line ${lastLine + 3}`,
      '',
    ]);
    expect(view(stream, { grep: 'contextd' }).facts).toMatchObject({ matches: 0 });
  });

  it('has true line numbers if a line is longer than what was kept', () => {
    const stream = numbered(9, 60, 60, (n) => (n === 5 ? 'x'.repeat(500) : `line ${n}`));
    expect(stream.gap).toMatchObject({ firstLine: 5, lastLine: 5 });
    expect(view(stream, { grep: 'line [67]' }).text).toBe('6:line 6\n7:line 7\n');
  });

  it('numbers errors and counts bytes as in the whole text', () => {
    const stream = numbered(400, 100, 100, (n) => (n === 398 ? 'error: it broke' : `line ${n}`));
    expect(view(stream, { errors: true, context: 0 }).text).toBe('398:error: it broke\n');
    const whole = Array.from({ length: 400 }, (_, i) => `line ${i + 1}\n`).join('');
    const other = numbered(400, 100, 100);
    const at = whole.indexOf('line 395');
    expect(view(other, { bytes: `${at}-${at + 7}` })).toEqual({
      text: 'line 395',
      facts: { name: 'bytes', bytes: whole.length },
    });
    expect(view(other, { bytes: '150-160' }).text).toMatch(/bytes were not kept/);
    expect(view(other, { bytes: `${whole.length}-` }).facts).toMatchObject({ beyond_end: true });
  });

  it('colours and progress before the gap do not move the numbers', () => {
    const stream = numbered(200, 300, 60, (n) => `\u001b[31mline\u001b[0m ${n}`);
    const last = stream.gap?.nextLine ?? 0;
    expect(view(stream, { grep: `^line ${last}$` }).text).toBe(`${last}:line ${last}\n`);
  });

  it('names the missing part if it is not the JSON or the table that it was', () => {
    const json = numbered(300, 60, 60, (n) => (n === 1 ? '[' : n === 300 ? '0]' : `${n},`));
    expect(() => view(json, { json_path: '$[0]' })).toThrow(/lines \d+-\d+ of the output were not kept/);
    const table = numbered(300, 200, 60, (n) => (n === 1 ? 'id,name' : `${n},a${n}`));
    const { text, facts } = view(table, { rows: '1-2' });
    expect(text).toBe('id,name\n2,a2\n3,a3\n');
    expect(facts).toMatchObject({ rows_end_at_line: table.gap?.firstLine });
  });
});
