import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '#src/core/log.js';
import { createCertificate } from '#src/protocol/plugin/certificate.js';
import { connectPlugin, pluginEnvironment } from '#src/runner/plugin/connect-plugin.js';
import type { PluginConnection } from '#src/runner/plugin/plugin-connection.js';
import type { PluginOptions, PluginProcess } from '#src/runner/plugin/plugin-process.js';

export interface StartedPlugin {
  child: ChildProcess;
  process: PluginProcess;
  options: PluginOptions;
  /** The output that came through `onOutput` so far. */
  output: { stdout: string; stderr: string };
  connect(): Promise<PluginConnection>;
}

/** Starts programs as plain children, unconfined, with what a plugin needs; `clean` ends all of them. */
export class PluginProcesses {
  readonly #started: PluginProcess[] = [];
  readonly #dirs: string[] = [];

  start(argv: readonly string[], own: Partial<PluginOptions> = {}): StartedPlugin {
    const { socketDir, privateDir } = this.#makeDirs();
    const output = { stdout: '', stderr: '' };
    const options: PluginOptions = {
      privateDir,
      insideSocketDir: socketDir,
      certificate: createCertificate(Date.now()),
      startTimeoutMs: 10_000,
      brokerTimeoutMs: 5_000,
      graceMs: 2_000,
      onOutput: (channel, data) => {
        output[channel] += data.toString();
      },
      logger: silentLogger,
      ...own,
    };
    const { child, process } = spawnPlugin(argv, socketDir, pluginEnvironment(options));
    this.#started.push(process);
    return { child, process, options, output, connect: () => connectPlugin(process, options) };
  }

  /** Starts a program of test/fixtures, by folder name. */
  fixture(name: string, args: readonly string[] = [], own: Partial<PluginOptions> = {}): StartedPlugin {
    return this.start([process.execPath, fixtureMain(name), ...args], own);
  }

  async clean(): Promise<void> {
    await Promise.all(this.#started.splice(0).map((started) => started.kill()));
    for (const dir of this.#dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
  }

  #makeDirs(): { socketDir: string; privateDir: string } {
    const root = mkdtempSync(join(tmpdir(), 'ctxd-plugin-'));
    this.#dirs.push(root);
    const dirs = { socketDir: join(root, 'sockets'), privateDir: join(root, 'private') };
    for (const dir of Object.values(dirs)) {
      mkdirSync(dir);
      chmodSync(dir, 0o700);
    }
    return dirs;
  }
}

export function fixtureMain(name: string): string {
  return join(import.meta.dirname, '..', 'fixtures', name, 'main.ts');
}

function spawnPlugin(
  [command = '', ...args]: readonly string[],
  socketDir: string,
  environment: Record<string, string>,
): { child: ChildProcess; process: PluginProcess } {
  const { PATH, NODE_V8_COVERAGE } = process.env;
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH, ...(NODE_V8_COVERAGE === undefined ? {} : { NODE_V8_COVERAGE }), ...environment },
  });
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('the child has no pipes');
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', () => resolve({ code: 127, signal: null }));
  });
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  return { child, process: { stdout, stderr, socketDir, exited, kill } };
}
