import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { parse, type TomlTable, type TomlValue } from 'smol-toml';
import { CERTIFIED, CERTIFIED_SHORT, type PatternHashes, REFUSED } from '../src/scrub/exact/certified-patterns.ts';
import { readRulePack } from '../src/scrub/exact/rule-pack.ts';
import { findOfficialConfig } from '../src/scrub/gitleaks/official-config.ts';
import { PINNED_VERSION } from '../src/scrub/gitleaks/pinned.ts';
import { type Reach, type Trial, tryPattern } from './pattern-trial.ts';

// Writes src/scrub/exact/certified-patterns.ts: the patterns of our rules and of gitleaks' official configuration that
// may run as JavaScript regular expressions, on all texts or on short ones, because neither an attack search nor a
// comparison with re2js found anything against them. With --check it tries the committed ones again and fails when one
// of them, or a pattern of our rules that is on no list, is found wanting: with the seed of the list and another one,
// the same in each run of the gate; --seed N takes N for the other, to look further. --official FILE names the
// configuration.

const ROOT = join(import.meta.dirname, '../..');
const TARGET = join(ROOT, 'src/scrub/exact/certified-patterns.ts');
const WORKERS = 2;
const FIXED_SEED = 20_261_121;
/** Tries of each pattern when the list is written; the gate makes one more with each of its seeds. */
const WRITE_ROUNDS = 1;
/**
 * Microseconds per character. What gets on the list must be well below what takes it off again, whatever else the
 * machine does; a short text cannot take long.
 */
const MAX_COST = { all: { write: 0.5, check: 4 }, short: { write: 1.2, check: 6 } };

/** Milliseconds for one trial. */
const TRIAL_MS = 10_000;

interface Verdict {
  source: string;
  fault: string | null;
}

interface Lists {
  all: string[];
  short: string[];
  refused: string[];
}

if (isMainThread) await main();
else parentPort?.on('message', (trial: Trial) => parentPort?.postMessage(verdictOf(trial)));

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { check: { type: 'boolean' }, official: { type: 'string' }, seed: { type: 'string' } },
  });
  const own = patternsOf(readRulePack(join(ROOT, 'src/scrub/rules')).map(({ text }) => text));
  const official = await officialPatterns(values.official);
  if (official === null) console.log(`gitleaks ${PINNED_VERSION}'s configuration is not here: its part stays untried.`);
  if (values.check === true) await check(own, official ?? [], Number(values.seed ?? FIXED_SEED + 1));
  else await write(own, official);
}

async function write(own: readonly string[], official: readonly string[] | null): Promise<void> {
  const sources = [...new Set([...own, ...(official ?? [])])];
  const all = await passing(sources, 'all');
  const short = await passing(
    sources.filter((source) => !all.has(source)),
    'short',
  );
  const lists = (list: readonly string[]): Lists => ({
    all: list.filter((source) => all.has(source)).map(hashOf),
    short: list.filter((source) => short.has(source)).map(hashOf),
    refused: list.filter((source) => !all.has(source) && !short.has(source)).map(hashOf),
  });
  const kept = { all: CERTIFIED.official, short: CERTIFIED_SHORT.official, refused: REFUSED.official };
  const parts = { official: official === null ? kept : lists(official), own: lists(own) };
  writeFileSync(TARGET, render(parts));
  for (const [name, { all, short, refused }] of Object.entries(parts))
    console.log(`${name}: ${all.length} for all texts, ${short.length} for short ones, ${refused.length} refused.`);
}

async function passing(sources: readonly string[], reach: Reach): Promise<ReadonlySet<string>> {
  const trial = { reach, seed: FIXED_SEED, rounds: WRITE_ROUNDS, maxCost: MAX_COST[reach].write };
  const verdicts = await tryAll(sources.map((source) => ({ source, ...trial })));
  for (const { source, fault } of verdicts)
    if (fault !== null) console.log(`not for ${reach} texts: ${source}\n  ${fault}`);
  return new Set(verdicts.filter(({ fault }) => fault === null).map(({ source }) => source));
}

async function check(own: readonly string[], official: readonly string[], seed: number): Promise<void> {
  const reachOf = new Map<string, Reach | null>();
  for (const [hashes, reach] of [
    [CERTIFIED, 'all'],
    [CERTIFIED_SHORT, 'short'],
    [REFUSED, null],
  ] as const)
    for (const hash of [...hashes.official, ...hashes.own]) reachOf.set(hash, reach);
  const unknown = own.filter((source) => !reachOf.has(hashOf(source)));
  for (const source of unknown) console.error(`not tried yet: ${source}`);
  const trials = [...new Set([...own, ...official])].flatMap((source): Trial[] => {
    const reach = reachOf.get(hashOf(source)) ?? null;
    if (reach === null) return [];
    return [FIXED_SEED, seed].map((it) => ({ source, reach, seed: it, rounds: 1, maxCost: MAX_COST[reach].check }));
  });
  const faults = (await tryAll(trials)).filter(({ fault }) => fault !== null);
  for (const { source, fault } of faults) console.error(`no longer certified: ${source}\n  ${fault}`);
  console.log(`${trials.length / 2} certified patterns tried again, seeds ${FIXED_SEED} and ${seed}.`);
  if (unknown.length + faults.length === 0) return;
  console.error('Run: node dist/scripts/certify-patterns.js, look at what changed, and build again.');
  process.exitCode = 1;
}

function verdictOf(trial: Trial): Verdict {
  return { source: trial.source, fault: tryPattern(trial) };
}

/** Each worker takes the next trial when it is done with one. */
async function tryAll(trials: readonly Trial[]): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  const left = trials.entries();
  const work = async (): Promise<void> => {
    let worker = new Worker(new URL(import.meta.url));
    for (const [position, trial] of left) {
      const verdict = await ask(worker, trial);
      verdicts[position] = verdict ?? { source: trial.source, fault: `not done after ${TRIAL_MS} ms` };
      if (verdict !== null) continue;
      await worker.terminate();
      worker = new Worker(new URL(import.meta.url));
    }
    await worker.terminate();
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  return verdicts;
}

/** Null when it takes too long, which a pattern that is certified does not. */
function ask(worker: Worker, trial: Trial): Promise<Verdict | null> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => resolve(null), TRIAL_MS);
    worker.removeAllListeners();
    worker.once('message', (verdict: Verdict) => {
      clearTimeout(late);
      resolve(verdict);
    });
    worker.once('error', reject);
    worker.postMessage(trial);
  });
}

async function officialPatterns(file: string | undefined): Promise<string[] | null> {
  if (file !== undefined) return patternsOf([readFileSync(file, 'utf8')]);
  const searchPath = [process.env.PATH ?? '', join(homedir(), 'go/bin')].join(delimiter);
  const gitleaksDir = join(homedir(), '.local/share/contextd/gitleaks');
  const found = await findOfficialConfig({ gitleaksDir, searchPath, home: homedir() });
  return found?.version === PINNED_VERSION ? patternsOf([found.file.text]) : null;
}

/** Every pattern of some configurations, those of an allowlist joined as gitleaks joins them. */
function patternsOf(texts: readonly string[]): string[] {
  const sources = new Set<string>();
  for (const text of texts) {
    const file = lowerKeys(parse(text));
    for (const owner of [file, ...tablesOf(file.get('rules'))]) {
      for (const key of ['regex', 'path']) addText(sources, owner.get(key));
      for (const list of [...tablesOf(owner.get('allowlist')), ...tablesOf(owner.get('allowlists'))])
        for (const key of ['regexes', 'paths']) addJoined(sources, list.get(key));
    }
  }
  return [...sources];
}

type Table = Map<string, TomlValue>;

function lowerKeys(table: TomlTable): Table {
  return new Map(Object.entries(table).map(([key, value]) => [key.toLowerCase(), value]));
}

function tablesOf(value: TomlValue | undefined): Table[] {
  const items = Array.isArray(value) ? value : [value];
  return items.flatMap((item) =>
    typeof item === 'object' && !Array.isArray(item) && !(item instanceof Date) ? [lowerKeys(item)] : [],
  );
}

function addText(sources: Set<string>, value: TomlValue | undefined): void {
  if (typeof value === 'string' && value !== '') sources.add(value);
}

function addJoined(sources: Set<string>, value: TomlValue | undefined): void {
  const list = Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
  if (list.length > 0) sources.add(`(?:${list.join('|')})`);
}

function hashOf(source: string): string {
  return createHash('sha256').update(source).digest('hex');
}

type Parts = Record<keyof PatternHashes, { [Kind in keyof Lists]: readonly string[] }>;

function render({ official, own }: Parts): string {
  const list = (hashes: readonly string[]): string =>
    hashes.length === 0
      ? '[]'
      : `[\n${[...hashes]
          .sort()
          .map((hash) => `    '${hash}',\n`)
          .join('')}  ]`;
  const pair = (kind: keyof Lists): string => `{\n  official: ${list(official[kind])},\n  own: ${list(own[kind])},\n}`;
  return `// Written by scripts/certify-patterns.ts.

/** sha256 of patterns, of gitleaks' official configuration and of our own rules. */
export interface PatternHashes {
  readonly official: readonly string[];
  readonly own: readonly string[];
}

/** May run as JavaScript regular expressions. */
export const CERTIFIED: PatternHashes = ${pair('all')};

/** May do so on short texts. */
export const CERTIFIED_SHORT: PatternHashes = ${pair('short')};

/** Tried, and left to re2js. */
export const REFUSED: PatternHashes = ${pair('refused')};
`;
}
