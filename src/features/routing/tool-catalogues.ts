import type { Catalog, CatalogTool } from '../../catalog/catalog.ts';
import { MetaSchemas } from '../../catalog/server-arguments.ts';
import type { ToolAccess } from '../../catalog/tool-access.ts';
import { FOR_SERVERS } from '../../catalog/tool-list.ts';
import type { GatewaySettings } from '../../config/gateway-schema.ts';
import { ContextdError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Logger } from '../../core/log.ts';
import type { ChoiceCard } from '../../gateway/cards/card.ts';
import { listedDescription } from '../../gateway/cards/listed-description.ts';
import { cardOf } from '../../gateway/cards/make-card.ts';
import { ChoiceGraph } from '../../gateway/graph/choice-graph.ts';
import { type ClientNames, clientNames } from '../../gateway/ids/client-name.ts';
import { assertDistinct } from '../../gateway/ids/collisions.ts';
import { toolIdOf, withoutVersion } from '../../gateway/ids/upstream-name.ts';
import type { CatalogItem } from '../../gateway/item.ts';
import { Habits } from '../../gateway/router/habits.ts';
import { Router } from '../../gateway/router/router.ts';
import type { Project, ProjectStore } from '../../stores/projects.ts';
import type { ToolChoice, ToolChoices } from '../../stores/tool-choices.ts';
import type { TokenCounter } from '../../tokens/counter.ts';
import type { UpstreamServers, UpstreamSnapshot, UpstreamTool } from '../../upstream/contract.ts';
import { serverTool } from './server-tools.ts';

/** The tools of a project, ready to be searched and browsed. Never changes: other tools are another catalogue. */
export interface ToolCatalogue {
  readonly items: readonly CatalogItem[];
  readonly router: Router;
  readonly graph: ChoiceGraph;
  /** What was executed after which browse, as the router reads it. */
  readonly habits: Habits;
  /** By id. A tool whose card would be too long is missing here and everywhere. */
  readonly entries: ReadonlyMap<string, ToolEntry>;
  /** The servers of tools that wait for a person or are gone, by id with and without a hash. */
  readonly waiting: UpstreamSnapshot['waiting'];
  /** The names of its tools in a `tools/list` that shows all of them. */
  readonly clientNames: ClientNames;
  /** Its tools as such a list shows them, by id. Made at the first call. */
  listing(): ReadonlyMap<string, ListedTool>;
}

export interface ListedTool {
  readonly name: string;
  readonly description: string;
}

export interface ToolEntry {
  readonly tool: CatalogTool;
  readonly schema: JsonObject;
  /** Without a score. */
  readonly card: ChoiceCard;
}

export interface ToolCatalogueDeps {
  catalog: Pick<Catalog, 'list'>;
  access: Pick<ToolAccess, 'mayUse' | 'mayUsePrimitive'>;
  upstreams: Pick<UpstreamServers, 'snapshot' | 'notStarted'>;
  config: Pick<GatewaySettings, 'schemas'>;
  projects: Pick<ProjectStore, 'find'>;
  choices: Pick<ToolChoices, 'list'>;
  counter: TokenCounter;
  logger: Logger;
}

/** A choice as a router knows it. */
export interface ChoiceById {
  readonly words: readonly string[];
  readonly id: string;
}

type CatalogueDeps = ToolCatalogueDeps & { metaSchemas: MetaSchemas };

interface Kept {
  /** The names and contents of its tools. */
  key: string;
  catalogue: ToolCatalogue;
}

/** Projects whose catalogue is kept. Another one is made again when it is asked for. */
const KEPT_MAX = 16;

/** The namespaces of tool ids. */
export const NAMESPACES = { core: 'contextd', installed: 'installed' } as const;

/**
 * Below what a word in the name of a tool says (0.6 and more): whatever was executed before, a tool with the words of the query
 * in its name stays before one that has none of them.
 */
export const LEARNED_MOST = 0.4;

/** The catalogues of projects: made at the first browse, and again at the next one after the tools of the project changed. */
export class ToolCatalogues {
  readonly #deps: ToolCatalogueDeps;
  readonly #metaSchemas = new MetaSchemas();
  /** By root, the one that was used last at the end. */
  readonly #kept = new Map<string, Kept>();

  constructor(deps: ToolCatalogueDeps) {
    this.#deps = deps;
  }

  /** The same object as long as the project has the same tools. Throws PERMISSION_DENIED for a project that is not registered. */
  async of(root: string): Promise<ToolCatalogue> {
    const project = await this.#deps.projects.find(root);
    if (project === null) throw new ContextdError('PERMISSION_DENIED', `${root} is not a registered project`);
    const snapshot = await this.#deps.upstreams.snapshot(root);
    // No await from here until the catalogue is kept: a call sees the old tools or the new ones, never a mixture.
    const tools = acceptedTools(project, snapshot, this.#deps);
    const key = [snapshot.revision, ...tools.map(({ manifest, sha256 }) => `${manifest.name} ${sha256}`)].join('\n');
    const kept = this.#kept.get(root);
    if (kept?.key === key) return this.#keep(root, kept);
    const catalogue = catalogueOf(root, tools, snapshot, { ...this.#deps, metaSchemas: this.#metaSchemas });
    // Kept first, so that a choice that is made meanwhile is read by `refreshHabits`.
    this.#keep(root, { key, catalogue });
    await this.refreshHabits(root);
    return catalogue;
  }

  /** Why no tool has this id, if it is one of an MCP server that did not start; undefined if it is not, or is hidden. */
  notStarted(root: string, asked: string): ContextdError | undefined {
    const [server = ''] = asked.split(':', 1);
    const fault = this.#deps.access.mayUsePrimitive(root, asked)
      ? this.#deps.upstreams.notStarted(root, server)
      : undefined;
    if (fault === undefined) return undefined;
    const { message, remedy } = fault;
    return new ContextdError(
      'HYDRATE_FAILED',
      `${message}. So it has no tools`,
      remedy === undefined ? {} : { remedy },
    );
  }

  /** The choices by which the tools of a project are ranked, oldest first. Throws as `of` does. */
  async choicesOf(root: string): Promise<ChoiceById[]> {
    return withIds(await this.#deps.choices.list(root), await this.of(root));
  }

  /** Reads the choices of a project again. Does nothing before the first request for its catalogue. */
  async refreshHabits(root: string): Promise<void> {
    const catalogue = this.#kept.get(root)?.catalogue;
    if (catalogue !== undefined) replay(await this.#deps.choices.list(root), catalogue);
  }

  forget(root: string): void {
    this.#kept.delete(root);
  }

  #keep(root: string, kept: Kept): ToolCatalogue {
    this.#kept.delete(root);
    this.#kept.set(root, kept);
    for (const oldest of this.#kept.keys()) if (this.#kept.size > KEPT_MAX) this.#kept.delete(oldest);
    return kept.catalogue;
  }
}

/** In the versions that a person accepted, without those for what no server of the project has for this caller. */
function acceptedTools(
  project: Project,
  snapshot: UpstreamSnapshot,
  { catalog, access }: ToolCatalogueDeps,
): CatalogTool[] {
  const accepted = new Map(project.tools.map(({ name, bundleSha256 }) => [name, bundleSha256]));
  const isHere = ({ manifest, sha256 }: CatalogTool): boolean => accepted.get(manifest.name) === sha256;
  const mayUsePrimitive = (of: string, id: string): boolean => access.mayUsePrimitive(project.root, of, id);
  const isOfUse = ({ manifest: { name } }: CatalogTool): boolean => {
    const kind = FOR_SERVERS.get(name);
    return kind === undefined || snapshot[kind].some(({ server, id }) => mayUsePrimitive(`${server}:${kind}`, id));
  };
  return catalog.list().filter((tool) => isHere(tool) && isOfUse(tool) && access.mayUse(project.root, tool));
}

function catalogueOf(
  root: string,
  tools: readonly CatalogTool[],
  { tools: offered, waiting }: UpstreamSnapshot,
  deps: CatalogueDeps,
): ToolCatalogue {
  const entries = new Map<string, ToolEntry>();
  const own = tools.map((tool) => {
    const schema: JsonObject = JSON.parse(tool.schemaJson);
    return { tool, schema, item: itemOf(tool, schema) };
  });
  const items = [...own, ...serverItems(root, offered, deps)].flatMap(({ tool, schema, item }) => {
    const card = cardOrNull(item, deps);
    if (card === null) return [];
    entries.set(item.id, { tool, schema, card });
    // TOOL.md is searched too, but a card shows the purpose only.
    return [{ ...item, details: tool.toolMd }];
  });
  const ids = items.map(({ id }) => id);
  assertDistinct(ids);
  const habits = new Habits(undefined, { learnedMost: LEARNED_MOST });
  const router = new Router(items, { habits });
  const names = clientNames(ids);
  const listing = once(() => listingOf(ids, names, entries, deps.counter));
  const graph = new ChoiceGraph(items);
  const shown = waitingFor(waiting, (id) => deps.access.mayUsePrimitive(root, id));
  return { items, router, graph, habits, entries, waiting: shown, clientNames: names, listing };
}

/** What the caller may not use does not wait either, and without its hash only if another tool of the name does. */
function waitingFor(waiting: ToolCatalogue['waiting'], mayUse: (id: string) => boolean): ToolCatalogue['waiting'] {
  const whole = [...waiting].filter(([id]) => id !== withoutVersion(id) && mayUse(id));
  return new Map(whole.flatMap(([id, server]) => [id, withoutVersion(id)].map((one) => [one, server] as const)));
}

function listingOf(
  ids: readonly string[],
  { names }: ClientNames,
  entries: ReadonlyMap<string, ToolEntry>,
  counter: TokenCounter,
): Map<string, ListedTool> {
  const listed = ids.map((id, index): [string, ListedTool] => {
    const name = names[index] ?? id;
    return [id, { name, description: listedDescription(name, entries.get(id)?.tool.manifest.purpose ?? '', counter) }];
  });
  return new Map(listed);
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** The tools of servers, without those that the settings leave out. */
function serverItems(root: string, offered: readonly UpstreamTool[], deps: CatalogueDeps) {
  const { access, config, logger, metaSchemas } = deps;
  return offered.flatMap((one) => {
    const { tool, schema, fault } = serverTool(one, config.schemas, metaSchemas);
    if (fault !== null) logger.warn('catalogue.schema_fault', { tool: one.id, fault });
    if (!access.mayUse(root, tool) || (fault !== null && config.schemas.on_invalid === 'reject')) return [];
    return [{ tool, schema, item: serverItem(one, tool, schema) }];
  });
}

function serverItem(
  { id, server, upstreamName, definition }: UpstreamTool,
  tool: CatalogTool,
  schema: JsonObject,
): CatalogItem {
  const { readOnlyHint, destructiveHint } = definition.annotations ?? {};
  return {
    id,
    kind: 'tool',
    name: upstreamName,
    description: tool.manifest.purpose,
    namespace: server,
    // Hints of the server: no rule of contextd reads them.
    tags: [...(readOnlyHint === true ? ['read-only'] : []), ...(destructiveHint === true ? ['destructive'] : [])],
    inputSchema: schema,
    sideEffects: readOnlyHint !== true,
  };
}

function replay(choices: readonly ToolChoice[], catalogue: ToolCatalogue): void {
  catalogue.habits.clear();
  for (const { words, id } of withIds(choices, catalogue)) catalogue.habits.recordWords(words, id);
}

/** Choices with the present id of their tool. Those of tools that the project no longer has are kept, and say nothing. */
function withIds(choices: readonly ToolChoice[], { entries }: ToolCatalogue): ChoiceById[] {
  const ids = new Map(Array.from(entries, ([id, { tool }]) => [tool.manifest.name, id]));
  return choices.flatMap(({ words, tool }) => {
    const id = ids.get(tool);
    return id === undefined ? [] : [{ words, id }];
  });
}

function itemOf({ manifest, origin }: CatalogTool, inputSchema: JsonObject): CatalogItem {
  const { name, version, purpose, grants, effects } = manifest;
  const namespace = NAMESPACES[origin];
  return {
    id: toolIdOf({ name, version, inputSchema }, namespace),
    kind: 'tool',
    name,
    description: purpose,
    namespace,
    tags: grants,
    inputSchema,
    sideEffects: effects.files === 'write',
  };
}

function cardOrNull(item: CatalogItem, { counter, logger }: ToolCatalogueDeps): ChoiceCard | null {
  try {
    return cardOf(item, counter);
  } catch (thrown) {
    logger.warn('catalogue.left_out', { tool: item.name, cause: String(thrown) });
    return null;
  }
}
