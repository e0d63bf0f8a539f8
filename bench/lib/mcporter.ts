import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inheritedPath } from './machine.ts';
import { runProcess } from './measure.ts';

/** mcporter with its keep-alive daemon running, connected to one server. */
export interface Mcporter {
  /** Runs one call through `mcporter call`, as a whole process. Throws unless it prints `expected`. */
  call(tool: string, argument: string, expected: string): Promise<void>;
  stop(): Promise<void>;
}

/** `program`: the main file of mcporter; `server`: that of an MCP server over stdio. */
export async function startMcporter(program: string, server: string): Promise<Mcporter> {
  const home = mkdtempSync(join(tmpdir(), 'mcp-'));
  const config = join(home, 'mcporter.json');
  const bench = { command: process.execPath, args: [server], lifecycle: 'keep-alive' };
  writeFileSync(config, JSON.stringify({ mcpServers: { bench }, imports: [] }));
  const env = { PATH: inheritedPath(), HOME: home };
  const mcporter = (...args: string[]): Promise<string> =>
    runProcess(process.execPath, [program, '--config', config, ...args], { cwd: home, env });
  await mcporter('daemon', 'start');
  return {
    async call(tool, argument, expected) {
      const said = await mcporter('call', `bench.${tool}`, argument);
      if (!said.includes(expected)) throw new Error(`mcporter answered ${said}`);
    },
    async stop() {
      await mcporter('daemon', 'stop');
      rmSync(home, { recursive: true, force: true });
    },
  };
}
