import { getEncoding } from 'js-tiktoken';
import { runClaude, runOpenCode } from '../../../src/cli/doctor/clients/run-client.ts';
import type { Call } from '../../../src/cli/doctor/clients/wires.ts';
import type { Surface } from '../../../src/core/surfaces.ts';
import { configureServer, TOOL_PREFIX } from './as-server.ts';
import type { Clients } from './programs.ts';

const encoding = getEncoding('cl100k_base');

/** The definition of one tool, as a client sends it to its model. */
export interface Definition {
  /** The name that the server gave it. */
  name: string;
  /** cl100k_base tokens of the JSON. */
  tokens: number;
}

/** What the tools of the server cost a session before the model has said anything. */
export interface SessionStart {
  definitions: Definition[];
  /** Tokens of the names of tools whose definitions the client keeps back until its model asks for them. */
  deferredTokens: number;
}

/** Which client, and how it starts the server. */
export interface SessionOptions {
  client: keyof Clients;
  program: string;
  ctxd: string;
  project: string;
  env: Readonly<Record<string, string>>;
  surface: Surface;
}

/** A client waits for a server only with a call of it. */
const FIRST_CALLS: Readonly<Record<Surface, Call>> = {
  tools: { tool: 'safe_bash', input: { command: 'true' } },
  gateway: { tool: 'tool_browse', input: { path: '/' } },
  compact: { tool: 'search', input: {} },
  proxy: { tool: 'tool_hydrate', input: { tool_id: 'safe_bash' } },
  passthrough: { tool: 'safe_bash', input: { command: 'true' } },
};

/** On a busy machine Claude Code does not always wait for a server. */
const ATTEMPTS = 4;

/** Runs a conversation of one call, and counts what its last request says of the tools of the server. Throws if it knows none. */
export async function sessionStart(options: SessionOptions): Promise<SessionStart> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const started = await startOnce(options);
    if (started.definitions.length > 0 || started.deferredTokens > 0) return started;
  }
  throw new Error(`${options.client} did not wait for the server in ${ATTEMPTS} conversations`);
}

async function startOnce(options: SessionOptions): Promise<SessionStart> {
  const { client, program, ctxd, project, env, surface } = options;
  configureServer(project, { command: ctxd, args: ['mcp', 'serve', '--surface', surface], env });
  const prefix = TOOL_PREFIX[client];
  const { tool, input } = FIRST_CALLS[surface];
  const run = client === 'claude' ? runClaude : runOpenCode;
  const { tools, prompt } = await run(program, [{ tool: `${prefix}${tool}`, input }], { cwd: project, env });
  const definitions = serverDefinitions(tools, prefix);
  const named = new Set(prompt.match(new RegExp(`\\b${prefix}[\\w-]+`, 'g')));
  for (const { name } of definitions) named.delete(`${prefix}${name}`);
  return { definitions, deferredTokens: count([...named].join('\n')) };
}

export function totalTokens(definitions: readonly Definition[]): number {
  return definitions.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** The tools of the server among the definitions of a request. */
export function serverDefinitions(tools: readonly object[], prefix: string): Definition[] {
  return tools
    .filter((tool) => nameOf(tool).startsWith(prefix))
    .map((tool) => ({ name: nameOf(tool).slice(prefix.length), tokens: count(JSON.stringify(tool)) }));
}

/** The name of a tool as the model sees it: Anthropic has it at the top, OpenAI below `function`. */
export function nameOf(tool: object): string {
  if ('name' in tool && typeof tool.name === 'string') return tool.name;
  return 'function' in tool && typeof tool.function === 'object' && tool.function !== null ? nameOf(tool.function) : '';
}

function count(text: string): number {
  return encoding.encode(text, 'all').length;
}
