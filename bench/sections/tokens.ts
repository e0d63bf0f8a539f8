import type { CountTask } from '../lib/encoder-main.ts';
import { type EncoderProcess, startEncoder } from '../lib/encoder-process.ts';
import { ENCODERS, type EncoderName } from '../lib/encoders.ts';
import { type Contender, race } from '../lib/measure.ts';
import { type Fact, missingRow, type Row, rowsOf, type Section, type Table } from '../lib/section.ts';
import type { TokenInput } from '../lib/token-inputs.ts';

const OURS: EncoderName = 'contextd';
const KIB = 1024;
const MIB = 1024 * 1024;
/** An encoder that would take longer than this for a megabyte gets a smaller text. */
const LIMIT_MS = 20_000;
/** A megabyte can take a second, so it gets fewer rounds. */
const LONG_ROUNDS = 5;
const FIRST_UNITS = 4 * KIB;
const GROWTH = 4;

const TEXTS: readonly { title: string; units: number; times: number }[] = [
  { title: '2 KB of source and log, 100 times', units: 2 * KIB, times: 100 },
  { title: '100 KB of source and log, 10 times', units: 100 * KIB, times: 10 },
  { title: '1 MB of source and log', units: MIB, times: 1 },
];
const BAITS: readonly TokenInput[] = ['the letter a', 'base64', 'emoji', 'spaces'];

/** Counts tokens with our encoder and with others, each in its own process. */
export const tokensSection: Section = {
  async run(options) {
    const running = new Map<EncoderName, EncoderProcess>();
    const missing = new Map<EncoderName, string>();
    for (const name of ENCODERS) {
      const encoder = await startEncoder(name).catch(() => null);
      if (encoder === null) missing.set(name, 'not installed: npm install --prefix bench/peers --ignore-scripts');
      else running.set(name, encoder);
    }
    try {
      const tables: Table[] = [];
      for (const { title, ...sizes } of TEXTS) {
        const measured = await raceTask(running, { input: 'source and log', ...sizes }, options.rounds);
        tables.push(tableOf(title, [...measured, ...missingRows(missing)]));
      }
      const facts = costFacts(running);
      for (const input of BAITS) tables.push(await baitTable(running, missing, { input, rounds: options.rounds }));
      return { tables, facts: [...facts, await agreement(running)] };
    } finally {
      for (const encoder of running.values()) encoder.stop();
    }
  },
};

async function raceTask(
  running: ReadonlyMap<EncoderName, EncoderProcess>,
  task: CountTask,
  rounds: number,
): Promise<Row[]> {
  const contenders = [...running].map(
    ([name, encoder]): Contender => ({ name, once: async () => (await encoder.count(task, LIMIT_MS))?.ms }),
  );
  return rowsOf(await race(contenders, Math.min(rounds, task.units >= MIB ? LONG_ROUNDS : rounds)));
}

function missingRows(missing: ReadonlyMap<EncoderName, string>): Row[] {
  return [...missing].map(([name, why]) => missingRow(name, why));
}

function tableOf(title: string, rows: Row[]): Table {
  return { title: `${title}, ms`, base: OURS, rows, aims: [] };
}

/** A megabyte of each text that is slow to count. The row of an encoder that is too slow says how far it came. */
async function baitTable(
  running: Map<EncoderName, EncoderProcess>,
  missing: ReadonlyMap<EncoderName, string>,
  { input, rounds }: { input: TokenInput; rounds: number },
): Promise<Table> {
  const able = new Map<EncoderName, EncoderProcess>();
  const slow: Row[] = [];
  for (const [name, encoder] of running) {
    const reached = await climb(encoder, input);
    if (reached.units === MIB) able.set(name, encoder);
    else slow.push(missingRow(name, await slowNote(running.get(OURS), input, reached)));
    if (reached.isGone) running.set(name, await startEncoder(name));
  }
  const rows = await raceTask(able, { input, units: MIB, times: 1 }, rounds);
  const table = tableOf(`1 MB of ${input}`, [...rows, ...slow, ...missingRows(missing)]);
  return { ...table, aims: [{ row: OURS, atMost: 500, times: null }] };
}

interface Reached {
  /** The largest text that was counted. */
  units: number;
  ms: number;
  /** True if the process was killed while it counted the next larger text. */
  isGone: boolean;
}

/** Counts ever longer texts, up to a megabyte, as long as a quadratic encoder would finish the next one in time. */
async function climb(encoder: EncoderProcess, input: TokenInput): Promise<Reached> {
  let reached: Reached = { units: 0, ms: 0, isGone: false };
  for (let units = FIRST_UNITS; units <= MIB; units *= GROWTH) {
    if (reached.ms * GROWTH * GROWTH > LIMIT_MS) return reached;
    const counted = await encoder.count({ input, units, times: 1 }, LIMIT_MS);
    if (counted === null) return { ...reached, isGone: true };
    reached = { units, ms: counted.ms, isGone: false };
  }
  return reached;
}

async function slowNote(ours: EncoderProcess | undefined, input: TokenInput, reached: Reached): Promise<string> {
  const own = await ours?.count({ input, units: reached.units, times: 1 }, LIMIT_MS);
  const beside = own === null || own === undefined ? '' : `, ours ${own.ms.toFixed(2)} ms`;
  return `too slow; ${reached.units / KIB} KB take ${Math.round(reached.ms)} ms${beside}`;
}

function costFacts(running: ReadonlyMap<EncoderName, EncoderProcess>): Fact[] {
  return [...running].map(([name, { cost }]) => ({
    name: `${name}: load, ms; memory, MiB`,
    value: `${cost.loadMs.toFixed(1)}; heap ${cost.heapMib.toFixed(1)}, outside ${cost.outsideMib.toFixed(1)}, resident ${cost.residentMib.toFixed(1)}`,
  }));
}

async function agreement(running: ReadonlyMap<EncoderName, EncoderProcess>): Promise<Fact> {
  const counts = new Set<number | null>();
  for (const encoder of running.values()) {
    const counted = await encoder.count({ input: 'source and log', units: MIB, times: 1 }, LIMIT_MS);
    counts.add(counted?.tokens ?? null);
  }
  return { name: 'tokens of 1 MB of source and log, by all', value: [...counts].join(', ') };
}
