import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProgressWindow, type Release } from '#src/runner/progress/progress-window.js';

const KIB = 1024;

/** The parts that the window returns for chunks, read after each chunk. */
function follow(chunks: readonly (Buffer | string)[]): Release[] {
  const window = new ProgressWindow();
  const releases = chunks.map((chunk) => {
    window.add(Buffer.from(chunk));
    return window.take(false);
  });
  return [...releases, window.take(true)].filter((release) => release !== null);
}

const textsOf = (releases: readonly Release[]): string[] => releases.map(({ text }) => text);

describe('the window of a stream', () => {
  it('returns parts of the stream in order, with the text before and after them, and counts the rest', () => {
    const line = fc.oneof(
      fc.string({ maxLength: 60 }),
      fc.string({ unit: 'grapheme', maxLength: 30 }),
      fc.constantFrom('x'.repeat(3_000), 'word '.repeat(2_500), '-----BEGIN KEY-----', '-----END KEY-----', ''),
    );
    const chunk = fc.array(line, { maxLength: 8 }).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 30 }), (chunks) => {
        const all = Buffer.from(chunks.join(''));
        let at = 0;
        for (const { before, text, after, skippedBytes } of follow(chunks)) {
          const start = at + skippedBytes;
          at = start + Buffer.byteLength(text);
          expect(skippedBytes).toBeGreaterThanOrEqual(0);
          expect(all.toString('utf8', start, at)).toBe(text);
          expect(all.subarray(0, start).toString().endsWith(before)).toBe(true);
          expect(all.subarray(at).toString().startsWith(after)).toBe(true);
          expect(before.length === 0).toBe(start === 0);
        }
        expect(at).toBeLessThanOrEqual(all.length);
      }),
    );
  });

  it('returns only whole lines, and the last line when the stream ends', () => {
    expect(textsOf(follow(['one\ntw', 'o', '\nthree\nfo', 'ur']))).toEqual(['one\n', 'two\nthree\n', 'four']);
  });

  it('waits for 8 KiB of an unfinished line, and searches them with what it shows', () => {
    const window = new ProgressWindow();
    window.add(Buffer.from('word '.repeat(1_600)));
    expect(window.take(false)).toBeNull();
    window.add(Buffer.from('word '.repeat(400)));
    const release = window.take(false);
    expect(release?.text).toHaveLength(10_000 - 8 * KIB);
    expect(release?.after).toHaveLength(8 * KIB);
  });

  it('SEC-1.1 shows nothing of a key block before its end has arrived', () => {
    const [begin, body, end] = [
      '-----BEGIN RSA PRIVATE KEY-----',
      `${'A'.repeat(40)}\n`.repeat(20),
      '-----END RSA PRIVATE KEY-----',
    ];
    const releases = follow([`before\n${begin}\n`, body, `${body}${end}`, '\nafter\n']);
    expect(textsOf(releases)).toEqual(['before\n', `${begin}\n${body}${body}${end}\nafter\n`]);
  });

  it('SEC-1.1 shows nothing of a key block whose beginning is lost', () => {
    const begin = `-----BEGIN A KEY-----\n`;
    const lines = Array.from({ length: 2_000 }, () => `${'B'.repeat(63)}\n`);
    const end = `last of it\n-----END A KEY-----\nafter\n`;
    expect(textsOf(follow([`${begin}${lines.join('')}${end}`]))).toEqual(['after\n']);
    const cutWord = [begin.slice(0, 8), begin.slice(8), ...lines];
    const window = new ProgressWindow();
    for (const chunk of cutWord) window.add(Buffer.from(chunk));
    expect([window.take(false), window.take(true)]).toEqual([null, null]);
    window.add(Buffer.from(end));
    expect(window.take(true)?.text).toBe('after\n');
  });

  it('SEC-1.1 waits if a value may continue on the next line', () => {
    const [first, second] = ['k'.repeat(40), 'm'.repeat(40)];
    expect(textsOf(follow([`name: ${first}\\\n`, `${second}\n`, 'done\n']))).toEqual([
      `name: ${first}\\\n${second}\ndone\n`,
    ]);
    expect(textsOf(follow([`${first}\n`, `${second}\n`, 'm\n']))).toEqual([`${first}\n${second}\nm\n`]);
    expect(textsOf(follow(['src/a/rather/long/path.ts\n', 'src/another/rather/long/path.ts\n', '.\n']))).toEqual([
      'src/a/rather/long/path.ts\n',
      'src/another/rather/long/path.ts\n.\n',
    ]);
  });

  it('returns the newest lines of a flood, at most 6,400 bytes each time', () => {
    const lines = Array.from({ length: 40_000 }, (_, i) => `line ${i}\n`).join('');
    const [release] = follow([lines]);
    expect(release?.text).toMatch(/^line \d+\n[\s\S]*\nline 39999\n$/);
    expect(release?.text.length).toBeGreaterThan(6_000);
    expect(release?.text.length).toBeLessThanOrEqual(6_400);
    expect(release?.skippedBytes).toBe(lines.length - (release?.text.length ?? 0));
  });

  it('always searches at least 8 KiB before what it shows, once something was lost', () => {
    const [release] = follow(
      Array.from({ length: 200 }, () => 'x'.repeat(KIB))
        .map((text) => Buffer.from(text))
        .slice(-1),
    );
    expect(release?.before).toBe('');
    const window = new ProgressWindow();
    for (let i = 0; i < 200; i++) window.add(Buffer.from(`${'word '.repeat(200)}\n`));
    expect(window.take(false)?.before.length).toBe(8 * KIB);
  });
});
