/**
 * What an MCP client sees of contextd. `tools`: each tool of contextd and each installed one under its own name. `gateway`: three
 * tools that find, execute and view. `compact`: `search`, `schema`, `call` and `batch`. `proxy`: every tool by name and
 * purpose, without its schema. `passthrough`: every tool as its author describes it, also those of MCP servers.
 */
export const SURFACES = ['tools', 'gateway', 'compact', 'proxy', 'passthrough'] as const;
export type Surface = (typeof SURFACES)[number];
export const DEFAULT_SURFACE: Surface = 'tools';

export function isSurface(name: unknown): name is Surface {
  return SURFACES.some((one) => one === name);
}
