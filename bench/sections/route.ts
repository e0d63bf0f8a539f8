import { writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { findInstallRoot } from '../../src/config/install-root.ts';
import type { Embedder, Purpose } from '../../src/features/memory/dense/embedder.ts';
import { HttpEmbedder } from '../../src/features/memory/dense/http-embedder.ts';
import { LocalEmbedder } from '../../src/features/memory/dense/local-embedder.ts';
import type { CatalogItem } from '../../src/gateway/item.ts';
import { textToEmbed } from '../../src/gateway/router/meaning.ts';
import { Router } from '../../src/gateway/router/router.ts';
import { spreadOf } from '../lib/measure.ts';
import { PlainBm25 } from '../lib/plain-bm25.ts';
import { type Fact, type Figure, rowsOf, type Section, sayStep, type Table } from '../lib/section.ts';
import { missingFiles, readToolSets, recallAtFive, type ToolSet } from '../lib/tool-sets.ts';

const PLACES = 5;
const LARGE = 20_000;
const ROUTE_MS = 2;
const LOAD_MS = 1_000;
const BATCH = 64;

type Search = (query: string) => string[];

/** What the router finds, and how fast, beside BM25 alone and beside words and meaning, on sets with known answers. */
export const routeSection: Section = {
  async run({ toolSets, embeddingModel, misses }) {
    if (toolSets === null) return missing('no --tool-sets DIR was passed');
    const files = missingFiles(toolSets);
    if (files.length > 0) return missing(`${toolSets} lacks ${files.join(', ')}`);
    const sets = readToolSets(toolSets);
    const embedder = embeddingModel === null ? null : embedderOf(embeddingModel);
    const figures: Figure[] = [];
    const facts: Fact[] = [
      { name: 'weights chosen on', value: 'the other half of BFCL, and self-retrieval of MCP servers' },
    ];
    for (const set of sets) {
      sayStep(set.name);
      const router = new Router(set.items);
      const bm25 = new PlainBm25(set.items);
      const recall = qualityOf(set, searchOf(router));
      const plain = qualityOf(set, (query) => bm25.search(query, PLACES));
      facts.push({ name: `${set.name}: BM25 alone`, value: `R@5 ${plain.toFixed(3)}` });
      figures.push({
        name: set.name,
        value: `R@5 ${recall.toFixed(3)}`,
        aim: set.aim === null ? '' : `≥ ${set.aim}`,
        isMet: set.aim === null ? null : recall >= set.aim,
        beside: [`BM25 alone ${plain.toFixed(3)}`, set.beside].filter(Boolean).join(', '),
      });
      if (embedder !== null) {
        const both = await qualityWithMeaning(set, embedder);
        figures.push({
          name: `${set.name}: words and meaning`,
          value: `R@5 ${both.toFixed(3)}`,
          aim: '≥ words alone',
          isMet: both >= recall,
          beside: `words alone ${recall.toFixed(3)}`,
        });
      }
    }
    if (embedder === null) facts.push({ name: 'words and meaning', value: 'not measured: no --embedding-model' });
    await embedder?.stop();
    if (misses !== null) writeFileSync(misses, sets.flatMap(missesOf).join(''));
    const whole = sets.reduce((most, set) => (set.items.length > most.items.length ? set : most));
    return { tables: [speedOf(whole), loadOf(whole.items)], figures, facts: [...facts, ...memoryOf(whole.items)] };
  },
};

function missing(why: string): { facts: Fact[] } {
  return { facts: [{ name: 'routing', value: `not measured: ${why}` }] };
}

function searchOf(router: Router): Search {
  return (query) => router.route(query, { topK: PLACES }).map(({ item }) => item.id);
}

function qualityOf(set: ToolSet, search: Search): number {
  return set.queries.reduce((sum, one) => sum + recallAtFive(one, search(one.query)), 0) / set.queries.length;
}

/** The queries of which a right tool is not among the first five, a line of JSON each, for a reader to judge the labels. */
function missesOf(set: ToolSet): string[] {
  const search = searchOf(new Router(set.items));
  return set.queries.flatMap(({ query, gold, family }) => {
    const found = search(query);
    const recall = recallAtFive({ query, gold, family }, found);
    return recall === 1 ? [] : [`${JSON.stringify({ set: set.name, query, recall, right: gold, found })}\n`];
  });
}

/** `model`: a folder, or the address of an endpoint. */
function embedderOf(model: string): Embedder {
  const prefixes = { query: '', document: '' };
  return /^https?:/.test(model)
    ? new HttpEmbedder({ url: model, model: 'bench', revision: '', prefixes, apiKey: async () => null })
    : new LocalEmbedder({ folder: model, revision: '', prefixes, installRoot: findInstallRoot() });
}

async function qualityWithMeaning(set: ToolSet, embedder: Embedder): Promise<number> {
  const found = await embedAll(embedder, set.items.map(textToEmbed), 'document');
  const vectors = new Map(set.items.map(({ id }, index) => [id, found[index] ?? new Float32Array()]));
  const queries = await embedAll(
    embedder,
    set.queries.map(({ query }) => query),
    'query',
  );
  const router = new Router(set.items);
  const byQuery = new Map(set.queries.map(({ query }, index) => [query, queries[index] ?? new Float32Array()]));
  return qualityOf(set, (query) => {
    const meaning = { query: byQuery.get(query) ?? new Float32Array(), vectors };
    return router.route(query, { topK: PLACES, meaning }).map(({ item }) => item.id);
  });
}

/** The sets share most of their texts, and a model takes minutes for them. */
const embedded = new Map<string, Float32Array>();

async function embedAll(embedder: Embedder, texts: readonly string[], purpose: Purpose): Promise<Float32Array[]> {
  const keyOf = (text: string): string => `${purpose} ${text}`;
  const missing = [...new Set(texts)].filter((text) => !embedded.has(keyOf(text)));
  for (let from = 0; from < missing.length; from += BATCH) {
    const part = missing.slice(from, from + BATCH);
    const { vectors } = await embedder.embed(part, purpose, AbortSignal.timeout(600_000));
    for (const [index, text] of part.entries()) embedded.set(keyOf(text), vectors[index] ?? new Float32Array());
  }
  return texts.map((text) => embedded.get(keyOf(text)) ?? new Float32Array());
}

function speedOf({ items, queries }: ToolSet): Table {
  const [router, bm25] = [new Router(items), new PlainBm25(items)];
  const contenders: Record<string, Search> = {
    'BM25 alone': (query) => bm25.search(query, PLACES),
    router: searchOf(router),
  };
  const samples = new Map(Object.keys(contenders).map((name) => [name, [] as number[]]));
  for (const isCounted of [false, true]) {
    for (const { query } of queries) {
      for (const [name, search] of Object.entries(contenders)) {
        const start = performance.now();
        search(query);
        if (isCounted) samples.get(name)?.push(performance.now() - start);
      }
    }
  }
  const rows = rowsOf(new Map([...samples].map(([name, all]) => [name, spreadOf(all)])));
  const aims = [{ row: 'router', atMost: ROUTE_MS, times: null }];
  return { title: `a query over ${items.length} tools`, base: 'BM25 alone', rows, aims };
}

function loadOf(items: readonly CatalogItem[]): Table {
  const many = repeated(items);
  const samples: Record<string, number[]> = { 'BM25 alone': [], router: [] };
  for (let round = 0; round < 3; round++) {
    for (const [name, load] of Object.entries({ 'BM25 alone': PlainBm25, router: Router })) {
      const start = performance.now();
      new load(many);
      samples[name]?.push(performance.now() - start);
    }
  }
  const rows = rowsOf(new Map(Object.entries(samples).map(([name, all]) => [name, spreadOf(all)])));
  const aims = [{ row: 'router', atMost: LOAD_MS, times: null }];
  return { title: `loading ${LARGE} tools`, base: 'BM25 alone', rows, aims };
}

/** The catalogue as often as it takes, each time under other ids and with a word of its own. */
function repeated(items: readonly CatalogItem[]): CatalogItem[] {
  return Array.from({ length: LARGE }, (_, index) => {
    const item = items[index % items.length];
    const copy = Math.floor(index / items.length);
    if (item === undefined) throw new RangeError('an empty catalogue');
    return { ...item, id: `${copy}/${item.id}`, namespace: `copy${copy}` };
  });
}

function memoryOf(items: readonly CatalogItem[]): Fact[] {
  const sizes = [items.slice(0, LARGE / 10), repeated(items).slice(0, LARGE / 2), repeated(items)];
  return sizes.map((some) => {
    collect();
    const before = usedBytes();
    const router = new Router(some);
    collect();
    const bytes = usedBytes() - before;
    router.route('');
    return { name: `memory of ${some.length} tools`, value: `${(bytes / 1e6).toFixed(1)} MB` };
  });
}

function collect(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

function usedBytes(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
