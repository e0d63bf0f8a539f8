import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { CatalogItem } from '../../src/gateway/item.ts';

/** Queries with known answers over one catalogue. */
export interface ToolSet {
  name: string;
  items: readonly CatalogItem[];
  queries: readonly ToolQuery[];
  /** R@5 to reach; null: only reported. */
  aim: number | null;
  /** What else was measured on it by others. */
  beside: string;
}

export interface ToolQuery {
  query: string;
  gold: readonly string[];
  /** Tools of the same name as one of `gold`, each of which is as good. Empty: only `gold` counts. */
  family: readonly string[];
}

/** The files that the section needs; those that a directory lacks. */
const FILES = [
  'contextweaver_catalog_83',
  'contextweaver_catalog_1328',
  'contextweaver_retrieval',
  'tool_catalog',
  'tool_retrieval',
].map((name) => `${name}.jsonl.gz`);

export function missingFiles(directory: string): string[] {
  return FILES.filter((file) => !existsSync(join(directory, file)));
}

/**
 * The sets of a directory. Half of the questions of BFCL, by a hash of their text, served for choosing weights: the other
 * half is what is reported.
 */
export function readToolSets(directory: string): ToolSet[] {
  const all = read(directory, 'tool_catalog').map(itemOf);
  const mcp = all.filter(({ id }) => id.startsWith('livemcp/'));
  const weaver = read(directory, 'contextweaver_retrieval').map(queryOf);
  const questions = read(directory, 'tool_retrieval');
  const of = (pattern: RegExp): ToolQuery[] =>
    questions.filter(({ source }) => pattern.test(String(source))).map(queryOf);
  const heldOut = (queries: readonly ToolQuery[]): ToolQuery[] => queries.filter(({ query }) => half(query) === 1);
  const [live, nonLive] = [of(/^bfcl-live/), of(/^bfcl-(?!live)/)];
  const set = (
    name: string,
    items: readonly CatalogItem[],
    queries: ToolQuery[],
    aim: number | null,
    beside: string,
  ) => ({
    name: `${name}, ${items.length} tools, ${queries.length} queries`,
    items,
    queries,
    aim,
    beside,
  });
  const published = 'contextweaver publishes';
  return [
    set('contextweaver', read(directory, 'contextweaver_catalog_83').map(itemOf), weaver, 0.88, `${published} .360`),
    set('contextweaver', read(directory, 'contextweaver_catalog_1328').map(itemOf), weaver, 0.8, `${published} .100`),
    set('BFCL live, held out', all, heldOut(live), 0.85, ''),
    set('BFCL live, all', all, live, null, ''),
    set('BFCL non-live, held out', all, heldOut(nonLive), 0.92, ''),
    set('BFCL non-live, all', all, nonLive, null, ''),
    set('LiveMCPBench steps', mcp, of(/^livemcpbench-step$/), 0.75, ''),
    set('LiveMCPBench steps', all, of(/^livemcpbench-step$/), null, ''),
    set('LiveMCPBench tasks', mcp, of(/^livemcpbench$/), null, ''),
    set('LiveMCPBench tasks', all, of(/^livemcpbench$/), null, ''),
  ];
}

/** The share of the right tools that are among the first five. */
export function recallAtFive({ gold, family }: ToolQuery, ids: readonly string[]): number {
  const top = ids.slice(0, 5);
  const isFound = (right: string): boolean =>
    top.some((id) => id === right || (nameOf(id) === nameOf(right) && family.includes(id)));
  return gold.filter(isFound).length / gold.length;
}

/** Tools of the same name have ids such as `bfcl/uber.ride#9`. */
function nameOf(id: string): string {
  return id.replace(/#\d+$/, '');
}

type Line = Readonly<Record<string, unknown>>;

function read(directory: string, name: string): Line[] {
  const text = gunzipSync(readFileSync(join(directory, `${name}.jsonl.gz`))).toString();
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function itemOf({ id, name, description, inputSchema, namespace, server, tags }: Line): CatalogItem {
  return {
    id: String(id),
    kind: 'tool',
    name: String(name),
    description: String(description ?? ''),
    namespace: String(namespace ?? server ?? ''),
    tags: textsOf(tags),
    ...(typeof inputSchema === 'object' && inputSchema !== null ? { inputSchema: { ...inputSchema } } : {}),
  };
}

function queryOf({ query, gold, gold_family: family }: Line): ToolQuery {
  return { query: String(query), gold: textsOf(gold), family: textsOf(family) };
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** 0 or 1: FNV-1a of the text, mixed once more. */
function half(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % 2;
}
