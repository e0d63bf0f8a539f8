import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inheritedPath } from './machine.ts';
import { runProcess } from './measure.ts';

/** mcporter with its keep-alive daemon running, connected to one server. */
export interface Mcporter {
  /** Runs one command through `mcporter call`, as a whole process. */
  callTrue(): Promise<void>;
  stop(): Promise<void>;
}

export async function startMcporter(program: string): Promise<Mcporter> {
  const home = mkdtempSync(join(tmpdir(), 'mcp-'));
  const config = join(home, 'mcporter.json');
  const server = fileURLToPath(new URL('./mcp-server-main.js', import.meta.url));
  const tiny = { command: process.execPath, args: [server], lifecycle: 'keep-alive' };
  writeFileSync(config, JSON.stringify({ mcpServers: { tiny }, imports: [] }));
  const env = { PATH: inheritedPath(), HOME: home };
  const mcporter = (...args: string[]): Promise<string> =>
    runProcess(process.execPath, [program, '--config', config, ...args], { cwd: home, env });
  await mcporter('daemon', 'start');
  return {
    async callTrue() {
      const said = await mcporter('call', 'tiny.run', 'command=true');
      if (!said.includes('exit_code')) throw new Error(`mcporter answered ${said}`);
    },
    async stop() {
      await mcporter('daemon', 'stop');
      rmSync(home, { recursive: true, force: true });
    },
  };
}
