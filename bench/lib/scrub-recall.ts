import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findInstallRoot } from '../../src/config/install-root.ts';
import type { ScrubEngine } from '../../src/scrub/hardened/engine.ts';
import { runProcess } from './measure.ts';
import type { Figure } from './section.ts';

/** Texts made of each pattern, and values written in each way. */
const TEXTS_EACH = 5;
const SEED = 20_261_123;
/** What is to be masked: of everything that our rules know, of everyday shapes, of the ways to write a password. */
const SAMPLE_SHARE = 0.97;
const SHAPE_SHARE = 83 / 85;
const SYNTAX_SHARE = 50 / 57;

/** A text with one secret in it. */
interface Sample {
  text: string;
  secret: string;
  start: number;
}

type Random = () => number;

/** What the tests know of secrets. They run from their source, as Node reads it, because a build has no tests. */
interface TestSamples {
  RULE_SAMPLES: Readonly<Record<string, { match: readonly string[] }>>;
  EVERYDAY_SHAPES: Readonly<Record<string, string>>;
  SYNTAXES: Readonly<Record<string, (value: string) => string>>;
  PASSWORDS: Readonly<Record<string, (random: Random) => string>>;
  generateSample(pattern: string, random: Random): Sample;
  seededRandom(seed: number): Random;
}

/** How many generated secrets are masked, beside gitleaks if there is one. */
export async function recallFigures(engine: ScrubEngine, gitleaks: string | null): Promise<Figure[]> {
  const samples = await testSamples();
  const { RULE_SAMPLES, EVERYDAY_SHAPES, SYNTAXES, PASSWORDS, generateSample, seededRandom } = samples;
  const random = seededRandom(SEED);
  const patterns = Object.values(RULE_SAMPLES).flatMap(({ match }) => match);
  const filled = (pattern: string): Sample[] =>
    Array.from({ length: TEXTS_EACH }, () => generateSample(pattern, random));
  const written = Object.entries(PASSWORDS).map(([kind, password]): [string, number, Sample[][]] => [
    `ways to write a password: ${kind}`,
    SYNTAX_SHARE,
    Object.values(SYNTAXES).map((write) =>
      Array.from({ length: TEXTS_EACH }, () => {
        const secret = password(random);
        const text = write(secret);
        return { text, secret, start: text.indexOf(secret) };
      }),
    ),
  ]);
  const groups: [string, number, Sample[][]][] = [
    ['secrets made of the samples of our rules', SAMPLE_SHARE, patterns.flatMap(filled).map((sample) => [sample])],
    [`everyday shapes (all ${TEXTS_EACH} masked)`, SHAPE_SHARE, Object.values(EVERYDAY_SHAPES).map(filled)],
    ...written,
  ];
  const figures: Figure[] = [];
  for (const [name, share, cases] of groups) {
    const own = cases.filter((texts) => texts.every((sample) => isMasked(engine, sample))).length;
    const found = gitleaks === null ? null : await foundBy(gitleaks, cases.flat());
    const theirs = cases.filter((texts) => texts.every((sample) => found?.has(sample))).length;
    const least = Math.ceil(share * cases.length);
    const value = `${own} of ${cases.length}`;
    figures.push({ name, value, aim: `≥ ${least}`, isMet: own >= least, beside: found === null ? '' : String(theirs) });
  }
  return figures;
}

async function testSamples(): Promise<TestSamples> {
  const helpers = join(findInstallRoot(), 'test', 'helpers');
  const names = ['secret-samples.ts', 'everyday-shapes.ts', 'password-syntaxes.ts'];
  return Object.assign({}, ...(await Promise.all(names.map((name) => import(join(helpers, name))))));
}

function isMasked(engine: ScrubEngine, { text, secret, start }: Sample): boolean {
  return engine.scan(text).some((found) => found.start <= start && found.end >= start + secret.length);
}

/** The samples in which gitleaks reports the secret, or something that contains it. */
async function foundBy(program: string, samples: readonly Sample[]): Promise<ReadonlySet<Sample>> {
  const dir = mkdtempSync(join(tmpdir(), 'bench-recall-'));
  try {
    for (const [at, { text }] of samples.entries()) writeFileSync(join(dir, `${at}.txt`), text);
    const report = join(dir, 'report.json');
    const args = ['dir', dir, '--no-banner', '--log-level=error', '--exit-code=0', '--max-decode-depth=5'];
    await runProcess(program, [...args, '--report-format=json', `--report-path=${report}`]);
    const findings: { File: string; Match: string }[] = JSON.parse(readFileSync(report, 'utf8'));
    const found = new Set<Sample>();
    for (const { File, Match } of findings) {
      const sample = samples[Number(/([0-9]+)\.txt$/.exec(File)?.[1])];
      if (sample !== undefined && Match.includes(sample.secret)) found.add(sample);
    }
    return found;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
