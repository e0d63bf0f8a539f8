import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { parse, type TomlTable, type TomlValue } from 'smol-toml';
import {
  type Certificate,
  type CertifiedConfiguration,
  formatCertificates,
  hashOf,
  parseCertificates,
} from '../src/scrub/exact/certified-patterns.ts';
import { loadConfig, loadPackFile } from '../src/scrub/exact/load-config.ts';
import { type RuleFile, readRulePack } from '../src/scrub/exact/rule-pack.ts';
import { readOfficialConfig } from '../src/scrub/gitleaks/official-config.ts';
import { withTokenEnd } from '../src/scrub/hardened/token-ends.ts';
import { type Reach, type Trial, tryPattern } from './pattern-trial.ts';

// Writes src/scrub/exact/certified-patterns.txt: which patterns of our rules and of gitleaks' official configuration may
// run as JavaScript regular expressions, on all texts or on short ones, because neither an attack search nor a comparison
// with re2js found anything against them. With --check it tries the committed ones again and fails if one of them fails
// or if our rules have another hash than the list says. It uses the two seeds of the list, so that the gate says the same
// in each run; --seed N adds one, to look further.

const ROOT = join(import.meta.dirname, '../..');
const TARGET = join(ROOT, 'src/scrub/exact/certified-patterns.txt');
const WORKERS = 2;
const SEEDS = [20_261_121, 20_261_122];
/**
 * Microseconds of the processor per character. The limit for getting on the list is well below the limit for staying on
 * it, because a busy machine has less of its caches for each program. A short text cannot take long.
 */
const MAX_COST = { all: { write: 0.5, check: 4 }, short: { write: 1.2, check: 6 } };

/** Milliseconds for one trial, by the clock: only a search that never ends takes longer, on a busy machine too. */
const TRIAL_MS = 120_000;

interface Verdict {
  source: string;
  fault: string | null;
}

if (isMainThread) await main();
else parentPort?.on('message', (trial: Trial) => parentPort?.postMessage(verdictOf(trial)));

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { check: { type: 'boolean' }, seed: { type: 'string' } },
  });
  const pack = readRulePack(join(ROOT, 'src/scrub/rules'));
  const officialFile = readOfficialConfig();
  const sources = [...new Set([...patternsOf(pack.map(({ text }) => text)), ...hardenedPatterns(pack, officialFile)])];
  const own = { sha256: hashOf(sources.toSorted().join('\0')), sources };
  const official = officialFrom(officialFile.text);
  if (values.check === true)
    await check(own, official, values.seed === undefined ? SEEDS : [...SEEDS, Number(values.seed)]);
  else await write(own, official);
}

/** A configuration and every pattern in it. */
interface Configuration {
  sha256: string;
  sources: readonly string[];
}

function officialFrom(text: string): Configuration {
  return { sha256: hashOf(text), sources: patternsOf([text]) };
}

/** The patterns into which hardened mode turns those of rules, ours and gitleaks'. */
function hardenedPatterns(pack: readonly RuleFile[], official: RuleFile): string[] {
  const readFile = (path: string): never => {
    throw new Error(`${official.name} extends ${path}`);
  };
  const configs = [...pack.map(loadPackFile), loadConfig(official, { readFile, official: official.text })];
  return configs.flatMap(({ rules }) =>
    rules.flatMap((rule) => {
      const { regex } = withTokenEnd(rule);
      return regex === rule.regex ? [] : [regex];
    }),
  );
}

async function write(own: Configuration, official: Configuration): Promise<void> {
  const sources = [...new Set([...own.sources, ...official.sources])];
  const all = await passing(sources, 'all');
  const short = await passing(
    sources.filter((source) => !all.has(source)),
    'short',
  );
  const certify = ({ sha256, sources: ofOne }: Configuration): CertifiedConfiguration => ({
    sha256,
    patterns: new Map(
      ofOne.map((source): [string, Certificate] => [
        hashOf(source),
        all.has(source) ? 'all' : short.has(source) ? 'short' : 'refused',
      ]),
    ),
  });
  const list = { official: certify(official), own: certify(own) };
  writeFileSync(TARGET, formatCertificates(list));
  for (const [name, { patterns }] of Object.entries(list))
    for (const certificate of ['all', 'short', 'refused'] as const)
      console.log(`${name}: ${[...patterns.values()].filter((one) => one === certificate).length} ${certificate}.`);
}

function committed() {
  return parseCertificates(readFileSync(TARGET, 'utf8'));
}

async function passing(sources: readonly string[], reach: Reach): Promise<ReadonlySet<string>> {
  let left = sources;
  for (const seed of SEEDS) {
    const trial = { reach, seed, maxCost: MAX_COST[reach].write };
    const verdicts = await tryAll(left.map((source) => ({ source, ...trial })));
    for (const { source, fault } of verdicts)
      if (fault !== null) console.log(`not for ${reach} texts: ${source}\n  ${fault}`);
    left = verdicts.filter(({ fault }) => fault === null).map(({ source }) => source);
  }
  return new Set(left);
}

async function check(own: Configuration, official: Configuration, seeds: readonly number[]): Promise<void> {
  const list = committed();
  const isOwnListed = list.own.sha256 === own.sha256;
  if (!isOwnListed) console.error('The patterns of src/scrub/rules have changed since they were certified.');
  const certificates = new Map([...list.official.patterns, ...list.own.patterns]);
  const trials = [...new Set([...own.sources, ...official.sources])].flatMap((source): Trial[] => {
    const reach = certificates.get(hashOf(source)) ?? 'refused';
    if (reach === 'refused') return [];
    return seeds.map((seed) => ({ source, reach, seed, maxCost: MAX_COST[reach].check }));
  });
  const faults = (await tryAll(trials)).filter(({ fault }) => fault !== null);
  for (const { source, fault } of faults) console.error(`no longer certified: ${source}\n  ${fault}`);
  console.log(`${trials.length / seeds.length} certified patterns tried again, seeds ${seeds.join(', ')}.`);
  if (isOwnListed && faults.length === 0) return;
  console.error('Run node dist/scripts/certify-patterns.js, review what changed, and build again.');
  process.exitCode = 1;
}

function verdictOf(trial: Trial): Verdict {
  return { source: trial.source, fault: tryPattern(trial) };
}

/** Each worker takes the next trial when it has finished one. */
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

/** Returns null if the trial takes too long; a certified pattern never does. */
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
