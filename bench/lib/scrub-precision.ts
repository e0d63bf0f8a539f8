import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ScrubEngine } from '../../src/scrub/hardened/engine.ts';
import { runProcess } from './measure.ts';
import { clean, dependencyFiles, type NamedFile, ownOutputs, soak } from './scrub-corpora.ts';
import type { Fact } from './section.ts';

const SOAKS = 2000;
const CLEAN_TEXTS = 1500;

/** How much is masked that is no secret, beside gitleaks if there is one. */
export async function precisionFacts(engine: ScrubEngine, gitleaks: string | null): Promise<Fact[]> {
  return [
    ...(await falseMasks('files of node_modules', dependencyFiles(), engine, gitleaks)),
    ...(await falseMasks('own outputs', ownOutputs(), engine, gitleaks)),
    cleanFact(engine),
    soakFact(engine),
  ];
}

async function falseMasks(
  kind: string,
  files: readonly NamedFile[],
  engine: ScrubEngine,
  gitleaks: string | null,
): Promise<Fact[]> {
  const counts = files.map(({ text }) => engine.scan(text).length);
  const touched = counts.filter((count) => count > 0).length;
  const spans = counts.reduce((sum, count) => sum + count, 0);
  const peer = gitleaks === null ? 'gitleaks not installed' : `gitleaks ${await touchedBy(gitleaks, files)}`;
  return [{ name: `${kind} with masks`, value: `${touched} of ${files.length}, ${spans} spans; ${peer}` }];
}

/** Files in which gitleaks finds something. */
async function touchedBy(program: string, files: readonly NamedFile[]): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'bench-precision-'));
  try {
    for (const [at, { text }] of files.entries()) writeFileSync(join(dir, `${at}.txt`), text);
    const report = join(dir, 'report.json');
    const args = ['dir', dir, '--no-banner', '--log-level=error', '--exit-code=0', '--max-decode-depth=5'];
    await runProcess(program, [...args, '--report-format=json', `--report-path=${report}`]);
    const found: { File: string }[] = JSON.parse(readFileSync(report, 'utf8'));
    return new Set(found.map(({ File }) => File)).size;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function cleanFact(engine: ScrubEngine): Fact {
  const texts = Array.from({ length: CLEAN_TEXTS }, clean);
  const wrong = texts.filter((text) => engine.scan(text).length > 0).length;
  return { name: 'clean texts with masks (aim 1 %)', value: percent(wrong, CLEAN_TEXTS) };
}

function soakFact(engine: ScrubEngine): Fact {
  let lost = 0;
  for (let i = 0; i < SOAKS; i++) {
    const { text, start, end } = soak();
    if (engine.scan(text).some((found) => found.start < start || found.end > end)) lost += 1;
  }
  return { name: 'answers that lose a line beside a key (aim 0)', value: `${lost} of ${SOAKS}` };
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} % of ${whole}`;
}
