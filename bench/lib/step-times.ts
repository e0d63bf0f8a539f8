import { readFileSync } from 'node:fs';
import type { BenchInstallation, Caller } from './machine.ts';
import { type Spread, spreadOf } from './measure.ts';
import type { Row, SectionOptions } from './section.ts';

/** Settings with which the daemon logs the time of each step. */
export const LOGGED = { 'log.level': 'debug' };
const WARM_UP_CALLS = 20;
/** A call takes about a hundredth of the time that a race of processes takes. */
const CALLS_PER_ROUND = 5;

export interface Measured {
  row: Row;
  steps: Row[];
}

/** Calls a tool over one open channel. Returns the time of the whole call and of each of its steps. */
export async function measureCall(
  at: BenchInstallation,
  name: string,
  tool: string,
  input: object,
  options: SectionOptions,
): Promise<Measured> {
  const calls = options.rounds * CALLS_PER_ROUND;
  const times = await at.withDaemon((daemon) => callAgain(daemon, tool, input, calls));
  return { row: { name, times, note: '' }, steps: readSteps(at, calls) };
}

async function callAgain(daemon: Caller, tool: string, input: object, calls: number): Promise<Spread> {
  const samples: number[] = [];
  for (let i = -WARM_UP_CALLS; i < calls; i++) {
    const start = performance.now();
    await daemon.call(tool, input);
    if (i >= 0) samples.push(performance.now() - start);
  }
  return spreadOf(samples);
}

/** Reads the microseconds that the daemon logged for each step of the last calls. */
function readSteps(at: BenchInstallation, calls: number): Row[] {
  const lines = readFileSync(at.paths.logFile, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"call.answered"'))
    .slice(-calls)
    .map((line): Record<string, unknown> => JSON.parse(line));
  const names = Object.keys(lines.at(-1) ?? {}).filter((name) => name.endsWith('_us'));
  const rowOf = (name: string, steps: readonly string[]): Row => ({
    name: `  ${name}`,
    times: spreadOf(lines.map((line) => steps.reduce((sum, step) => sum + Number(line[step] ?? 0) / 1000, 0))),
    note: '',
  });
  return [
    ...names.map((name) => rowOf(name.slice(0, -'_us'.length), [name])),
    rowOf('store and budget', ['store_us', 'budget_us']),
  ];
}
