import { ContextdError } from '../../core/errors.ts';
import { nearestNames } from '../../core/nearest-names.ts';
import type { CatalogItem } from '../item.ts';
import { type Entry, entriesOf } from './entries.ts';
import { type GraphNode, grow, nodeWith } from './grow.ts';
import { parsePath, shown, slugOf, uniqueSegments } from './path.ts';

export interface ChoiceGraphOptions {
  /** Children of a node below the root at most, from 2. Default 20. The root has one child for each namespace. */
  maxChildren?: number;
}

const MAX_CHILDREN = 20;
/** The namespace of items without one. */
const NO_NAMESPACE = 'other';

/**
 * A catalogue as a tree with paths. Each item has one path. The same items give the same tree, in whatever order they are
 * passed. Ids must be unique.
 */
export class ChoiceGraph {
  readonly root: GraphNode;
  readonly #paths = new Map<string, string>();

  constructor(items: readonly CatalogItem[], { maxChildren = MAX_CHILDREN }: ChoiceGraphOptions = {}) {
    this.root = rootOf(items, Math.max(2, maxChildren));
    this.#remember(this.root);
  }

  /**
   * The nodes at a path: the children of a group, or the one item. Throws PATH_INVALID if the path breaks the grammar, and
   * PATH_NOT_FOUND if it leads nowhere.
   */
  browse(path: string): readonly GraphNode[] {
    const node = this.nodeAt(path);
    return node.item === null ? [...node.children.values()] : [node];
  }

  /** Throws as `browse` does. */
  nodeAt(path: string): GraphNode {
    let node = this.root;
    for (const segment of parsePath(path)) {
      const child = node.children.get(segment);
      if (child === undefined) throw notFound(path, segment, node);
      node = child;
    }
    return node;
  }

  /** The path of an item, or undefined if the graph does not have it. */
  pathOf(id: string): string | undefined {
    return this.#paths.get(id);
  }

  #remember(node: GraphNode): void {
    if (node.item !== null) this.#paths.set(node.item.id, node.path);
    for (const child of node.children.values()) this.#remember(child);
  }
}

function rootOf(items: readonly CatalogItem[], maxChildren: number): GraphNode {
  const groups = new Map<string, Entry[]>();
  for (const entry of entriesOf(items)) {
    const namespace = entry.item.namespace.normalize('NFKC').toLowerCase() || NO_NAMESPACE;
    const group = groups.get(namespace);
    if (group === undefined) groups.set(namespace, [entry]);
    else group.push(entry);
  }
  const namespaces = [...groups.keys()].sort();
  const segments = uniqueSegments(namespaces.map(rootSlug), NO_NAMESPACE);
  const children = namespaces.map((namespace, index) => {
    const segment = segments[index] ?? NO_NAMESPACE;
    return grow(`/${segment}`, segment, groups.get(namespace) ?? [], maxChildren);
  });
  return nodeWith('/', '', children);
}

/** The first segment starts with a letter. */
function rootSlug(namespace: string): string {
  const slug = slugOf(namespace);
  return /^\d/.test(slug) ? slugOf(`n${slug}`) : slug;
}

function notFound(path: string, segment: string, parent: GraphNode): ContextdError {
  const names = [...parent.children.keys()];
  const near = nearestNames(segment, names).map((name) => `${parent.path === '/' ? '' : parent.path}/${name}`);
  const where = parent.item === null ? `${parent.path} has no ${segment}` : `${parent.path} is a single tool`;
  return new ContextdError('PATH_NOT_FOUND', `the path ${shown(path)} leads nowhere: ${where}`, {
    remedy: near.length > 0 ? `Did you mean ${near.join(' or ')}?` : `Browse ${parent.path} to see what it has.`,
    details: { path: shown(path) },
  });
}
