import type { ToolAccess } from '../../catalog/tool-access.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Logger } from '../../core/log.ts';
import type { ChoiceCard } from '../../gateway/cards/card.ts';
import { cardOf } from '../../gateway/cards/make-card.ts';
import { ChoiceGraph } from '../../gateway/graph/choice-graph.ts';
import type { CatalogItem } from '../../gateway/item.ts';
import { Router } from '../../gateway/router/router.ts';
import { uriKey } from '../../gateway/uri-key.ts';
import { parseUriTemplate, type UriTemplate } from '../../gateway/uri-template.ts';
import type { TokenCounter } from '../../tokens/counter.ts';
import type { UpstreamPrompt, UpstreamResource, UpstreamServers } from '../../upstream/contract.ts';
import { argumentsOf, type Declared, shownNames } from './declared.ts';

/** What MCP servers offer of one kind, ready to be searched and browsed. Kinds never mix (gateway surface §9.4). */
export interface PrimitiveCatalogue<T> {
  readonly router: Router;
  readonly graph: ChoiceGraph;
  /** By the key that a card shows. */
  readonly entries: ReadonlyMap<string, T & { readonly card: ChoiceCard }>;
}

export interface ResourceEntry {
  readonly resource: UpstreamResource;
  /** Null: it has one URI. */
  readonly template: UriTemplate | null;
  /** Of the template. */
  readonly declared: readonly Declared[];
}

export interface PromptEntry {
  readonly prompt: UpstreamPrompt;
  readonly declared: readonly Declared[];
}

/** Never changes: other definitions are another object. */
export interface ProjectPrimitives {
  readonly resources: PrimitiveCatalogue<ResourceEntry>;
  readonly prompts: PrimitiveCatalogue<PromptEntry>;
  /** By server: resources that the caller may not use, however they are named. */
  readonly denied: ReadonlyMap<string, DeniedResources>;
}

export interface DeniedResources {
  /** As `uriKey` writes them. */
  readonly keys: Set<string>;
  readonly templates: UriTemplate[];
}

export interface PrimitiveCatalogueDeps {
  upstreams: Pick<UpstreamServers, 'snapshot'>;
  access: Pick<ToolAccess, 'mayUsePrimitive'>;
  counter: TokenCounter;
  logger: Logger;
}

/** Projects whose catalogues are kept. */
const KEPT_MAX = 16;

/** The resources and prompts of projects that the caller may use: made at the first look, and again after the servers changed. */
export class PrimitiveCatalogues {
  readonly #deps: PrimitiveCatalogueDeps;
  /** By root, the one that was used last at the end. */
  readonly #kept = new Map<string, { revision: string; primitives: ProjectPrimitives }>();

  constructor(deps: PrimitiveCatalogueDeps) {
    this.#deps = deps;
  }

  /** The same object as long as the servers of the project offer the same. */
  async of(root: string): Promise<ProjectPrimitives> {
    const { revision, resources, prompts } = await this.#deps.upstreams.snapshot(root);
    const known = this.#kept.get(root);
    const kept = known?.revision === revision ? known : { revision, primitives: this.#make(root, resources, prompts) };
    this.#kept.delete(root);
    this.#kept.set(root, kept);
    for (const oldest of this.#kept.keys()) if (this.#kept.size > KEPT_MAX) this.#kept.delete(oldest);
    return kept.primitives;
  }

  #make(root: string, resources: readonly UpstreamResource[], prompts: readonly UpstreamPrompt[]): ProjectPrimitives {
    const may =
      (kind: string) =>
      ({ id, server }: { id: string; server: string }) =>
        this.#deps.access.mayUsePrimitive(root, `${server}:${kind}`, id);
    const [allowed, denied] = [resources.filter(may('resources')), resources.filter((one) => !may('resources')(one))];
    return {
      resources: catalogueOf(allowed.flatMap(resourceEntry), this.#deps),
      denied: deniedOf(denied),
      prompts: catalogueOf(prompts.filter(may('prompts')).map(promptEntry), this.#deps),
    };
  }
}

function catalogueOf<T>(
  found: readonly { item: CatalogItem; entry: T }[],
  { counter, logger }: PrimitiveCatalogueDeps,
): PrimitiveCatalogue<T> {
  const entries = new Map<string, T & { card: ChoiceCard }>();
  const items = found.flatMap(({ item, entry }) => {
    try {
      entries.set(item.id, { ...entry, card: cardOf(item, counter) });
      return [item];
    } catch (thrown) {
      logger.warn('catalogue.left_out', { id: item.id, cause: String(thrown) });
      return [];
    }
  });
  return { router: new Router(items, { keepsCopies: true }), graph: new ChoiceGraph(items), entries };
}

function deniedOf(resources: readonly UpstreamResource[]): Map<string, DeniedResources> {
  const denied = new Map<string, DeniedResources>();
  for (const { server, isTemplate, uri } of resources) {
    const { keys, templates } = denied.get(server) ?? { keys: new Set(), templates: [] };
    denied.set(server, { keys, templates });
    if (!isTemplate) keys.add(uriKey(uri));
    else templates.push(...[parseUriTemplate(uri)].filter((one) => one !== null));
  }
  return denied;
}

/** Nothing for a template that cannot be read. */
function resourceEntry(resource: UpstreamResource): { item: CatalogItem; entry: ResourceEntry }[] {
  const template = resource.isTemplate ? parseUriTemplate(resource.uri) : null;
  if (resource.isTemplate && template === null) return [];
  const declared = (template?.variables ?? []).map((variable) => ({ ...variable, description: '' }));
  const { mimeType } = resource.definition;
  const tags = [...(resource.isTemplate ? ['template'] : []), ...(typeof mimeType === 'string' ? [mimeType] : [])];
  const item = { ...itemOf(resource, 'resource', declared), tags, details: resource.uri };
  return [{ item, entry: { resource, template, declared } }];
}

function promptEntry(prompt: UpstreamPrompt): { item: CatalogItem; entry: PromptEntry } {
  const declared = argumentsOf(prompt.definition);
  return { item: itemOf(prompt, 'prompt', declared), entry: { prompt, declared } };
}

/** The names of what it takes come first, because a description is cut at its end. */
function itemOf(
  { id, server, definition }: { id: string; server: string; definition: JsonObject },
  kind: 'resource' | 'prompt',
  declared: readonly Declared[],
): CatalogItem {
  const { name, title, description } = definition;
  const [text] = [description, title].filter((one) => typeof one === 'string' && one.trim() !== '');
  const takes = declared.length === 0 ? '' : `takes ${shownNames(declared)}`;
  return {
    id,
    kind,
    name: typeof name === 'string' ? name : '',
    description: [takes, text ?? ''].filter((part) => part !== '').join(': '),
    namespace: server,
    tags: [],
  };
}
