import { appendFile, mkdir, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { SegmentWriter } from '#src/audit/writer.js';
import { DAY_MS, makeTempDir } from '../stores/open-stores.js';

export const START_MS = Date.UTC(2025, 0, 15, 12);
/** Bytes of a segment: about ten lines. */
const SMALL = 2_000;

/** What happens to a log that nobody tampers with. */
export type Step =
  | { readonly kind: 'write'; readonly texts: readonly string[]; readonly isDurable: boolean }
  | { readonly kind: 'power loss'; readonly place: number }
  /** `prune` removes what is older than today. */
  | { readonly kind: 'restart' | 'kill' | 'next day' | 'clock back' | 'prune' };

const STEP: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      texts: fc.array(fc.string({ unit: 'binary', maxLength: 60 }), { minLength: 1, maxLength: 4 }),
      isDurable: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('restart', 'kill', 'next day', 'next day', 'clock back', 'prune') }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('power loss' as const), place: fc.nat() }) },
);

interface Written {
  dir: string;
  nowMs: number;
  /** Records that must be in the log: written, not lost with the power, and not removed as old. */
  records: number;
}

/** Writes a log of at least one record. */
export async function write(steps: readonly Step[], at: Written): Promise<void> {
  const open = async (): Promise<SegmentWriter> => {
    const opened = new SegmentWriter(at.dir, () => at.nowMs, SMALL);
    await opened.open();
    return opened;
  };
  let writer = await open();
  const record = async (texts: readonly string[], isDurable: boolean): Promise<void> => {
    const lines = texts.map((text) => ({ time: new Date(at.nowMs).toISOString(), input: text }));
    await writer.append(lines, isDurable);
    at.records += texts.length;
  };
  for (const step of steps) {
    if (step.kind === 'write') await record(step.texts, step.isDurable);
    else if (step.kind === 'next day') at.nowMs += DAY_MS;
    else if (step.kind === 'clock back') at.nowMs -= 2 * DAY_MS;
    else {
      const before = await countRecords(at.dir);
      if (step.kind === 'prune') await writer.prune(new Date(at.nowMs).toISOString().slice(0, 10));
      else if (step.kind === 'restart') writer.close();
      else writer.drop();
      if (step.kind === 'power loss') await cutUnwritten(at.dir, step.place);
      at.records += (await countRecords(at.dir)) - before;
      if (step.kind !== 'prune') writer = await open();
    }
  }
  await record(['last \ufffd'], true);
  writer.close();
}

async function countRecords(dir: string): Promise<number> {
  const texts = await Promise.all((await readdir(dir)).map((name) => readFile(join(dir, name), 'utf8')));
  return texts.flatMap((text) => text.split('\n').slice(0, -1)).filter((line) => line.includes('"input":')).length;
}

/** A loss of power can take whatever nobody waited for. */
async function cutUnwritten(dir: string, place: number): Promise<void> {
  const { name, bytes } = JSON.parse((await readFile(join(dir, '..', 'audit.head'), 'utf8')).split('\n')[0] ?? '');
  // Of a day with ten segments or more the names are not in the order of the log.
  const [last = ''] = (await readdir(dir)).sort((a, b) => partOf(b) - partOf(a));
  const written = last === name ? bytes : 0;
  const { length } = await readFile(join(dir, last));
  await truncate(join(dir, last), length - (place % (length - written + 1)));
}

/** A number in the order of the log. */
function partOf(name: string): number {
  const [, day = '', part = '1'] = /^audit-([\d-]+)(?:\.(\d+))?\.jsonl$/.exec(name) ?? [];
  return Date.parse(day) + Number(part);
}

/** `unchained`: lines of two files from before there was a chain. */
export async function newLog(steps: readonly Step[], unchained: number): Promise<Written> {
  const at = { dir: join(await makeTempDir(), 'audit'), nowMs: START_MS, records: 0 };
  await mkdir(at.dir);
  const days = [unchained % 2 === 0 ? '2025-01-15' : '2025-01-14', '2025-01-13'];
  const lines = Array.from({ length: unchained }, (_, n) => `{"time":"2025-01-14","n":${n}}\n`);
  for (const [index, day] of days.entries()) {
    const text = lines.filter((_, n) => n % days.length === index).join('');
    if (text !== '') await writeFile(join(at.dir, `audit-${day}.jsonl`), text);
  }
  await write(steps, at);
  return at;
}

/** A loss of power can leave a file that has nothing. */
export async function filesWithLines(dir: string): Promise<string[]> {
  const names = (await readdir(dir)).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(dir, name))));
  return names.filter((_, index) => texts[index]?.includes('\n') === true);
}

export async function countUnchained(dir: string): Promise<number> {
  const texts = await Promise.all((await readdir(dir)).map((name) => readFile(join(dir, name), 'utf8')));
  return texts.flatMap((text) => text.split('\n')).filter((line) => line.includes('"n":')).length;
}

/** Something that a person without the key does to the files. Numbers choose a place. */
export interface Tampering {
  readonly kind: keyof typeof TAMPERINGS;
  readonly place: number;
  readonly other: number;
}

interface Files {
  dir: string;
  names: readonly string[];
}

export const TAMPERINGS = {
  async 'changes a byte'({ dir, names }: Files, { place, other }: Tampering): Promise<void> {
    const path = join(dir, pick(names, other));
    const bytes = await readFile(path);
    const at = place % bytes.length;
    bytes[at] = ((bytes[at] ?? 0) + 1 + (other % 250)) % 256;
    await writeFile(path, bytes);
  },
  'removes lines': (files, { place, other }) =>
    onLines(files, other, (lines) => lines.toSpliced(place % lines.length, 1 + (other % 3))),
  'writes a line twice': (files, { place, other }) =>
    onLines(files, other, (lines) => lines.toSpliced(place % (lines.length + 1), 0, pick(lines, other))),
  'moves a line': (files, { place, other }) =>
    onLines(files, other, (lines) => {
      if (lines.length < 2) return [...lines, ...lines];
      const at = place % lines.length;
      const rest = lines.toSpliced(at, 1);
      return rest.toSpliced((at + 1 + (other % (lines.length - 1))) % lines.length, 0, lines[at] ?? '');
    }),
  'adds a line of its own': (files, { place, other }) =>
    onLines(files, other, (lines) =>
      lines.toSpliced(place % (lines.length + 1), 0, '{"time":"2025-01-15T12:00:00.000Z","input":"made up"}'),
    ),
  async 'adds a record without a line end'({ dir, names }: Files, { place }: Tampering): Promise<void> {
    await appendFile(join(dir, pick(names, place)), '{"time":"2025-01-15T12:00:00.000Z","input":"made up"}');
  },
  async 'adds a file of an old day'({ dir }: Files, { place }: Tampering): Promise<void> {
    const day = new Date(START_MS - (2 + (place % 40)) * DAY_MS).toISOString().slice(0, 10);
    const line = '{"time":"2024-12-20","input":"made up"}';
    await appendFile(join(dir, `audit-${day}.jsonl`), place % 2 === 0 ? line : `${line}\n`);
  },
  /** What a decoder puts in the place of bytes that are no text is in the log as itself. */
  async 'changes a byte to another that reads the same'({ dir, names }: Files): Promise<void> {
    const files = await Promise.all(names.map((name) => readFile(join(dir, name))));
    const at = files.findLastIndex((bytes) => bytes.includes('\ufffd'));
    const bytes = files[at] ?? Buffer.alloc(0);
    const place = bytes.lastIndexOf('\ufffd');
    const changed = Buffer.concat([bytes.subarray(0, place), Buffer.from([0xff]), bytes.subarray(place + 3)]);
    await writeFile(join(dir, pick(names, at)), changed);
  },
  async 'changes a first line'({ dir, names }: Files, { place, other }: Tampering): Promise<void> {
    const path = join(dir, pick(names, other));
    const bytes = await readFile(path);
    bytes[place % bytes.indexOf('\n')] = 0x20;
    await writeFile(path, bytes);
  },
  async 'cuts the tail'({ dir, names }: Files, { place }: Tampering): Promise<void> {
    const path = join(dir, names.at(-1) ?? '');
    const { length } = await readFile(path);
    await truncate(path, length - 1 - (place % length));
  },
  'removes a file': ({ dir, names }, { place }) => rm(join(dir, pick(names, place))),
  async 'swaps two files, or names one otherwise'({ dir, names }: Files, { place, other }: Tampering): Promise<void> {
    const [a, b] = [pick(names, place), pick(names, place + 1 + (other % Math.max(1, names.length - 1)))];
    const moved = join(dir, 'audit-2024-12-31.jsonl');
    await rename(join(dir, a), moved);
    if (a === b) return appendFile(moved, '\n');
    await rename(join(dir, b), join(dir, a));
    await rename(moved, join(dir, b));
  },
  'gives a file a name that the log does not give': ({ dir, names }, { place }) => {
    const name = names.find((one) => /^[^.]*\.jsonl$/.test(one));
    if (name === undefined) return rm(join(dir, pick(names, place)));
    return rename(join(dir, name), join(dir, name.replace('.jsonl', '.1.jsonl')));
  },
  'removes the head': ({ dir }) => rm(join(dir, '..', 'audit.head')),
  async 'changes the head'({ dir }: Files, { place }: Tampering): Promise<void> {
    const path = join(dir, '..', 'audit.head');
    const text = await readFile(path, 'utf8');
    const at = place % text.indexOf('\n');
    await writeFile(path, `${text.slice(0, at)}${text[at] === '1' ? '2' : '1'}${text.slice(at + 1)}`);
  },
  async 'removes all of it but the key'({ dir, names }: Files): Promise<void> {
    for (const name of names) await rm(join(dir, name));
    await rm(join(dir, '..', 'audit.head'));
  },
  'removes the key': ({ dir }) => rm(join(dir, '..', 'audit.key')),
  async 'writes it again with another key'({ dir, names }: Files): Promise<void> {
    const own = join(await makeTempDir(), 'audit');
    const writer = new SegmentWriter(own, () => START_MS, SMALL);
    await writer.open();
    await writer.append([{ time: new Date(START_MS).toISOString(), input: 'made up' }], true);
    writer.close();
    for (const name of names) await rm(join(dir, name));
    for (const name of await readdir(own)) await writeFile(join(dir, name), await readFile(join(own, name)));
  },
} as const satisfies Record<string, (files: Files, how: Tampering) => Promise<void>>;

function pick<T>(items: readonly T[], number: number): T {
  const item = items[number % items.length];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

async function onLines({ dir, names }: Files, number: number, change: (lines: string[]) => string[]): Promise<void> {
  const path = join(dir, pick(names, number));
  const lines = (await readFile(path, 'utf8')).split('\n').slice(0, -1);
  await writeFile(
    path,
    change(lines)
      .map((line) => `${line}\n`)
      .join(''),
  );
}

export const STEPS = fc.array(STEP, { maxLength: 20 });
export const UNCHAINED = fc.nat({ max: 5 });
export const TAMPERING: fc.Arbitrary<Tampering> = fc.record({
  kind: fc.constantFrom(...(Object.keys(TAMPERINGS) as (keyof typeof TAMPERINGS)[])),
  place: fc.nat(),
  other: fc.nat(),
});

/** Of these the log itself notes what is gone. The note goes when its segment is old, as what is gone would have. */
const NOTED: readonly Tampering['kind'][] = ['removes the head', 'changes the head', 'removes all of it but the key'];

/** What may come after a tampering, so that there must still be a fault. */
export function laterSteps({ kind }: Tampering, steps: readonly Step[]): readonly Step[] {
  return NOTED.includes(kind) ? steps.filter((step) => step.kind !== 'prune' && step.kind !== 'power loss') : steps;
}
