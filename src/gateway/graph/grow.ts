import type { CatalogItem } from '../item.ts';
import { clusterBags } from './clusters.ts';
import type { Entry } from './entries.ts';
import { countNames, nameOfGroup, nameOfRange } from './group-names.ts';
import { uniqueSegments } from './path.ts';

/** A place in the graph: a group of items, or one item. */
export interface GraphNode {
  /** The last segment of its path. Empty for the root. */
  readonly segment: string;
  readonly path: string;
  /** The item, if it is one. */
  readonly item: CatalogItem | null;
  /** By segment, in the order of the alphabet. Empty for an item. */
  readonly children: ReadonlyMap<string, GraphNode>;
  /** How many items are at or below it. */
  readonly items: number;
}

/** A group, or an item that is a group of its own, before it has a segment. */
interface Part {
  readonly slug: string;
  readonly entries: readonly Entry[];
}

/** From this share of all entries on, a cluster says too little, and groups are made by the alphabet. */
const CLUSTER_MOST = 0.75;

/** The node of all entries at a path, with at most `maxChildren` children at each node at and below it. */
export function grow(path: string, segment: string, entries: readonly Entry[], maxChildren: number): GraphNode {
  const parts = entries.length <= maxChildren ? entries.map(single) : divide(entries, maxChildren);
  const ordered = parts.toSorted((a, b) => (a.slug === b.slug ? orderOfFirst(a, b) : a.slug < b.slug ? -1 : 1));
  const segments = uniqueSegments(
    ordered.map(({ slug }) => slug),
    'unnamed',
  );
  const children = ordered.map((part, index) => nodeOf(path, segments[index] ?? '', part, maxChildren));
  return nodeWith(path, segment, children);
}

export function nodeWith(path: string, segment: string, children: readonly GraphNode[]): GraphNode {
  const sorted = children.toSorted((a, b) => (a.segment < b.segment ? -1 : 1));
  return {
    segment,
    path,
    item: null,
    children: new Map(sorted.map((child) => [child.segment, child])),
    items: children.reduce((sum, { items }) => sum + items, 0),
  };
}

function nodeOf(parent: string, segment: string, { entries }: Part, maxChildren: number): GraphNode {
  const path = `${parent}/${segment}`;
  const [first] = entries;
  if (first === undefined || entries.length > 1) return grow(path, segment, entries, maxChildren);
  return { segment, path, item: first.item, children: new Map(), items: 1 };
}

function single(entry: Entry): Part {
  return { slug: entry.slug, entries: [entry] };
}

function orderOfFirst(a: Part, b: Part): number {
  return (a.entries[0]?.item.id ?? '') < (b.entries[0]?.item.id ?? '') ? -1 : 1;
}

function divide(entries: readonly Entry[], maxChildren: number): Part[] {
  const count = Math.min(maxChildren, Math.max(2, Math.ceil(Math.sqrt(entries.length))));
  const groups = clusterBags(entries, count);
  const largest = groups.reduce((most, group) => Math.max(most, group.length), 0);
  if (largest > entries.length * CLUSTER_MOST) return byAlphabet(entries, count);
  const names = countNames(entries);
  return groups.map((group) => {
    const [only] = group;
    return only !== undefined && group.length === 1
      ? single(only)
      : { slug: nameOfGroup(group, names, entries.length), entries: group };
  });
}

function byAlphabet(entries: readonly Entry[], count: number): Part[] {
  const named = entries.toSorted((a, b) =>
    a.slug === b.slug ? (a.item.id < b.item.id ? -1 : 1) : a.slug < b.slug ? -1 : 1,
  );
  const size = Math.ceil(named.length / count);
  const starts = Array.from({ length: Math.ceil(named.length / size) }, (_, index) => index * size);
  return starts.map((start) => {
    const chunk = named.slice(start, start + size);
    const slugs = [named[start - 1], chunk[0], chunk.at(-1), named[start + size]].map((one) => one?.slug ?? '');
    const [before = '', first = '', last = '', after = ''] = slugs;
    return { slug: nameOfRange(before, first, last, after), entries: chunk };
  });
}
