import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { type Detection, Detector } from '#src/scrub/exact/detector.js';
import { loadConfig } from '#src/scrub/exact/load-config.js';
import { RuleSet } from '#src/scrub/exact/rule-set.js';
import { isCovered } from '../helpers/covered-findings.ts';
import { findGitleaks } from '../helpers/gitleaks-binary.ts';
import { type GitleaksCase, generateCases } from '../helpers/gitleaks-cases.ts';
import { CONFIG_CASES, CONFIG_TEXTS, EXTENDED_FILES } from '../helpers/gitleaks-config-cases.ts';
import { seededRandom } from '../helpers/secret-samples.ts';

const CASES = 3000;
const TIMEOUT_MS = 120_000;

const binary = findGitleaks();
const { program, officialConfig } = binary.missing === null ? binary : { program: '', officialConfig: '' };
const dir = mkdtempSync(join(tmpdir(), 'ctxd-gitleaks-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** The findings of gitleaks in all files below `cases`, by path; undefined if it refuses the configuration. */
function askGitleaks(args: readonly string[]): Map<string, string[]> | undefined {
  const report = ['--report-format', 'json', '--report-path', 'out.json', '--exit-code', '0', '--no-banner'];
  try {
    const all = ['dir', 'cases', ...report, '--max-decode-depth', '5', ...args];
    execFileSync(program, all, { cwd: dir, stdio: ['ignore', 'ignore', 'ignore'], timeout: TIMEOUT_MS });
  } catch {
    return undefined;
  }
  const found = new Map<string, string[]>();
  for (const one of JSON.parse(readFileSync(join(dir, 'out.json'), 'utf8'))) {
    const { RuleID, Secret, Match, StartLine, EndLine, StartColumn, EndColumn, Tags } = one;
    const words = JSON.stringify([RuleID, Secret, Match, StartLine, EndLine, StartColumn, EndColumn, Tags ?? []]);
    found.set(one.File, [...(found.get(one.File) ?? []), words].sort());
  }
  return found;
}

function inGitleaksWords(detections: readonly Detection[]): string[] {
  return detections
    .map((one) => [
      one.rule,
      one.secret,
      one.match,
      one.startLine,
      one.endLine,
      one.startColumn,
      one.endColumn,
      one.tags,
    ])
    .map((words) => JSON.stringify(words))
    .sort();
}

function write(cases: readonly GitleaksCase[]): void {
  for (const { path, text } of cases) {
    mkdirSync(join(dir, dirname(path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
}

/** Our own findings for CONFIG_TEXTS, in the form of askGitleaks. */
function detectAll(name: string, toml: string): Map<string, string[]> | string {
  const found = new Map<string, string[]>();
  try {
    const readFile = (path: string): string => readFileSync(join(dir, path), 'utf8');
    const detector = new Detector(loadConfig({ name, text: toml }, { readFile, official: officialConfig }));
    for (const { path, text } of CONFIG_TEXTS) {
      const words = inGitleaksWords(detector.detect(text, { path }));
      if (words.length > 0) found.set(path, words);
    }
  } catch (thrown) {
    if (thrown instanceof ContextdError && thrown.code === 'SCHEMA_INVALID') return 'refused';
    throw thrown;
  }
  return found;
}

describe.skipIf(binary.missing !== null)('SEC-1.1 compared with gitleaks itself, the engine', () => {
  afterAll(() => rmSync(join(dir, 'cases'), { recursive: true, force: true }));

  it('finds the same in thousands of texts, and masks at least as much', { timeout: TIMEOUT_MS }, () => {
    const deps = { readFile: () => '', official: null };
    const config = loadConfig({ name: 'gitleaks.toml', text: officialConfig }, deps);
    const patterns = config.rules.map(({ regex }) => regex).filter((regex) => regex !== '');
    const cases = generateCases(patterns, CASES, seededRandom(20_261_121));
    write(cases);
    const expected = askGitleaks([]);
    const detector = new Detector(config, { compile: 'when used' });
    const rules = new RuleSet([config], { compile: 'when used' });
    let total = 0;
    for (const { path, text } of cases) {
      const detections = detector.detect(text, { path });
      total += detections.length;
      expect(inGitleaksWords(detections), JSON.stringify(text)).toEqual(expected?.get(path) ?? []);
      const masked = rules.find(text);
      const missed = detections.filter((finding) => !isCovered(finding, masked));
      expect(missed, JSON.stringify(text)).toEqual([]);
    }
    expect(total).toBeGreaterThan(CASES / 2);
    rmSync(join(dir, 'cases'), { recursive: true });
  });

  it('reads a configuration as gitleaks does, and refuses what gitleaks refuses', { timeout: TIMEOUT_MS }, () => {
    write(CONFIG_TEXTS);
    for (const [name, text] of Object.entries(EXTENDED_FILES)) writeFileSync(join(dir, name), text);
    const differences = CONFIG_CASES.flatMap(({ title, toml }) => {
      writeFileSync(join(dir, 'case.toml'), toml);
      const theirs = askGitleaks(['--config', 'case.toml']) ?? 'refused';
      const ours = detectAll('case.toml', toml);
      return isDeepStrictEqual(ours, theirs) ? [] : [{ title, ours, theirs }];
    });
    expect(differences).toEqual([]);
  });
});
