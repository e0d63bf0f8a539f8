import { spawn } from 'node:child_process';

/** Milliseconds. */
export interface Spread {
  medianMs: number;
  p95Ms: number;
  p99Ms: number;
  minMs: number;
  n: number;
}

export function spreadOf(samples: readonly number[]): Spread {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (q: number): number => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
  return { medianMs: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99), minMs: at(0), n: sorted.length };
}

export interface Contender {
  name: string;
  /** Does one run. A contender that measures itself in another process returns its milliseconds. */
  once(): Promise<number | undefined>;
  /** Waits, untimed, until background work left by the run no longer disturbs the next contender. */
  after?(): Promise<void>;
}

/** Rounds that are run but not counted: they fill caches and pools and compile code. */
const WARM_UP_ROUNDS = 2;

/** Runs the contenders in turn, round after round, so that a noisy moment affects all of them equally. */
export async function race(
  contenders: readonly Contender[],
  rounds: number,
  warmUpRounds = WARM_UP_ROUNDS,
): Promise<Map<string, Spread>> {
  const samples = new Map(contenders.map(({ name }) => [name, [] as number[]]));
  for (let round = -warmUpRounds; round < rounds; round++) {
    for (const contender of contenders) {
      const ms = await timed(() => contender.once());
      if (round >= 0) samples.get(contender.name)?.push(ms);
      await contender.after?.();
    }
  }
  return new Map([...samples].map(([name, all]) => [name, spreadOf(all)]));
}

/** Returns the milliseconds that the contender reports, or else the measured ones. */
export async function timed(work: () => Promise<number | undefined>): Promise<number> {
  const start = performance.now();
  const own = await work();
  return own ?? performance.now() - start;
}

export interface ProcessOptions {
  cwd?: string;
  env?: Record<string, string>;
}

/** Runs a whole process, from spawn to the end of its output. Throws if it fails: a failure has no time. */
export function runProcess(program: string, args: readonly string[], options: ProcessOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      const text = Buffer.concat(out).toString();
      if (code === 0) resolve(text);
      else reject(new Error(`${program} ${args.join(' ')} ended with ${code}: ${text}${Buffer.concat(err)}`));
    });
  });
}
