import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { loadConfig, readConfigFile } from '../../../config/load.ts';
import { type Paths, resolvePaths } from '../../../config/paths.ts';
import { isErrno } from '../../../core/errors.ts';
import type { JsonObject } from '../../../core/json.ts';
import { withClient } from '../../client.ts';
import type { CliContext } from '../../context.ts';
import { ensureRunning } from '../../daemon/launch.ts';
import { stopDaemon } from '../../daemon/stop.ts';

/** Where a proof happens. */
export interface ProofPlace {
  /** CONTEXTD_HOME of the daemon that serves the proof. */
  readonly contextdHome: string;
  /** HOME of the clients. */
  readonly home: string;
  /** Where clients put temporary files, such as the output of background commands. */
  readonly temporary: string;
}

/**
 * Runs a proof with a daemon of its own, which has this machine's settings and knows the project. Sessions, records and undo
 * entries of the proof are that daemon's, and go with it, however the proof ends.
 */
export async function inProofPlace<T>(
  context: CliContext,
  root: string,
  prove: (place: ProofPlace) => Promise<T>,
): Promise<T> {
  await loadConfig(context.paths);
  const settings = await readConfigFile(context.paths);
  const base = mkdtempSync(join(tmpdir(), 'contextd-'));
  const home = join(base, 'home');
  const place = { contextdHome: join(base, 'contextd'), home, temporary: join(home, 'tmp') };
  const own = ownContext(context, place.contextdHome);
  const release = holdSignals();
  // OpenCode keeps an id of the repository there.
  const idOfOpenCode = join(root, '.git', 'opencode');
  const hadId = existsSync(idOfOpenCode);
  try {
    mkdirSync(place.temporary, { recursive: true });
    writeSettings(own.paths, settings);
    await ensureRunning(own);
    context.signal.throwIfAborted();
    await withClient(own.paths, (client) => client.registerProject({ root }));
    return await prove(place);
  } finally {
    endProcessesOf(place.home);
    await stopDaemon(own, { isRestart: false, confirmJobs: () => Promise.resolve() });
    rmSync(base, { recursive: true, force: true });
    if (!hadId && existsSync(idOfOpenCode)) rmSync(idOfOpenCode);
    release();
  }
}

/** Not ended by the signal of the command: the daemon must be stopped then too. */
function ownContext(context: CliContext, contextdHome: string): CliContext {
  const env = { ...context.env, contextdHome };
  const paths = resolvePaths(env, context.paths.installRoot);
  return { ...context, env, paths, signal: new AbortController().signal };
}

/** One daemon of a machine has the port of the HTTP door. */
function writeSettings({ configFile }: Paths, settings: JsonObject): void {
  mkdirSync(dirname(configFile), { recursive: true, mode: 0o700 });
  writeFileSync(configFile, JSON.stringify({ ...settings, http: { enabled: false } }), { mode: 0o600 });
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A second signal, or a terminal that closes, must not end ctxd before the proof is taken away. */
function holdSignals(): () => void {
  const ignore = (): void => {};
  for (const name of SIGNALS) process.on(name, ignore);
  return () => {
    for (const name of SIGNALS) process.off(name, ignore);
  };
}

/** Ends what clients leave behind, also in sessions of its own: every process that has their HOME. */
export function endProcessesOf(home: string): void {
  if (process.platform !== 'linux') return;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
      if (environment.includes(`HOME=${home}`)) process.kill(Number(pid), 'SIGKILL');
    } catch (error) {
      if (!isErrno(error)) throw error;
    }
  }
}
