/** Files below HOME in which clients keep a person's MCP servers. */
export const SERVER_FILES = [
  '.claude.json',
  '.config/opencode/opencode.json',
  '.config/Claude/claude_desktop_config.json',
  'Library/Application Support/Claude/claude_desktop_config.json',
  '.cursor/mcp.json',
  '.config/Code/User/mcp.json',
  '.codex/config.toml',
] as const;

export type ServerFile = (typeof SERVER_FILES)[number];
