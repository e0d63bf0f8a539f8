import type { Tool } from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import { distinctKeys } from '../gateway/ids/collisions.ts';
import { promptIdOf, resourceIdOf } from '../gateway/ids/primitive-id.ts';
import { toolIdOf, withoutVersion } from '../gateway/ids/upstream-name.ts';
import type { UpstreamPrompt, UpstreamResource, UpstreamSnapshot, UpstreamTool } from './contract.ts';
import { type DefinitionKind, definitionsHash, type SeenTool } from './definitions.ts';

/** What a person accepted of one server and the server still has, and its resources. */
export interface AcceptedServer {
  readonly name: string;
  readonly offers: readonly SeenTool[];
  readonly files: UpstreamTool['files'];
  /** What a person has not accepted, and what they accepted and is gone. */
  readonly waiting?: readonly SeenTool[];
}

export const EMPTY_SNAPSHOT: UpstreamSnapshot = {
  revision: '',
  tools: [],
  byId: new Map(),
  waiting: new Map(),
  resources: [],
  prompts: [],
};

/**
 * What a project has, in a fixed order. Of two tools with the same id, which differ in characters that no id has, neither is kept;
 * of resources and prompts all are, with keys of their own.
 */
export function snapshotOf(servers: readonly AcceptedServer[]): UpstreamSnapshot {
  const all = servers.flatMap((server) => ofKind(server, 'tool').map((tool) => upstreamToolOf(server, tool)));
  const counts = new Map<string, number>();
  for (const { id } of all) counts.set(id, (counts.get(id) ?? 0) + 1);
  const tools = all.filter(({ id }) => counts.get(id) === 1).sort((a, b) => (a.id < b.id ? -1 : 1));
  const revision = definitionsHash(
    servers.map(({ name, offers, files, waiting = [] }) => ({
      name,
      text: `${files} ${definitionsHash(offers)} ${definitionsHash(waiting)}`,
    })),
  );
  return {
    revision,
    tools,
    byId: new Map(tools.map((tool) => [tool.id, tool])),
    waiting: new Map(servers.flatMap(waitingOf)),
    resources: withKeys(servers.flatMap(resourcesOf)),
    prompts: withKeys(servers.flatMap(promptsOf)),
  };
}

function waitingOf(server: AcceptedServer): [id: string, server: string][] {
  const { waiting = [], name } = server;
  const tools = waiting.filter(({ kind = 'tool' }) => kind === 'tool').map((tool) => upstreamToolOf(server, tool));
  return tools.flatMap(({ id }) => [id, withoutVersion(id)].map((one): [string, string] => [one, name]));
}

function ofKind({ offers }: AcceptedServer, wanted: DefinitionKind): SeenTool[] {
  return offers.filter(({ kind = 'tool' }) => kind === wanted);
}

function resourcesOf(server: AcceptedServer): UpstreamResource[] {
  return (['resource', 'template'] as const).flatMap((kind) =>
    ofKind(server, kind).map(({ name: uri, text }) => {
      const definition: JsonObject = JSON.parse(text);
      const name = typeof definition.name === 'string' ? definition.name : '';
      const id = resourceIdOf({ uri, name }, server.name);
      return { id, server: server.name, isTemplate: kind === 'template', uri, definition };
    }),
  );
}

function promptsOf(server: AcceptedServer): UpstreamPrompt[] {
  return ofKind(server, 'prompt').map(({ name, text }) => {
    const definition: JsonObject = JSON.parse(text);
    const declared = Array.isArray(definition.arguments) ? definition.arguments : [];
    const argumentNames = declared.flatMap((one) => (isJsonObject(one) ? [String(one.name)] : []));
    const id = promptIdOf({ name, argumentNames }, server.name);
    return { id, server: server.name, upstreamName: name, definition };
  });
}

function withKeys<T extends { readonly id: string }>(entries: readonly T[]): T[] {
  const keys = distinctKeys(entries.map(({ id }) => id));
  return entries.map((entry, index) => ({ ...entry, id: keys[index] ?? entry.id }));
}

function upstreamToolOf({ name: server, files }: AcceptedServer, { name, text }: SeenTool): UpstreamTool {
  // It was checked by the SDK when it was listed.
  const definition = JSON.parse(text) as Tool;
  const { inputSchema, _meta } = definition;
  return {
    id: toolIdOf({ name, inputSchema, version: _meta?.version }, server),
    server,
    upstreamName: name,
    definition,
    files,
  };
}
