import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How a client starts an MCP server. */
export interface ServerEntry {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
}

/** The name of the server in both clients. */
const SERVER = 'contextd';

/** What the clients put before the name of a tool of the server. */
export const TOOL_PREFIX = { claude: `mcp__${SERVER}__`, opencode: `${SERVER}_` } as const;

/**
 * Makes a server the one of both clients in a project that `ctxd init` set up, and lets Claude Code call it, and its own shell
 * run `kill`, without asking.
 */
export function configureServer(project: string, { command, args, env }: ServerEntry): void {
  write(project, '.mcp.json', { mcpServers: { [SERVER]: { command, args, env } } });
  const settings = read(project, '.claude/settings.json');
  const allow = new Set([...settings.permissions.allow, `mcp__${SERVER}`, 'Bash(kill *)']);
  write(project, '.claude/settings.json', { ...settings, permissions: { ...settings.permissions, allow: [...allow] } });
  const local = { type: 'local', command: [command, ...args], enabled: true, environment: env };
  write(project, 'opencode.json', { ...read(project, 'opencode.json'), mcp: { [SERVER]: local } });
}

function read(project: string, name: string) {
  const file = join(project, name);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

function write(project: string, name: string, value: object): void {
  writeFileSync(join(project, name), JSON.stringify(value));
}
