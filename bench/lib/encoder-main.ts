import { ENCODERS, type EncoderName, loadEncoder } from './encoders.ts';
import { TOKEN_INPUTS, type TokenInput } from './token-inputs.ts';

/** The first message of an encoder's process. */
export interface EncoderCost {
  /** Milliseconds for the import and the tables, until the first word is counted. */
  loadMs: number;
  /** Memory that loading took, measured after a garbage collection. */
  heapMib: number;
  outsideMib: number;
  residentMib: number;
}

export interface CountTask {
  input: TokenInput;
  units: number;
  /** Number of repetitions. */
  times: number;
}

/** The answer to a task; milliseconds of all repetitions together. */
export interface Counted {
  ms: number;
  tokens: number;
}

/** The program of an encoder's process: `encoder-main.js <encoder>`, started with `--expose-gc`. */
async function main(name: EncoderName): Promise<void> {
  const before = memory();
  const start = performance.now();
  const count = await loadEncoder(name);
  count('word');
  const loadMs = performance.now() - start;
  const after = memory();
  process.once('disconnect', () => process.exit());
  process.on('message', (task: CountTask) => {
    const text = TOKEN_INPUTS[task.input](task.units);
    const begun = performance.now();
    let tokens = 0;
    for (let i = 0; i < task.times; i++) tokens = count(text);
    process.send?.({ ms: performance.now() - begun, tokens } satisfies Counted);
  });
  process.send?.({
    loadMs,
    heapMib: after.heapUsed - before.heapUsed,
    outsideMib: after.external - before.external,
    residentMib: after.rss - before.rss,
  } satisfies EncoderCost);
}

function memory(): { heapUsed: number; external: number; rss: number } {
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  const mib = (bytes: number): number => bytes / 1024 / 1024;
  return { heapUsed: mib(heapUsed), external: mib(external), rss: mib(rss) };
}

const encoder = ENCODERS.find((name) => name === process.argv[2]);
if (encoder === undefined) throw new Error(`no encoder is named ${process.argv[2]}`);
await main(encoder);
