import { TOOL_LIMITS } from './verify-tool/check.ts';

/** What is known of a tool when the list of tools is made. */
export interface ListedTool {
  name: string;
  /** False for an installed tool. */
  isCore: boolean;
  /** Tokens of its schema without blanks; null if it could not be read. */
  schemaTokens: number | null;
}

export interface ToolList<T extends ListedTool> {
  /** What an agent is shown, in the given order. */
  listed: readonly T[];
  /** What it finds with `tool_browse` in every project. */
  searched: readonly T[];
  /** Tokens of the schemas of the listed tools together. */
  tokens: number;
}

/**
 * Core tools for what only MCP servers have, and what it is. They are listed as installed tools are, if there is room; otherwise a
 * search finds them in the projects whose servers have it.
 */
export const FOR_SERVERS: ReadonlyMap<string, 'resources' | 'prompts'> = new Map([
  ['resource_browse', 'resources'],
  ['resource_read', 'resources'],
  ['prompt_browse', 'prompts'],
  ['prompt_get', 'prompts'],
]);

/** Whether the tool is listed in every project. */
function isAlways({ name, isCore }: ListedTool): boolean {
  return isCore && !FOR_SERVERS.has(name);
}

/**
 * CE-1.1: which tools of a project the texts for agents list. The schemas of these together stay within the bound, however many
 * are installed. Core tools are always listed, then the others with the shortest schemas, so that most are.
 */
export function listTools<T extends ListedTool>(tools: readonly T[]): ToolList<T> {
  const costOf = ({ schemaTokens }: T): number => schemaTokens ?? 0;
  let tokens = tools.reduce((sum, tool) => sum + (isAlways(tool) ? costOf(tool) : 0), 0);
  const listed = new Set(tools.filter(isAlways));
  const others = tools.filter((tool) => !isAlways(tool));
  const cheapestFirst = others.sort((a, b) => costOf(a) - costOf(b) || (a.name < b.name ? -1 : 1));
  for (const tool of cheapestFirst) {
    if (tokens + costOf(tool) > TOOL_LIMITS.allSchemasTokens.most) break;
    tokens += costOf(tool);
    listed.add(tool);
  }
  return {
    listed: tools.filter((tool) => listed.has(tool)),
    searched: tools.filter((tool) => !listed.has(tool) && (!tool.isCore || isAlways(tool))),
    tokens,
  };
}
