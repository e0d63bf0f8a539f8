import { spawn } from 'node:child_process';

export interface Spread {
  medianMs: number;
  p99Ms: number;
  minMs: number;
  n: number;
}

export function spreadOf(samples: readonly number[]): Spread {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (q: number): number => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
  return { medianMs: at(0.5), p99Ms: at(0.99), minMs: at(0), n: sorted.length };
}

export interface Contender {
  name: string;
  once(): Promise<void>;
}

/** Runs the contenders in turn, round after round, so that a noisy moment hits all of them alike. */
export async function race(contenders: readonly Contender[], rounds: number): Promise<Map<string, Spread>> {
  const samples = new Map(contenders.map(({ name }) => [name, [] as number[]]));
  for (let round = -2; round < rounds; round++) {
    for (const { name, once } of contenders) {
      const start = performance.now();
      await once();
      if (round >= 0) samples.get(name)?.push(performance.now() - start);
    }
  }
  return new Map([...samples].map(([name, all]) => [name, spreadOf(all)]));
}

export interface ProcessOptions {
  cwd?: string;
  env?: Record<string, string>;
}

/** A whole process, from spawn to the end of its output. Throws when it fails: a failure is not a time. */
export function runProcess(program: string, args: readonly string[], options: ProcessOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
    const out: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      const text = Buffer.concat(out).toString();
      if (code === 0) resolve(text);
      else reject(new Error(`${program} ${args.join(' ')} ended with ${code}: ${text}`));
    });
  });
}

export function row(name: string, spread: Spread, besides: Spread | undefined): string {
  const ratio = besides === undefined ? '' : `${(spread.medianMs / besides.medianMs).toFixed(2)}×`;
  const cells = [
    name.padEnd(44),
    spread.medianMs.toFixed(2).padStart(9),
    spread.p99Ms.toFixed(2).padStart(9),
    ratio.padStart(8),
  ];
  return cells.join(' ');
}
