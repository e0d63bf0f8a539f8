import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { KeeperProcess } from '#src/sandbox/snapshots/keeper-process.js';

const REPLY = {
  changes: [],
  isFirst: true,
  missed: [],
  uncovered: [],
  uncoveredCount: 0,
  tree: null,
  bytes: 0,
  ignored: [],
  touched: [],
};
const REQUEST = { do: 'sync' } as const;

let stop = async (): Promise<void> => {};
afterEach(() => stop());

/** A program in place of the keeper, as its owner can make it. */
function keeperThat(script: string): KeeperProcess {
  const child = spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'pipe'] });
  const gone = once(child, 'close').then(() => {});
  const ended = gone.then(() => ({ code: 0, signal: null, ran: true }));
  const keeper = new KeeperProcess({ child, ended, gone, kill: () => child.kill('SIGKILL') });
  stop = () => keeper.stop();
  return keeper;
}

describe('the process that keeps files', () => {
  it('SEC-2.1 gets its answers in order, however they are cut', async () => {
    const [start, end] = [JSON.stringify({ reply: REPLY }).slice(0, 9), JSON.stringify({ reply: REPLY }).slice(9)];
    const both = `read a; read b; printf %s '${start}'; read c; printf '%s\\n' '${end}' '{"error":"no"}' '{"reply":1}'; cat`;
    const keeper = keeperThat(both);
    const asked = [keeper.ask(REQUEST), keeper.ask(REQUEST), keeper.ask(REQUEST)];
    expect(await Promise.allSettled(asked)).toEqual([
      { status: 'fulfilled', value: REPLY },
      { status: 'rejected', reason: new Error('no') },
      { status: 'rejected', reason: new Error('it answered {"reply":1}') },
    ]);
    expect(keeper.hasEnded).toBe(false);
  });

  it.each([
    ['is no JSON', 'read a; echo no; cat'],
    ['is no object', 'read a; echo 1; cat'],
    ['nobody asked for', 'read a; echo {}; echo {}; cat'],
    ['has no end', 'read a; head -c 300000000 /dev/zero; cat'],
  ])('SEC-2.1 ends if it says what %s, and nothing else does', async (_, script) => {
    const keeper = keeperThat(script);
    await expect(keeper.ask(REQUEST)).rejects.toThrow();
    await expect.poll(() => keeper.hasEnded).toBe(true);
    await expect(keeper.ask(REQUEST)).rejects.toThrow('it answered');
  });
});
