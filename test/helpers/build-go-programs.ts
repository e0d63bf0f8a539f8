import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FIXTURES = join(import.meta.dirname, '..', 'fixtures');
/**
 * What a person may have set for Go must not change what the tests do. Without C and paths, and the same for all: what one
 * build compiles, the others and the gitleaks of install.sh find in Go's cache. A cold build takes half a minute of a processor.
 */
export const GO = {
  CGO_ENABLED: '0',
  GOTOOLCHAIN: 'local',
  GOFLAGS: '-mod=readonly -buildvcs=false -trimpath',
  GOWORK: 'off',
};
const BUILD_TIMEOUT_MS = 300_000;
const DOWNLOAD_TIMEOUT_MS = 120_000;

export type GoPrograms = { dir: string; remove(): void } & ({ missing: null } | { missing: string });

/**
 * Builds the Go programs of test/fixtures, by folder name, into a new directory. `missing` says why they cannot be
 * built on this machine; it is printed too, so that nobody takes a skipped test for a passed one. A program that does
 * not compile throws.
 */
export function buildGoPrograms(...names: readonly string[]): GoPrograms {
  const missing = findMissing(...names);
  const dir = mkdtempSync(join(tmpdir(), 'ctxd-go-'));
  const built = { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
  if (missing !== null) return { ...built, missing };
  for (const name of names) {
    go(name, ['build', '-o', join(dir, name), '.'], BUILD_TIMEOUT_MS);
  }
  return { ...built, missing: null };
}

/** Says and prints why the Go programs of test/fixtures cannot be built on this machine; null if they can. Builds nothing. */
export function findMissing(...names: readonly string[]): string | null {
  const missing = whatIsMissing(names);
  if (missing !== null) console.warn(`SKIPPED: nothing was compared with Go (${names.join(', ')}): ${missing}`);
  return missing;
}

function whatIsMissing(names: readonly string[]): string | null {
  try {
    for (const name of names) {
      // The go command refuses a module that asks for a newer Go than the installed one.
      go(name, ['list', '-m'], DOWNLOAD_TIMEOUT_MS);
    }
  } catch (thrown) {
    return `Go is not installed, or too old (${firstLine(thrown)})`;
  }
  try {
    for (const name of names) go(name, ['mod', 'download'], DOWNLOAD_TIMEOUT_MS);
  } catch (thrown) {
    return `its modules cannot be downloaded (${firstLine(thrown)})`;
  }
  return null;
}

function go(name: string, args: readonly string[], timeoutMs: number): void {
  const env = { ...process.env, ...GO };
  execFileSync('go', args, { cwd: join(FIXTURES, name), env, timeout: timeoutMs, stdio: ['ignore', 'ignore', 'pipe'] });
}

function firstLine(thrown: unknown): string {
  const { stderr, message } = Object(thrown);
  const text = Buffer.isBuffer(stderr) && stderr.length > 0 ? stderr.toString() : String(message);
  return text.split('\n').find((line) => line !== '') ?? 'no reason given';
}
