import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ScrubEngine } from '../../src/scrub/hardened/engine.ts';
import { runProcess } from './measure.ts';
import { clean, dependencyFiles, type NamedFile, ownOutputs, soak } from './scrub-corpora.ts';
import type { Figure } from './section.ts';

const SOAKS = 2000;
const CLEAN_TEXTS = 1500;

/** How much is masked that is no secret, beside gitleaks if there is one. */
export async function precisionFigures(engine: ScrubEngine, gitleaks: string | null): Promise<Figure[]> {
  return [
    await falseMasks('files of node_modules with masks', dependencyFiles(), { engine, gitleaks }),
    await falseMasks('own documents, sources, commits with masks', ownOutputs(), { engine, gitleaks }),
    cleanFigure(engine),
    soakFigure(engine),
  ];
}

/** Files with masks, of each corpus. */
const MOST_TOUCHED = 8;

async function falseMasks(
  name: string,
  files: readonly NamedFile[],
  { engine, gitleaks }: { engine: ScrubEngine; gitleaks: string | null },
): Promise<Figure> {
  const counts = files.map(({ text }) => engine.scan(text).length);
  const touched = counts.filter((count) => count > 0).length;
  const spans = counts.reduce((sum, count) => sum + count, 0);
  return {
    name,
    value: `${touched} of ${files.length}, ${spans} spans`,
    aim: `≤ ${MOST_TOUCHED}`,
    isMet: touched <= MOST_TOUCHED,
    beside: gitleaks === null ? '' : String(await touchedBy(gitleaks, files)),
  };
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

function cleanFigure(engine: ScrubEngine): Figure {
  const texts = Array.from({ length: CLEAN_TEXTS }, clean);
  const wrong = texts.filter((text) => engine.scan(text).length > 0).length;
  return {
    name: 'clean texts with masks',
    value: percent(wrong, CLEAN_TEXTS),
    aim: '≤ 1 %',
    isMet: wrong <= CLEAN_TEXTS / 100,
    beside: '',
  };
}

function soakFigure(engine: ScrubEngine): Figure {
  let lost = 0;
  for (let i = 0; i < SOAKS; i++) {
    const { text, start, end } = soak();
    if (engine.scan(text).some((found) => found.start < start || found.end > end)) lost += 1;
  }
  const value = `${lost} of ${SOAKS}`;
  return { name: 'answers that lose a line beside a key', value, aim: '0', isMet: lost === 0, beside: '' };
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} % of ${whole}`;
}
