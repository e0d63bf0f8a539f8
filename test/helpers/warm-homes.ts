import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
/** Set for the workers of a run. */
const RUN_DIR = 'CONTEXTD_TEST_RUN';
/** What Node compiled of the daemon and ctxd in earlier installations; each home would begin with none. */
const COMPILE_CACHE = join(ROOT, 'dist', 'test-compile-cache');

/** Global setup: a directory for the homes that the files of a run share, whose daemons are stopped at the end. */
export default function setup(): () => void {
  const dir = mkdtempSync(join(tmpdir(), 'contextd-run-'));
  process.env[RUN_DIR] = dir;
  return () => {
    for (const slot of readdirSync(dir)) {
      const env = { ...process.env, HOME: join(dir, slot), CONTEXTD_HOME: join(dir, slot, 'home') };
      execFileSync(join(ROOT, 'bin/ctxd'), ['server', 'stop'], { cwd: '/', env, stdio: 'ignore' });
    }
    rmSync(dir, { recursive: true, force: true });
  };
}

/** A home with the daemon that earlier files of this worker left running, and HOME around it. */
export function warmBase(): string {
  const dir = process.env[RUN_DIR];
  if (dir === undefined) throw new Error(`${RUN_DIR} is not set: the global setup did not run`);
  const base = join(dir, process.env.VITEST_POOL_ID ?? '0');
  mkdirSync(base, { recursive: true });
  return base;
}

/** What `ctxd tool install --yes` gives in a warm home: a ceiling of its own would cost a file a restart. */
const GRANTS = ['log', 'exec', 'scrub', 'memory_search', 'memory_store', 'checkpoint_save', 'checkpoint_restore'];

/** The settings of a warm home, before its daemon starts. */
export function setUpWarm(home: string): void {
  const file = join(home, 'config', 'config.json');
  if (existsSync(file)) return;
  mkdirSync(join(home, 'config'), { recursive: true, mode: 0o700 });
  writeFileSync(file, JSON.stringify({ install: { yes_grants: GRANTS }, http: { enabled: true } }), { mode: 0o600 });
}

/** Programs of a new home start from compiled code, as they do from the second start on in every home. */
export function shareCompileCache(home: string): void {
  // Coverage of functions from a cache is less precise.
  if (process.env.NODE_V8_COVERAGE !== undefined || existsSync(join(home, 'state'))) return;
  mkdirSync(COMPILE_CACHE, { recursive: true, mode: 0o700 });
  mkdirSync(join(home, 'state'), { recursive: true, mode: 0o700 });
  symlinkSync(COMPILE_CACHE, join(home, 'state', 'compile-cache'));
}
