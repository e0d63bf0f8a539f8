import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Answer, CTXD, type Finished, type Installation, install, ROOT } from './installation.ts';

export interface ToolDaemon {
  /** Calls a tool of the project through its link, with JSON or with words. */
  call(tool: string, input: object | string): Promise<Finished>;
  ask(tool: string, input: object): Promise<Answer>;
  close(): Promise<void>;
}

/**
 * A daemon, and a project that accepted the tool in `dir` with all that it asks for. `settings`: by their keys, as
 * `ctxd config set` takes them.
 */
export async function openToolDaemon(
  dir: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<ToolDaemon> {
  const outside = mkdtempSync(join(tmpdir(), 'ctxd-bundle-'));
  const at = await install({ init: false });
  for (const [key, value] of Object.entries(settings)) await at.run(CTXD, ['config', 'set', key, value]);
  const daemon = await startDaemonWithTools(at, bundleOf(dir, outside));
  await at.run(CTXD, ['init', '--no-network', '--no-toolchains']);
  return {
    call: (tool, input) => at.call(tool, input),
    ask: (tool, input) => at.ask(tool, input),
    async close() {
      await at.remove();
      if (daemon.exitCode === null) await once(daemon, 'exit');
      rmSync(outside, { recursive: true, force: true });
    },
  };
}

/** The files of a tool as a bundle: beside them, in `tools/<name>`, what describes the tool. */
function bundleOf(dir: string, outside: string): string {
  const bundle = join(outside, 'bundle');
  const described = join(bundle, 'tools', basename(dir));
  cpSync(dir, bundle, { recursive: true });
  mkdirSync(described, { recursive: true });
  for (const file of ['tool.json', 'schema.json', 'TOOL.md', 'TOOL_EXTENDED.md'])
    cpSync(join(dir, file), join(described, file));
  return bundle;
}

/**
 * Starts a daemon for which `ctxd init` also accepts the tools in `bundle/tools`, and waits until it answers. It ends with
 * `ctxd server stop`.
 */
export async function startDaemonWithTools(at: Installation, bundle: string): Promise<ChildProcess> {
  const program = join(ROOT, 'test/fixtures/daemon-with-tools.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, 'serve', '--foreground'], {
    env: { ...at.environment, CONTEXTD_TEST_TOOLS: bundle },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    said.push(line);
    if (line.includes('"event":"daemon.ready"')) return child;
  }
  throw new Error(`the daemon did not start: ${said.join('\n')}`);
}
