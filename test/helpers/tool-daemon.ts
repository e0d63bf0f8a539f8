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
 * A daemon, and a project in which a person installed the tool in `dir` and granted all that it asks for. `settings`: by
 * their keys, as `ctxd config set` takes them.
 */
export async function openToolDaemon(
  dir: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<ToolDaemon> {
  const at = await install({ init: false });
  const { grants } = JSON.parse(readFileSync(join(dir, 'tool.json'), 'utf8')) as { grants: string[] };
  for (const [key, value] of Object.entries({ ...settings, 'install.yes_grants': JSON.stringify(grants) }))
    await at.run(CTXD, ['config', 'set', key, value]);
  await at.run(CTXD, ['init', '--no-network', '--no-toolchains']);
  const { code, stderr } = await at.run(CTXD, ['tool', 'install', dir, '--yes']);
  if (code !== 0) throw new Error(`the tool was not installed: ${stderr}`);
  return {
    call: (tool, input) => at.call(tool, input),
    ask: (tool, input) => at.ask(tool, input),
    close: () => at.remove(),
  };
}
