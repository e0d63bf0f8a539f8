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
import { measureLongCalls } from '../lib/scrub-calls.ts';
import { BAITS, INPUTS, RANDOM_BAITS, type ScrubInput } from '../lib/scrub-inputs.ts';
import { kindFigures } from '../lib/scrub-kinds.ts';
import { measureLoad } from '../lib/scrub-load.ts';
import { precisionFigures } from '../lib/scrub-precision.ts';
import { recallFigures } from '../lib/scrub-recall.ts';
import { loadSecretlint } from '../lib/secretlint.ts';
import { type Fact, missingRow, rowsOf, type Section, sayStep, type Table } from '../lib/section.ts';

const SECRETS_IN_VAULT = 50;
/** An input of a megabyte can take seconds, with secretlint above all, so it gets fewer rounds. */
const LONG_ROUNDS = 2;
const LONG_WARM_UPS = 1;
const LONG_CHARS = 500_000;
/** gitleaks and secretlint take most of the time of a round. */
const MAX_ROUNDS = 20;

const EXACT = 'exact, in process';
const HARDENED = `hardened, ${SECRETS_IN_VAULT} secrets known`;
const WORKER = 'hardened, through the worker';

/**
 * Searches each kind of text for secrets with our two engines, with the real gitleaks and with secretlint. Ends with the
 * table of all aims.
 */
export const scrubSection: Section = {
  async run(options, report) {
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
      for (const input of INPUTS) {
        sayStep(input.name);
        const isLong = input.text.length > LONG_CHARS;
        const rounds = Math.min(options.rounds, isLong ? LONG_ROUNDS : MAX_ROUNDS);
        const contenders = [
          local(EXACT, () => void detector.detect(input.text)),
          local(HARDENED, () => hardened(engine, guard, input.text)),
          { name: WORKER, once: async () => void (await scanner.scan([{ text: input.text, name: undefined }])) },
          ...(gitleaks === null ? [] : [spawned(gitleaks, dir, input)]),
          ...(secretlint === null ? [] : [{ name: 'secretlint, in process', once: () => secretlint(input.text) }]),
        ];
        const measured = await race(contenders, rounds, ...(isLong ? [LONG_WARM_UPS] : []));
        const table = tableOf(input, measured, { gitleaks, hasSecretlint: secretlint !== null });
        report({ tables: [table] });
      }
      const figures = await measureLoad(gitleaks, (table) => report({ tables: [table] }));
      sayStep('long outputs as calls');
      await measureLongCalls(gitleaks, (table) => report({ tables: [table] }));
      sayStep('what is masked, and what is missed');
      figures.push(...(await recallFigures(engine, gitleaks)), ...(await precisionFigures(engine, gitleaks)));
      sayStep('kinds of mistakes');
      figures.push(...(await kindFigures(engine)));
      report({ figures });
      sayStep('texts that are made to be slow');
      for (const bait of [...BAITS, ...RANDOM_BAITS])
        report({ facts: [await baitFact(bait, { detector, engine, guard })] });
      return {
        facts: [
          { name: 'rules', value: engine.ruleCount },
          { name: 'read and compile the rules, ms', value: Math.round(load) },
          { name: 'worker ready, ms', value: Math.round(workerReady) },
        ],
      };
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

interface Searchers {
  detector: Detector;
  engine: ScrubEngine;
  guard: Guard;
}

/** Such a text is searched once, because it is made to be slow. */
async function baitFact({ name, text }: (typeof BAITS)[number], { detector, engine, guard }: Searchers): Promise<Fact> {
  const exact = await timed(async () => quiet(detector.detect(text)));
  const all = await timed(async () => quiet(hardened(engine, guard, text)));
  return { name: `1 MB of ${name}, ms`, value: `exact ${Math.round(exact)}, hardened ${Math.round(all)}` };
}

/** A contender that does not measure itself returns this. */
function quiet(_done: unknown): undefined {}
