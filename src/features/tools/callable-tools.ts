import { createHash } from 'node:crypto';
import type { Catalog, CatalogTool } from '../../catalog/catalog.ts';
import type { InstalledSource } from '../../catalog/installed-source.ts';
import type { ToolAccess } from '../../catalog/tool-access.ts';
import { FOR_SERVERS } from '../../catalog/tool-list.ts';
import { ContextdError } from '../../core/errors.ts';
import { isSurface, SURFACES, type Surface } from '../../core/surfaces.ts';
import type { CallableTool__Output as CallableTool, CallableTools } from '../../protocol/generated/tool.ts';
import type { ToolWatch } from '../../protocol/management-contract.ts';
import { compareText } from '../../stores/consents.ts';
import type { Project, ProjectStore } from '../../stores/projects.ts';
import type { PrimitiveCatalogues } from '../primitives/primitive-catalogues.ts';
import { requireProject } from '../projects/require-project.ts';
import type { ToolCatalogues, ToolEntry } from '../routing/tool-catalogues.ts';

export interface CallableToolDeps {
  catalog: Pick<Catalog, 'find' | 'verify'>;
  installed: Pick<InstalledSource, 'follow'>;
  /** Tells when the tools of MCP servers change. */
  upstreams: Pick<InstalledSource, 'follow'>;
  projects: ProjectStore;
  access: Pick<ToolAccess, 'mayUse'>;
  catalogues: Pick<ToolCatalogues, 'of'>;
  primitives: Pick<PrimitiveCatalogues, 'of'>;
  /** For a client that names no surface. */
  standardSurface: Surface;
}

/** What a surface shows of a project, as soon as its version is another than the known one. */
export async function watchTools(
  { root, knownVersion, surface, signal }: ToolWatch,
  deps: CallableToolDeps,
): Promise<CallableTools> {
  for (;;) {
    // Followed before the tools are read, so that no change between the two is missed.
    const changed = nextChange([deps.installed, deps.upstreams], signal);
    const found = await callableTools(root, surfaceNamed(surface, deps), deps);
    if (found.version !== knownVersion) {
      changed.cancel();
      return found;
    }
    await changed.happened;
  }
}

function surfaceNamed(name: string, { standardSurface }: CallableToolDeps): Surface {
  if (name === '') return standardSurface;
  if (isSurface(name)) return name;
  throw new ContextdError('ARGS_INVALID', `there is no surface ${JSON.stringify(name.slice(0, 40))}`, {
    remedy: `Surfaces: ${SURFACES.join(', ')}.`,
  });
}

function nextChange(sources: readonly Pick<InstalledSource, 'follow'>[], signal: AbortSignal) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const abort = (): void => reject(signal.reason);
  const unfollows = sources.map(({ follow }) => follow(resolve));
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  const happened = promise.finally(() => {
    for (const unfollow of unfollows) unfollow();
    signal.removeEventListener('abort', abort);
  });
  // Only the caller that waits learns of it.
  happened.catch(() => {});
  return { happened, cancel: resolve };
}

async function callableTools(root: string, surface: Surface, deps: CallableToolDeps): Promise<CallableTools> {
  const project = await requireProject(root, deps.projects);
  const tools = (await LISTS[surface](project, deps)).sort((a, b) => compareText(a.name, b.name));
  return {
    tools,
    surface,
    version: createHash('sha256')
      .update(JSON.stringify([surface, tools]))
      .digest('hex'),
  };
}

type List = (project: Project, deps: CallableToolDeps) => Promise<CallableTool[]>;

/** What each surface lists. A tool that the caller may not use is on none. */
const LISTS: Readonly<Record<Surface, List>> = {
  async tools(project, deps) {
    const { offered } = await entriesOf(project, deps);
    const own = await namedTools(project, deps, ({ manifest }) => !manifest.isHost);
    const others = [...offered, ...(await primitiveTools(project, deps))];
    // A client that has all tools on its list needs no search. The tools for resources and prompts are found by it (CE-1.1).
    return others.length === 0 ? own : [...own, ...(await metaTools(['tool_browse', 'tool_execute'])(project, deps))];
  },
  async gateway(project, deps) {
    const names = ['tool_browse', 'tool_execute', 'tool_view', ...(await primitiveTools(project, deps))];
    return metaTools(names)(project, deps);
  },
  // Its four tools are the same in every project.
  compact: async () => [],
  async proxy(project, deps) {
    const { own, offered, listing } = await entriesOf(project, deps);
    const listed = [...own, ...offered].flatMap(({ card: { id } }) => {
      const entry = listing().get(id);
      return entry === undefined ? [] : [{ ...NOTHING, name: entry.name, purpose: entry.description, tool_id: id }];
    });
    const names = ['tool_hydrate', 'tool_execute', ...(await primitiveTools(project, deps))];
    return [...listed, ...(await metaTools(names)(project, deps))];
  },
  async passthrough(project, deps) {
    const { offered } = await entriesOf(project, deps);
    const own = await namedTools(project, deps, ({ manifest }) => !manifest.isHost);
    const named = offered.map(({ tool, card }) => ({
      ...callable(tool),
      name: tool.program.kind === 'upstream' ? tool.program.upstreamName : tool.manifest.name,
      tool_id: card.id,
      definition_json: tool.program.kind === 'upstream' ? JSON.stringify(tool.program.declared) : '',
    }));
    return firstOfEachName([...own, ...named]);
  },
};

/** The names of the tools for resources and for prompts, as far as the servers of the project have any (gateway surface §9.4). */
async function primitiveTools({ root }: Project, { primitives }: CallableToolDeps): Promise<string[]> {
  const found = await primitives.of(root);
  return Array.from(FOR_SERVERS).flatMap(([name, kind]) => (found[kind].entries.size > 0 ? [name] : []));
}

const NOTHING = { name: '', purpose: '', schema_json: '', tool_id: '', definition_json: '' } as const;

/** The daemon's own verbs of these names, as far as the project has accepted them. */
function metaTools(names: readonly string[]): List {
  return (project, deps) => namedTools(project, deps, ({ manifest }) => names.includes(manifest.name));
}

async function namedTools(
  project: Project,
  { catalog, access }: CallableToolDeps,
  isListed: (tool: CatalogTool) => boolean,
): Promise<CallableTool[]> {
  const found = project.tools.map(async ({ name }): Promise<CallableTool[]> => {
    const tool = catalog.find(project, name);
    if (tool === undefined || !isListed(tool) || !access.mayUse(project.root, tool)) return [];
    return (await isIntact(catalog.verify(tool))) ? [callable(tool)] : [];
  });
  return (await Promise.all(found)).flat();
}

function callable({ manifest, schemaJson }: CatalogTool): CallableTool {
  return { ...NOTHING, name: manifest.name, purpose: manifest.purpose, schema_json: schemaJson };
}

/** Two servers may have tools of the same name. The first keeps it, in the order of the catalogue (gateway surface §4.6). */
function firstOfEachName(tools: readonly CallableTool[]): CallableTool[] {
  const first = new Map<string, CallableTool>();
  for (const tool of tools) if (!first.has(tool.name)) first.set(tool.name, tool);
  return [...first.values()];
}

/** The tools of contextd and the installed ones without the daemon's verbs, and those of servers. */
async function entriesOf({ root }: Project, { catalogues }: CallableToolDeps) {
  const catalogue = await catalogues.of(root);
  const shown = [...catalogue.entries.values()].filter(({ tool }) => !tool.manifest.isHost);
  const isOffered = ({ tool }: ToolEntry): boolean => tool.program.kind === 'upstream';
  return {
    own: shown.filter((entry) => !isOffered(entry)),
    offered: shown.filter(isOffered),
    listing: () => catalogue.listing(),
  };
}

function isIntact(verified: Promise<void>): Promise<boolean> {
  return verified.then(
    () => true,
    () => false,
  );
}
