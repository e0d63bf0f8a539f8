import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { readEnvironment } from '#src/config/env.js';
import { findInstallRoot } from '#src/config/install-root.js';
import { resolvePaths } from '#src/config/paths.js';

const VERSION = '8.30.1';
/** The module's path still names its old owner. */
const MODULE = 'github.com/zricethezav/gitleaks/v8';
const BUILD_TIMEOUT_MS = 300_000;

/** The real program, in the version that src/scrub/exact follows, and the configuration inside it. */
export type GitleaksBinary = { missing: null; program: string; officialConfig: string } | { missing: string };

/**
 * Finds gitleaks where install.sh puts it or on PATH, otherwise builds it once from its Go module into the user's cache.
 * `missing` says why it is missing; it is printed too, so that nobody takes a skipped test for a passed one.
 */
export function findGitleaks(): GitleaksBinary {
  try {
    return { missing: null, program: installed() ?? built(), officialConfig: readOfficialConfig() };
  } catch (thrown) {
    const missing = `gitleaks ${VERSION} and its configuration cannot be had (${firstLine(thrown)})`;
    console.warn(`SKIPPED: nothing was compared with gitleaks itself: ${missing}`);
    return { missing };
  }
}

/** Tries what install.sh installed, and every gitleaks on PATH, because the first may have another version. */
function installed(): string | undefined {
  const { userGitleaksDir } = resolvePaths(readEnvironment(), findInstallRoot());
  const directories = [userGitleaksDir, ...(process.env.PATH ?? '').split(delimiter)];
  const programs = directories.map((dir) => join(dir, 'gitleaks'));
  return programs.find((program) => existsSync(program) && isRightVersion(program));
}

/** A program built by `go install` does not know its version, but the Go command does. */
function isRightVersion(program: string): boolean {
  try {
    if (execFileSync(program, ['version'], { encoding: 'utf8', stdio: 'pipe' }).trim() === VERSION) return true;
    return go('version', '-m', program).includes(`\tv${VERSION}\t`);
  } catch {
    return false;
  }
}

function built(): string {
  const dir = join(homedir(), '.cache', 'contextd-tests', `gitleaks-${VERSION}`);
  const program = join(dir, 'gitleaks');
  if (existsSync(program)) return program;
  mkdirSync(dir, { recursive: true });
  execFileSync('go', ['install', '-trimpath', `${MODULE}@v${VERSION}`], {
    env: { ...process.env, GOBIN: dir, CGO_ENABLED: '0' },
    timeout: BUILD_TIMEOUT_MS,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return program;
}

function readOfficialConfig(): string {
  const dir = join(go('env', 'GOMODCACHE').trim(), `${MODULE}@v${VERSION}`);
  if (!existsSync(dir)) go('mod', 'download', `${MODULE}@v${VERSION}`);
  return readFileSync(join(dir, 'config', 'gitleaks.toml'), 'utf8');
}

function go(...args: readonly string[]): string {
  return execFileSync('go', args, { encoding: 'utf8', timeout: BUILD_TIMEOUT_MS, stdio: ['ignore', 'pipe', 'pipe'] });
}

function firstLine(thrown: unknown): string {
  const { stderr, message } = Object(thrown);
  const text = String(stderr ?? '') || String(message);
  return text.split('\n').find((line) => line !== '') ?? 'no reason given';
}
