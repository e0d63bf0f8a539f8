import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LiveOutput } from '#src/proxy/shell/live-output.js';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function output(room: () => number = () => Number.POSITIVE_INFINITY) {
  const shown: string[] = [];
  const live = new LiveOutput((bytes) => {
    const taken = bytes.subarray(0, room());
    if (taken.length > 0) shown.push(taken.toString());
    return taken.length;
  });
  return { live, shown, rest: (text: string) => live.rest(Buffer.from(text)).toString() };
}

const A_MINUTE = 60_000;

describe('issue 35 part 1: what a client sees of a command while it runs', () => {
  it('is nothing of a short one, which is shown as the daemon answers', () => {
    const { live, shown, rest } = output();
    live.add('one\n');
    expect([shown, rest('one\ntwo\n')]).toEqual([[], 'one\ntwo\n']);
  });

  it('is each line of a long one, and at the end only what is new', () => {
    const { live, shown, rest } = output();
    live.add('one\n');
    vi.advanceTimersByTime(A_MINUTE);
    live.add('two\n');
    expect(shown).toEqual(['one\n', 'two\n']);
    expect(rest('one\ntwo\nthree\n')).toBe('three\n');
  });

  it('is followed by the whole answer if that does not continue it', () => {
    const { live, rest } = output();
    live.add('\u001b[1mone\u001b[0m\n');
    vi.advanceTimersByTime(A_MINUTE);
    expect(rest('one\n')).toBe('[contextd the command has ended; its output:]\none\n');
  });

  it('ends with nothing if the command was refused after a line that said what it waited for', () => {
    const { live, shown, rest } = output();
    live.add('[contextd rule_1 asks a person about this call]\n');
    vi.advanceTimersByTime(A_MINUTE);
    expect(shown).toHaveLength(1);
    expect(rest('')).toBe('');
  });

  it('is bounded: a command that prints much is shown at its end only', () => {
    const { live, shown, rest } = output();
    for (let line = 0; line < 10_000; line++) live.add(`${line}\n`);
    vi.advanceTimersByTime(A_MINUTE);
    live.add('more\n');
    expect(shown).toEqual([]);
    expect(rest('0\n…\nmore\n')).toBe('0\n…\nmore\n');
  });

  it('is complete for a reader that takes it slowly', () => {
    let room = 2;
    const { live, shown, rest } = output(() => room);
    live.add('äöü\n');
    vi.advanceTimersByTime(A_MINUTE);
    room = 100;
    live.add('two\n');
    expect(shown.join('') + rest('äöü\ntwo\nthree\n')).toBe('äöü\ntwo\nthree\n');
  });

  it('is the newest of its output if the client ends it', () => {
    const { live } = output();
    live.add('one\n');
    expect(live.held().toString()).toBe('one\n');
  });
});
