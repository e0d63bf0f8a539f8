import { describe, expect, it } from 'vitest';
import { FirstPass } from '#src/runner/first-pass.js';
import type { ScrubEngine } from '#src/scrub/hardened/engine.js';

/** Finds every x: the tests are about which texts are scanned, not about the patterns. */
const engine: ScrubEngine = {
  ruleCount: 1,
  scan: (text) => [...text.matchAll(/x/g)].map(({ index }) => ({ rule: 'x', start: index, end: index + 1 })),
};

const LONG = 'a'.repeat(40_000);

function programUrl(code: string): URL {
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}

const NO_WORKER = programUrl('throw new Error("no worker was needed")');

describe('the first pass', () => {
  it('SEC-1.2 scans keys and strings of data, then fields and texts of streams, each as a leaf', () => {
    const firstPass = new FirstPass(engine, NO_WORKER);
    const found = firstPass.scan({ data: { kx: 'x', n: 1 }, streams: [{ field: 'out', text: 'axx' }] });
    const leaves = ['data', 'kx', 'x', 'n', 'streams', 'field', 'out', 'text', 'axx'];
    expect(found).toEqual(leaves.map((leaf) => engine.scan(leaf)));
    expect(leaves.flatMap((leaf) => engine.scan(leaf))).toHaveLength(5);
  });

  it('scans long outputs in a thread, several at once, each with its own result', async () => {
    const worker = programUrl(`
      import { parentPort } from 'node:worker_threads';
      parentPort.on('message', ({ id, leaves }) => parentPort.postMessage({ id, findings: leaves.map((leaf) =>
        leaf.text.endsWith('2') ? [{ rule: 'two', start: 0, end: 1 }] : []) }));
    `);
    const firstPass = new FirstPass(engine, worker);
    const scan = (end: string) => firstPass.scan({ data: {}, streams: [{ field: 'out', text: LONG + end }] });
    const [one, two] = await Promise.all([scan('1'), scan('2')]);
    expect(one?.at(-1)).toEqual([]);
    expect(two?.at(-1)).toEqual([{ rule: 'two', start: 0, end: 1 }]);
  });

  it.each(['throw new Error("broken")', 'process.exit(0)'])('fails closed if the thread fails: %s', async (code) => {
    const firstPass = new FirstPass(engine, programUrl(code));
    const scan = async () => firstPass.scan({ data: {}, streams: [{ field: 'out', text: LONG }] });
    await expect(scan()).rejects.toMatchObject({ code: 'SCRUB_FAILED' });
    await expect(scan()).rejects.toMatchObject({ code: 'SCRUB_FAILED' });
  });
});
