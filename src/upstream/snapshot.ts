import type { Tool } from '@modelcontextprotocol/client';
import { toolIdOf } from '../gateway/ids/upstream-name.ts';
import type { UpstreamSnapshot, UpstreamTool } from './contract.ts';
import { definitionsHash, type SeenTool } from './definitions.ts';

/** What a person accepted of one server and the server still has. */
export interface AcceptedServer {
  readonly name: string;
  readonly tools: readonly SeenTool[];
  readonly files: UpstreamTool['files'];
}

export const EMPTY_SNAPSHOT: UpstreamSnapshot = { revision: '', tools: [], byId: new Map() };

/** The tools of a project in a fixed order. Of two with the same id, which differ in characters that no id has, neither is kept. */
export function snapshotOf(servers: readonly AcceptedServer[]): UpstreamSnapshot {
  const all = servers.flatMap((server) => server.tools.map((tool) => upstreamToolOf(server, tool)));
  const counts = new Map<string, number>();
  for (const { id } of all) counts.set(id, (counts.get(id) ?? 0) + 1);
  const tools = all.filter(({ id }) => counts.get(id) === 1).sort((a, b) => (a.id < b.id ? -1 : 1));
  const revision = definitionsHash(
    servers.map(({ name, tools: own, files }) => ({ name, text: `${files} ${definitionsHash(own)}` })),
  );
  return { revision, tools, byId: new Map(tools.map((tool) => [tool.id, tool])) };
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
