import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchInstallation, type Caller, installForBench } from './machine.ts';
import { type Spread, spreadOf } from './measure.ts';
import { makeNoopRoot } from './noop-installation.ts';
import type { Outcome, Row, Section, SectionOptions } from './section.ts';

const NOOP = 'a tool that does nothing';
/** The daemon logs the time of each step. */
export const LOGGED = { 'log.level': 'debug' };
const WARM_UP_CALLS = 20;
/** A call takes a hundredth of a race of processes. */
const CALLS_PER_ROUND = 5;

/** What is left of a call without the start of a process and a connection: the daemon's own work. */
export const openChannelSection: Section = {
  async run(options) {
    const noop = await inNoopInstallation(options);
    const core = await withInstallation(await installForBench(LOGGED), (at) => callCoreTools(at, options));
    return {
      tables: [
        {
          title: 'one call over an open channel, ms',
          base: null,
          rows: [noop.row, ...core.map(({ row }) => row)],
          aims: [{ row: NOOP, atMost: 2, times: null }],
        },
        ...[noop, ...core].map(({ row, steps }) => ({
          title: `steps of ${row.name}, ms`,
          base: null,
          rows: steps,
          aims: [],
        })),
      ],
      facts: [],
    } satisfies Outcome;
  },
};

export interface Measured {
  row: Row;
  steps: Row[];
}

async function inNoopInstallation(options: SectionOptions): Promise<Measured> {
  const installation = await makeNoopRoot();
  try {
    const at = await installForBench(LOGGED, installation.root);
    return await withInstallation(at, () => measure(at, NOOP, 'noop', {}, options));
  } finally {
    installation.remove();
  }
}

async function callCoreTools(at: BenchInstallation, options: SectionOptions): Promise<Measured[]> {
  writeFileSync(join(at.project, 'small.txt'), 'one\ntwo\nthree\n');
  return [
    await measure(at, 'safe_read of a small file', 'safe_read', { path: 'small.txt' }, options),
    await measure(at, 'safe_bash true', 'safe_bash', { command: 'true' }, options),
  ];
}

export async function measure(
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

/** From the microseconds that the daemon logged for each step of the last calls. */
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

async function withInstallation<T>(at: BenchInstallation, use: (at: BenchInstallation) => Promise<T>): Promise<T> {
  try {
    return await use(at);
  } finally {
    await at.remove();
  }
}
