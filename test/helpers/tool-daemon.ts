import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Answer, CTXD, type Finished, install } from './installation.ts';

export interface ToolDaemon {
  /** Calls a tool of the project through its link, with JSON or with words. */
  call(tool: string, input: object | string): Promise<Finished>;
  ask(tool: string, input: object): Promise<Answer>;
  close(): Promise<void>;
}

/**
 * A daemon, and a project in which a person installed the tools in `dirs` and granted all that they ask for. `settings`: by
 * their keys, as `ctxd config set` takes them. Without settings and grants it is the daemon of this worker.
 */
export async function openToolDaemon(
  dirs: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<ToolDaemon> {
  const grants = dirs.flatMap((dir) => grantsOf(dir));
  const warm = grants.length + Object.keys(settings).length === 0;
  const all = { ...settings, 'install.yes_grants': JSON.stringify(grants) };
  const at = await install({ init: false, warm, ...(warm ? {} : { settings: all }) });
  await at.run(CTXD, ['init', '--no-network', '--no-toolchains']);
  for (const dir of dirs) {
    const { code, stderr } = await at.run(CTXD, ['tool', 'install', dir, '--yes']);
    if (code !== 0) throw new Error(`the tool was not installed: ${stderr}`);
  }
  return {
    call: (tool, input) => at.call(tool, input),
    ask: (tool, input) => at.ask(tool, input),
    close: () => at.remove(),
  };
}

function grantsOf(dir: string): string[] {
  const { grants } = JSON.parse(readFileSync(join(dir, 'tool.json'), 'utf8')) as { grants: string[] };
  return grants;
}
