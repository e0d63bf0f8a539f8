import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, loadavg, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DaemonClient, withClient } from '../../src/cli/client.ts';
import { readEnvironment } from '../../src/config/env.ts';
import { findInstallRoot } from '../../src/config/install-root.ts';
import { type Paths, resolvePaths } from '../../src/config/paths.ts';
import { newRequestId } from '../../src/core/ids.ts';
import type { StatusResponse__Output as StatusResponse } from '../../src/protocol/generated/management.ts';
import { PROTOCOL_VERSION } from '../../src/protocol/versions.ts';
import { runProcess } from './measure.ts';

/** The tool as an agent calls it, relative to the project. */
export const SAFE_BASH_LINK = '.claude/tools/safe_bash/safe_bash';

/** A daemon and a project for the benchmark, which neither sees nor disturbs the user's own. */
export interface BenchInstallation {
  root: string;
  home: string;
  project: string;
  env: Record<string, string>;
  paths: Paths;
  ctxd(...args: string[]): Promise<string>;
  daemonPid(): Promise<number>;
  withDaemon<T>(use: (daemon: Caller) => Promise<T>): Promise<T>;
  remove(): Promise<void>;
}

/** One open channel to the daemon. */
export interface Caller {
  /** Returns the envelope of a successful call; throws if the call fails. `session`: default "bench". */
  call(tool: string, input: object, session?: string): Promise<string>;
  /** Asks for what the daemon knows without looking at anything. */
  status(): Promise<StatusResponse>;
}

/** `root`: the installation to measure; default: the one that runs the benchmark. */
export async function installForBench(config: object, root = findInstallRoot()): Promise<BenchInstallation> {
  const home = mkdtempSync(join(tmpdir(), 'ctxb-'));
  const project = mkdtempSync(join(tmpdir(), 'bench-'));
  const env = { PATH: inheritedPath(), HOME: home, CONTEXTD_HOME: home };
  const paths = resolvePaths({ ...readEnvironment(), contextdHome: home }, root);
  const ctxd = (...args: string[]): Promise<string> => runProcess(join(root, 'bin/ctxd'), args, { cwd: project, env });
  const remove = async (): Promise<void> => {
    await ctxd('server', 'stop');
    for (const dir of [home, project]) rmSync(dir, { recursive: true, force: true });
  };
  try {
    for (const [key, value] of Object.entries(config)) await ctxd('config', 'set', key, String(value));
    await ctxd('init');
  } catch (cause) {
    await remove().catch(() => {});
    throw cause;
  }
  return {
    root,
    home,
    project,
    env,
    paths,
    ctxd,
    remove,
    daemonPid: async () => Number(JSON.parse(await ctxd('server', 'status', '--json')).pid),
    withDaemon: (use) => callerOver(paths, project, use),
  };
}

/** Opens a channel to a daemon, or to what listens as one. */
export function callerOver<T>(
  paths: Pick<Paths, 'certsDir' | 'socket' | 'startLock'>,
  project: string,
  use: (daemon: Caller) => Promise<T>,
): Promise<T> {
  return withClient(paths, (client) =>
    use({
      call: (tool, input, session = 'bench') => callTool(client, { project, session }, tool, input),
      status: () => client.serverStatus({}),
    }),
  );
}

interface Place {
  project: string;
  session: string;
}

async function callTool(client: DaemonClient, place: Place, tool: string, input: object): Promise<string> {
  const context = {
    request_id: newRequestId(Date.now()),
    project_root: place.project,
    session_id: place.session,
    protocol_version: PROTOCOL_VERSION,
  };
  const request = { tool, input_json: Buffer.from(JSON.stringify(input)), context };
  const response = await client.execute(request, new AbortController().signal);
  if (response.exit_code !== 0) throw new Error(`${tool} failed: ${response.error_line}`);
  return response.envelope_json.toString();
}

export function inheritedPath(): string {
  return process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin';
}

/** Resident memory of a process in MiB: current (`VmRSS`) or peak (`VmHWM`). Linux only; null elsewhere. */
export function residentMib(pid: number, field: 'VmRSS' | 'VmHWM'): number | null {
  try {
    const kib = new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kib === undefined ? null : Math.round(Number(kib) / 102.4) / 10;
  } catch {
    return null;
  }
}

/** The facts about the machine that the figures depend on. */
export function describeMachine(): Record<string, string | number> {
  return {
    date: new Date().toISOString(),
    processors: cpus().length,
    model: cpus()[0]?.model ?? 'unknown',
    kernel: release(),
    node: process.version,
    load: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  };
}
