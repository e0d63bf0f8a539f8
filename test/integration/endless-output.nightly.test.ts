import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeStream } from '#src/runner/exec-output.js';
import { type Bench, openBench, usualWho } from '../fixtures/sandbox-harness.ts';

const MIB = 1024 * 1024;
const HALF = MIB / 2;

/** The output of `seq` from 1 to `last`: its size in bytes, its beginning and its end. */
function numbers(last: number): { bytes: number; head: string; tail: string } {
  let bytes = 0;
  for (let digits = 1, first = 1; first <= last; digits++, first *= 10) {
    bytes += (Math.min(last, first * 10 - 1) - first + 1) * (digits + 1);
  }
  const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `${from + i}\n`).join('');
  return { bytes, head: lines(1, HALF / 4).slice(0, HALF), tail: lines(last - HALF / 4, last).slice(-HALF) };
}

describe.each(usualWho())('endless output, %s', (who) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(who);
  });
  afterAll(() => bench.close());

  const run = (script: string) => bench.bash(script, { outputMaxBytes: MIB, outputKillBytes: 0, timeoutMs: 120_000 });

  test('CE-1.4 keeps the first and the last half MiB of 340 MB in lines and counts the rest', {
    timeout: 120_000,
  }, async () => {
    const { endedBy, exitCode, raw } = await run('seq 1 39000000; echo over >&2');
    const { bytes, head, tail } = numbers(39_000_000);
    expect({ endedBy, exitCode, stderr: raw.stderr.head.toString() }).toEqual({
      endedBy: 'exit',
      exitCode: 0,
      stderr: 'over\n',
    });
    expect(raw.stdout.totalBytes).toBe(bytes);
    expect(raw.stdout.droppedBytes).toBe(bytes - MIB);
    expect(raw.stdout.head.equals(Buffer.from(head))).toBe(true);
    expect(raw.stdout.tail.equals(Buffer.from(tail))).toBe(true);
    // One buffer of the largest size that is kept, and a copy of its second half.
    expect(raw.stdout.head.buffer.byteLength + raw.stdout.tail.buffer.byteLength).toBeLessThanOrEqual(1.5 * MIB);
    const { text, droppedBytes, gap } = decodeStream(raw.stdout);
    expect(text.startsWith('1\n2\n3\n')).toBe(true);
    expect(text.endsWith('\n38999999\n39000000\n')).toBe(true);
    const [first = '', last = ''] = text.split(/… \d+ bytes were not kept by contextd, lines [\d-]+ …\n/);
    expect(Buffer.byteLength(first + last)).toBe(bytes - droppedBytes);
    // Each line is its own number.
    expect(first.split('\n').at(-2)).toBe(String((gap?.firstLine ?? 0) - 1));
    expect(last.split('\n')[0]).toBe(String(gap?.nextLine));
    expect(gap?.lastLine).toBe((gap?.nextLine ?? 0) - 1);
  });

  test('CE-1.4 keeps the beginning and the end of 300 MB in one line', { timeout: 120_000 }, async () => {
    const { raw } = await run(`printf 'first word '; head -c 300M /dev/zero | tr '\\0' x; printf ' last word'`);
    const bytes = 11 + 300 * MIB + 10;
    expect([raw.stdout.totalBytes, raw.stdout.droppedBytes]).toEqual([bytes, bytes - MIB]);
    const { text, droppedBytes } = decodeStream(raw.stdout);
    const [head = '', tail = ''] = text.split(`\n… ${droppedBytes} bytes were not kept by contextd, line 1 …\n`);
    expect(head).toMatch(/^first word x+$/);
    expect(tail).toMatch(/^x+ last word$/);
    expect(head.length + tail.length).toBe(bytes - droppedBytes);
    expect(Math.min(head.length, tail.length)).toBeGreaterThan(HALF - 64 * 1024 - 1);
  });
});
