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
  /** What it finds with `tool_browse`. */
  searched: readonly T[];
  /** Tokens of the schemas of the listed tools together. */
  tokens: number;
}

/**
 * CE-1.1: which tools of a project the texts for agents list. The schemas of these together stay within the bound, however many
 * are installed. Core tools are always listed, then the installed ones with the shortest schemas, so that most are.
 */
export function listTools<T extends ListedTool>(tools: readonly T[]): ToolList<T> {
  const costOf = ({ schemaTokens }: T): number => schemaTokens ?? 0;
  let tokens = tools.reduce((sum, tool) => sum + (tool.isCore ? costOf(tool) : 0), 0);
  const listed = new Set(tools.filter(({ isCore }) => isCore));
  const others = tools.filter(({ isCore }) => !isCore);
  const cheapestFirst = others.sort((a, b) => costOf(a) - costOf(b) || (a.name < b.name ? -1 : 1));
  for (const tool of cheapestFirst) {
    if (tokens + costOf(tool) > TOOL_LIMITS.allSchemasTokens.most) break;
    tokens += costOf(tool);
    listed.add(tool);
  }
  return {
    listed: tools.filter((tool) => listed.has(tool)),
    searched: tools.filter((tool) => !listed.has(tool)),
    tokens,
  };
}
