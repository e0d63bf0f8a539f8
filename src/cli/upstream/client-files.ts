import { parse as parseToml } from 'smol-toml';
import type { ServerFile } from '../../core/client-places.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { parseJson } from '../init/json-edit.ts';

/** A server in the configuration of a client. */
export interface ClientServer {
  readonly name: string;
  /** The keys that lead to it in the file. */
  readonly path: readonly string[];
  /** Empty for a server with a URL. */
  readonly command: readonly string[];
  readonly url: string;
  /** Names and values, in which variables of the client are not replaced yet. */
  readonly variables: Readonly<Record<string, string>>;
  /** Names of the headers that the client sends. */
  readonly headers: readonly string[];
}

/** A file in which clients look for servers. */
export interface ClientFile {
  /** Below the project, or below the HOME of the person. */
  readonly path: string;
  readonly client: string;
  readonly read: (text: string, project: string) => ClientServer[];
}

const read =
  (servers: (config: JsonObject, project: string) => [readonly string[], Json | undefined][]) =>
  (text: string, project: string): ClientServer[] =>
    servers(objectOf(parseJson(text)), project).flatMap(([path, found]) => serversOf(path, found));

const underKey = (key: string) => read((config) => [[[key], config[key]]]);
const fromToml = (text: string): ClientServer[] =>
  serversOf(['mcp_servers'], objectOf(JSON.parse(JSON.stringify(parseToml(text)))).mcp_servers);

/** Where each client keeps the servers of a project. Servers that are imported are taken out of these. */
export const PROJECT_FILES: readonly ClientFile[] = [
  { path: '.mcp.json', client: 'Claude Code', read: underKey('mcpServers') },
  { path: 'opencode.json', client: 'OpenCode', read: underKey('mcp') },
  { path: 'opencode.jsonc', client: 'OpenCode', read: underKey('mcp') },
  { path: '.cursor/mcp.json', client: 'Cursor', read: underKey('mcpServers') },
  { path: '.vscode/mcp.json', client: 'VS Code', read: underKey('servers') },
];

/** Where clients keep the servers of a person, for every project. These files are only read. */
export const PERSONAL_FILES: readonly ClientFile[] = Object.entries({
  '.claude.json': {
    client: 'Claude Code',
    read: read((config, project) => [
      [['mcpServers'], config.mcpServers],
      [['projects', project, 'mcpServers'], objectOf(objectOf(config.projects)[project]).mcpServers],
    ]),
  },
  '.config/opencode/opencode.json': { client: 'OpenCode', read: underKey('mcp') },
  '.config/Claude/claude_desktop_config.json': { client: 'Claude Desktop', read: underKey('mcpServers') },
  'Library/Application Support/Claude/claude_desktop_config.json': {
    client: 'Claude Desktop',
    read: underKey('mcpServers'),
  },
  '.cursor/mcp.json': { client: 'Cursor', read: underKey('mcpServers') },
  '.config/Code/User/mcp.json': { client: 'VS Code', read: underKey('servers') },
  '.codex/config.toml': { client: 'Codex', read: fromToml },
} satisfies Record<ServerFile, Omit<ClientFile, 'path'>>).map(([path, file]) => ({ path, ...file }));

/** Entries that are not a server, and those of contextd itself, are left out. */
function serversOf(path: readonly string[], found: Json | undefined): ClientServer[] {
  return Object.entries(objectOf(found)).flatMap(([name, entry]) => {
    const server = serverOf(objectOf(entry));
    if (server === null || isOwn(server)) return [];
    return [{ name, path: [...path, name], ...server }];
  });
}

function serverOf(entry: JsonObject): Omit<ClientServer, 'name' | 'path'> | null {
  const { command, args, url, env, environment, headers, http_headers: httpHeaders } = entry;
  // OpenCode has the arguments in the command.
  const words = [...(typeof command === 'string' ? [command] : textsOf(command)), ...textsOf(args)];
  const address = typeof url === 'string' ? url : '';
  if ((words.length === 0) === (address === '')) return null;
  return {
    command: words,
    url: address,
    variables: Object.fromEntries(
      Object.entries({ ...objectOf(env), ...objectOf(environment) }).map(([name, value]) => [name, String(value)]),
    ),
    headers: Object.keys({ ...objectOf(headers), ...objectOf(httpHeaders) }),
  };
}

/** `ctxd mcp serve` under any path, and the HTTP door, whose address is of this machine. */
function isOwn({ command, url }: Pick<ClientServer, 'command' | 'url'>): boolean {
  return command.some((word) => /(?:^|\/)ctxd$/.test(word)) || /^http:\/\/127\.0\.0\.1:\d+\/mcp\b/.test(url);
}

/**
 * The values of variables, with what clients put in place of `${NAME}`, `${NAME:-default}`, `${env:NAME}` and `{env:NAME}`. `missing`:
 * the names that are not set; `taken`: those whose values come from the shell.
 */
export function expandVariables(
  variables: Readonly<Record<string, string>>,
  lookUp: (name: string) => string | undefined,
): { values: Record<string, string>; missing: string[]; taken: string[] } {
  const [missing, taken] = [new Set<string>(), new Set<string>()];
  const expand = (text: string): string =>
    text.replace(REFERENCE, (_whole, shell?: string, fallback?: string, client?: string) => {
      const name = shell ?? client ?? '';
      const own = lookUp(name);
      if (own !== undefined) taken.add(name);
      const value = own ?? fallback;
      if (value === undefined) missing.add(name);
      return value ?? '';
    });
  const values = Object.fromEntries(Object.entries(variables).map(([name, text]) => [name, expand(text)]));
  return { values, missing: [...missing], taken: [...taken] };
}

const REFERENCE = /\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}|\{env:([A-Za-z_]\w*)\}/g;

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function textsOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
