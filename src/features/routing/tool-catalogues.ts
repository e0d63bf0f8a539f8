import type { Catalog, CatalogTool } from '../../catalog/catalog.ts';
import { ContextdError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Logger } from '../../core/log.ts';
import { shellNameOf } from '../../core/shell-names.ts';
import type { ChoiceCard } from '../../gateway/cards/card.ts';
import { cardOf } from '../../gateway/cards/make-card.ts';
import { ChoiceGraph } from '../../gateway/graph/choice-graph.ts';
import { assertDistinct } from '../../gateway/ids/collisions.ts';
import { toolIdOf } from '../../gateway/ids/upstream-name.ts';
import type { CatalogItem } from '../../gateway/item.ts';
import { Habits } from '../../gateway/router/habits.ts';
import { Router } from '../../gateway/router/router.ts';
import type { Project, ProjectStore } from '../../stores/projects.ts';
import type { ToolChoice, ToolChoices } from '../../stores/tool-choices.ts';
import { foreignLine } from '../../text/foreign-line.ts';
import type { TokenCounter } from '../../tokens/counter.ts';
import type { UpstreamServers, UpstreamTool } from '../../upstream/contract.ts';

/** The tools of a project, ready to be searched and browsed. Never changes: other tools are another catalogue. */
export interface ToolCatalogue {
  readonly items: readonly CatalogItem[];
  readonly router: Router;
  readonly graph: ChoiceGraph;
  /** What was executed after which browse, as the router reads it. */
  readonly habits: Habits;
  /** By id. A tool whose card would be too long is missing here and everywhere. */
  readonly entries: ReadonlyMap<string, ToolEntry>;
}

export interface ToolEntry {
  /** What a choice is remembered by: the name of a tool of contextd, the id of one of an MCP server. */
  readonly name: string;
  /** How a shell calls it. */
  readonly call: string;
  /** What it does, for an agent. */
  readonly manual: string;
  /** True for a tool that finds or reads others. */
  readonly isHost: boolean;
  /** Null for a tool of contextd. */
  readonly upstream: UpstreamTool | null;
  readonly schema: JsonObject;
  /** Without a score. */
  readonly card: ChoiceCard;
}

export interface ToolCatalogueDeps {
  catalog: Pick<Catalog, 'list'>;
  projects: Pick<ProjectStore, 'find'>;
  choices: Pick<ToolChoices, 'list'>;
  /** The MCP servers of projects. */
  upstreams: Pick<UpstreamServers, 'snapshot'>;
  counter: TokenCounter;
  logger: Logger;
}

/** A choice as a router knows it. */
export interface ChoiceById {
  readonly words: readonly string[];
  readonly id: string;
}

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
  /** By root, the one that was used last at the end. */
  readonly #kept = new Map<string, Kept>();

  constructor(deps: ToolCatalogueDeps) {
    this.#deps = deps;
  }

  /** The same object as long as the project has the same tools. Throws PERMISSION_DENIED for a project that is not registered. */
  async of(root: string): Promise<ToolCatalogue> {
    const project = await this.#deps.projects.find(root);
    if (project === null) throw new ContextdError('PERMISSION_DENIED', `${root} is not a registered project`);
    const tools = acceptedTools(project, this.#deps.catalog);
    const { revision, tools: served } = await this.#deps.upstreams.snapshot(root);
    const key = [...tools.map(({ manifest, sha256 }) => `${manifest.name} ${sha256}`), revision].join('\n');
    const kept = this.#kept.get(root);
    if (kept?.key === key) return this.#keep(root, kept);
    const catalogue = catalogueOf(tools, served, this.#deps);
    // Kept first, so that a choice that is made meanwhile is read by `refreshHabits`.
    this.#keep(root, { key, catalogue });
    await this.refreshHabits(root);
    return catalogue;
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

/** In the versions that a person accepted. */
function acceptedTools(project: Project, catalog: ToolCatalogueDeps['catalog']): CatalogTool[] {
  const accepted = new Map(project.tools.map(({ name, bundleSha256 }) => [name, bundleSha256]));
  return catalog.list().filter(({ manifest, sha256 }) => accepted.get(manifest.name) === sha256);
}

function catalogueOf(
  tools: readonly CatalogTool[],
  served: readonly UpstreamTool[],
  deps: ToolCatalogueDeps,
): ToolCatalogue {
  const entries = new Map<string, ToolEntry>();
  const items = [...tools.map(ownTool), ...served.map(servedTool)].flatMap(({ item, ...entry }) => {
    const card = cardOrNull(item, deps);
    if (card === null) return [];
    entries.set(item.id, { ...entry, card });
    // The manual of a tool of contextd is searched too, but a card shows the purpose only.
    return [entry.upstream === null ? { ...item, details: entry.manual } : item];
  });
  assertDistinct(items.map(({ id }) => id));
  const habits = new Habits(undefined, { learnedMost: LEARNED_MOST });
  return { items, router: new Router(items, { habits }), graph: new ChoiceGraph(items), habits, entries };
}

function ownTool(tool: CatalogTool): Omit<ToolEntry, 'card'> & { item: CatalogItem } {
  const schema: JsonObject = JSON.parse(tool.schemaJson);
  const { name, isHost } = tool.manifest;
  const manual = tool.toolMd.trimEnd();
  return { item: itemOf(tool, schema), name, call: shellNameOf(name), manual, isHost, upstream: null, schema };
}

function servedTool(tool: UpstreamTool): Omit<ToolEntry, 'card'> & { item: CatalogItem } {
  const { id, server, upstreamName, definition } = tool;
  const { title = '', annotations } = definition;
  const manual = (definition.description ?? title).split('\n').map(foreignLine).join('\n').trimEnd();
  const schema = JSON.parse(JSON.stringify(definition.inputSchema)) as JsonObject;
  // What a server says of itself is shown, and decides nothing.
  const hints = [
    ...(annotations?.readOnlyHint === true ? ['read-only'] : []),
    ...(annotations?.destructiveHint === true && annotations.readOnlyHint !== true ? ['destructive'] : []),
  ];
  const item: CatalogItem = {
    id,
    kind: 'tool',
    name: upstreamName,
    description: definition.description ?? title,
    namespace: server,
    tags: hints,
    inputSchema: schema,
    sideEffects: annotations?.readOnlyHint !== true,
  };
  return { item, name: id, call: `tool_execute '${id}'`, manual, isHost: false, upstream: tool, schema };
}

function replay(choices: readonly ToolChoice[], catalogue: ToolCatalogue): void {
  catalogue.habits.clear();
  for (const { words, id } of withIds(choices, catalogue)) catalogue.habits.recordWords(words, id);
}

/** Choices with the present id of their tool. Those of tools that the project no longer has are kept, and say nothing. */
function withIds(choices: readonly ToolChoice[], { entries }: ToolCatalogue): ChoiceById[] {
  const ids = new Map(Array.from(entries, ([id, { name }]) => [name, id]));
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
