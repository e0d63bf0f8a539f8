import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '../../src/core/log.ts';
import { Detector } from '../../src/scrub/exact/detector.ts';
import { loadConfig } from '../../src/scrub/exact/load-config.ts';
import type { RuleSources } from '../../src/scrub/exact/rule-pack.ts';
import { findBinary } from '../../src/scrub/gitleaks/binary.ts';
import { createEngine, type ScrubEngine } from '../../src/scrub/hardened/engine.ts';
import { readRuleSources } from '../../src/scrub/rule-sources.ts';
import { createScanner } from '../../src/scrub/scan/scanner.ts';
import { Guard } from '../../src/scrub/vault/guard.ts';
import { type Contender, race, runProcess, timed } from '../lib/measure.ts';
import { findPeer } from '../lib/peers.ts';
import { BAITS, INPUTS, RANDOM_BAITS, type ScrubInput } from '../lib/scrub-inputs.ts';
import { loadTables } from '../lib/scrub-load.ts';
import { precisionFacts } from '../lib/scrub-precision.ts';
import { recallFacts } from '../lib/scrub-recall.ts';
import { loadSecretlint } from '../lib/secretlint.ts';
import { type Fact, missingRow, rowsOf, type Section, sayStep, type Table } from '../lib/section.ts';

const SECRETS_IN_VAULT = 50;
/** An input of a megabyte can take seconds, with secretlint above all, so it gets fewer rounds. */
const LONG_ROUNDS = 3;
const LONG_CHARS = 500_000;

const EXACT = 'exact, in process';
const HARDENED = `hardened, ${SECRETS_IN_VAULT} secrets known`;
const WORKER = 'hardened, through the worker';

/** Searches each kind of text for secrets with our two engines, with the real gitleaks and with secretlint. */
export const scrubSection: Section = {
  async run(options) {
    const places = options.gitleaks;
    const sources = readRuleSources();
    const guard = guardWithSecrets();
    const started = performance.now();
    const engine = createEngine(sources.pack, { official: sources.official });
    const load = performance.now() - started;
    const detector = exactDetector(sources);
    const scanner = createScanner({
      config: { deadline_base_ms: 60_000, deadline_per_kb_ms: 100 },
      logger: silentLogger,
      readRules: async () => sources,
    });
    const begun = performance.now();
    await scanner.start();
    const workerReady = performance.now() - begun;
    const secretlint = await loadSecretlint();
    const gitleaks = (await findBinary(places))?.path ?? null;
    const dir = mkdtempSync(join(tmpdir(), 'bench-scrub-'));
    try {
      const tables: Table[] = [];
      for (const input of INPUTS) {
        sayStep(input.name);
        const rounds = input.text.length > LONG_CHARS ? Math.min(options.rounds, LONG_ROUNDS) : options.rounds;
        const contenders = [
          local(EXACT, () => void detector.detect(input.text)),
          local(HARDENED, () => hardened(engine, guard, input.text)),
          { name: WORKER, once: async () => void (await scanner.scan([{ text: input.text, name: undefined }])) },
          ...(gitleaks === null ? [] : [spawned(gitleaks, dir, input)]),
          ...(secretlint === null ? [] : [{ name: 'secretlint, in process', once: () => secretlint(input.text) }]),
        ];
        tables.push(tableOf(input, await race(contenders, rounds), { gitleaks, hasSecretlint: secretlint !== null }));
      }
      tables.push(...(await loadTables(gitleaks)));
      sayStep('what is masked, and what is missed');
      const facts: Fact[] = [
        { name: 'rules', value: engine.ruleCount },
        { name: 'read and compile the rules, ms', value: Math.round(load) },
        { name: 'worker ready, ms', value: Math.round(workerReady) },
        ...(await recallFacts(engine, gitleaks)),
        ...(await precisionFacts(engine, gitleaks)),
        ...(await baitFacts(detector, engine, guard)),
      ];
      return { tables, facts };
    } finally {
      await scanner.stop();
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

function exactDetector({ official }: RuleSources): Detector {
  const readFile = (path: string): string => {
    throw new Error(`the official configuration extends ${path}`);
  };
  return new Detector(loadConfig(official, { readFile, official: official.text }));
}

function guardWithSecrets(): Guard {
  const guard = new Guard();
  for (let i = 0; i < SECRETS_IN_VAULT; i++) guard.add(randomBytes(24).toString('base64url'), 'bench');
  return guard;
}

function hardened(engine: ScrubEngine, guard: Guard, text: string): void {
  engine.scan(text);
  guard.scan(text);
}

function local(name: string, work: () => void): Contender {
  return { name, once: async () => quiet(work()) };
}

/** Spawns gitleaks for each output, as a tool without its own engine would. */
function spawned(program: string, dir: string, { name, text }: ScrubInput): Contender {
  const file = join(dir, `${name.replaceAll(/\W+/g, '-')}.txt`);
  writeFileSync(file, text);
  const args = ['dir', file, '--no-banner', '--log-level=error', '--exit-code=0', '--max-decode-depth=5'];
  return { name: 'gitleaks, spawned', once: async () => void (await runProcess(program, args)) };
}

function tableOf(
  { name, exactMs, hardenedMs }: ScrubInput,
  measured: Parameters<typeof rowsOf>[0],
  peers: { gitleaks: string | null; hasSecretlint: boolean },
): Table {
  const secretlint = findPeer('secretlint').missing ?? 'not loaded';
  return {
    title: `${name}, ms`,
    base: HARDENED,
    rows: [
      ...rowsOf(measured),
      ...(peers.gitleaks === null ? [missingRow('gitleaks, spawned', 'not installed: run ./install.sh')] : []),
      ...(peers.hasSecretlint ? [] : [missingRow('secretlint, in process', secretlint)]),
    ],
    aims: [
      { row: EXACT, atMost: exactMs, times: null },
      { row: HARDENED, atMost: hardenedMs, times: null },
    ],
  };
}

/** Each of these texts is searched once, because they are made to be slow. */
async function baitFacts(detector: Detector, engine: ScrubEngine, guard: Guard): Promise<Fact[]> {
  const facts: Fact[] = [];
  for (const { name, text } of [...BAITS, ...RANDOM_BAITS]) {
    const exact = await timed(async () => quiet(detector.detect(text)));
    const all = await timed(async () => quiet(hardened(engine, guard, text)));
    const value = `exact ${Math.round(exact)}, hardened ${Math.round(all)}`;
    facts.push({ name: `1 MB of ${name}, ms`, value });
  }
  return facts;
}

/** A contender that does not measure itself returns this. */
function quiet(_done: unknown): undefined {}
