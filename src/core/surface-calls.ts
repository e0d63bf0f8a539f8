import type { JsonObject } from './json.ts';
import type { Surface } from './surfaces.ts';

/** Where a client of MCP is. */
export interface CallerPlace {
  readonly surface: Surface;
  /** The tool that the client called, by its name in the catalogue. */
  readonly called: string;
  /** Whether it is a tool of contextd or an installed one that the daemon does not answer itself. */
  isListedByName(tool: string): boolean;
  /** Whether a person denied it to the caller, which does not learn that it exists. */
  isDenied(tool: string): boolean;
}

/** A tool on the list of a client, and its arguments. */
export interface SurfaceCall {
  readonly tool: string;
  readonly args: JsonObject | undefined;
}

type Names = Readonly<Record<string, string>>;

/** A tool under the name that a surface gives it, and what the surface calls its arguments where it renames them. */
interface Listed {
  readonly name: string;
  readonly args: Names;
}

const SAME: Names = {};
const BROWSE: Listed = { name: 'search', args: { path: 'namespace', top_k: 'limit' } };
const OPERATION: Names = { tool_id: 'operation', args: 'input' };

/** The tools that a surface lists in every project besides those that the daemon does not answer itself. */
const LISTED: Readonly<Record<Surface, Readonly<Record<string, Listed>>>> = {
  tools: {},
  gateway: {
    tool_browse: { name: 'tool_browse', args: SAME },
    tool_execute: { name: 'tool_execute', args: SAME },
    tool_view: { name: 'tool_view', args: { ref: 'handle', view: 'selector' } },
  },
  compact: {
    tool_browse: BROWSE,
    tool_hydrate: { name: 'schema', args: OPERATION },
    tool_execute: { name: 'call', args: OPERATION },
  },
  proxy: {
    tool_hydrate: { name: 'tool_hydrate', args: SAME },
    tool_execute: { name: 'tool_execute', args: SAME },
  },
  passthrough: {},
};

/** Surfaces that list the other tools under their own names, with their arguments. */
const IS_NAMED: Readonly<Record<Surface, boolean>> = {
  tools: true,
  gateway: false,
  compact: false,
  proxy: false,
  passthrough: true,
};

const PRIMITIVES: Names = {
  resource_browse: 'resource_read',
  resource_read: 'resource_browse',
  prompt_browse: 'prompt_get',
  prompt_get: 'prompt_browse',
};

/** The daemon's own tools that are on a list together if they are there: beside the tool that was called. */
const COMPANIONS: Readonly<Record<Surface, Names>> = {
  tools: { tool_browse: 'tool_execute', tool_execute: 'tool_browse' },
  gateway: PRIMITIVES,
  compact: SAME,
  proxy: PRIMITIVES,
  passthrough: SAME,
};

/** How the client calls the tool itself; undefined if the tool is not on its list. */
function listedAs(tool: string, { surface, called, isListedByName, isDenied }: CallerPlace): Listed | undefined {
  if (isDenied(tool)) return undefined;
  const listed = LISTED[surface][tool];
  if (listed !== undefined) return listed;
  // On passthrough a tool of a server is executed, although the client calls it by its name.
  const isCalled = called === tool && surface !== 'passthrough';
  const isBeside = isCalled || COMPANIONS[surface][called] === tool;
  const isOwn = IS_NAMED[surface] && isListedByName(tool);
  return isOwn || isBeside ? { name: tool, args: SAME } : undefined;
}

/**
 * Whether a client may call the tool by its name: it is on the list of the surface, or may be if the project has MCP servers. Any other
 * tool is reached through those (ADR-041). `isHost`: the daemon answers the tool itself. `isPassed`: the bridge of the client calls it.
 */
export function isCalledByName(
  tool: string,
  surface: Surface,
  { isHost, isPassed }: { isHost: boolean; isPassed: boolean },
): boolean {
  if (LISTED[surface][tool] !== undefined || (IS_NAMED[surface] && !isHost)) return true;
  const { [tool]: companion } = COMPANIONS[surface];
  return companion !== undefined || (isPassed && tool === 'tool_execute');
}

/** The call that reaches a tool from a surface: of the tool itself, or of the one that executes it. Null: none does. */
export function surfaceCall(tool: string, args: JsonObject | undefined, place: CallerPlace): SurfaceCall | null {
  const listed = listedAs(tool, place);
  if (listed !== undefined) return { tool: listed.name, args: args && renamed(args, listed.args) };
  const executor = listedAs('tool_execute', place);
  if (executor === undefined || place.isDenied(tool)) return null;
  const executed = { tool_id: tool, ...(args === undefined ? {} : { args }) };
  return { tool: executor.name, args: renamed(executed, executor.args) };
}

/** The name under which the client knows a tool that it called. */
export function nameOnSurface(tool: string, surface: Surface | undefined): string {
  return surface === undefined ? tool : (LISTED[surface][tool]?.name ?? tool);
}

/** What the client calls the arguments of the tool that it called. */
export function argumentNames({ surface, called }: Pick<CallerPlace, 'surface' | 'called'>): Names {
  return LISTED[surface][called]?.args ?? SAME;
}

function renamed(args: JsonObject, names: Names): JsonObject {
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [names[name] ?? name, value]));
}
