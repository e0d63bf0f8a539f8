import type { Dense, QueryVector, WordsOnly } from './dense/dense.ts';
import { fuseOrders, mix } from './dense/fuse.ts';
import type { Memory } from './item.ts';
import { queryWords } from './query.ts';
import { rank } from './rank.ts';
import { EXCERPT_CHARS, type FoundMemory, type MemoryFilter } from './rows.ts';
import type { MemoryStore } from './store.ts';
import type { Syncer } from './sync/syncer.ts';

export interface MemoryQuery {
  readonly query: string;
  readonly limit: number;
  readonly filter: MemoryFilter;
}

export interface FoundMemories {
  /** Best first; each content is an excerpt. */
  readonly memories: readonly Memory[];
  /**
   * Why the shared store was not searched, so that recent memories of others may be missing. Null if it was, or if
   * nothing is shared.
   */
  readonly degraded: string | null;
  /** Why only words were compared, not meaning. Null if meaning was, or if no model is configured. */
  readonly wordsOnly: string | null;
}

/** Maximum number of memories per search. */
export const SEARCH_MAX = 100;
/** Minimum number of candidates to rank, so that near-duplicates do not crowd out others. */
const RANKED_MIN = 50;
export interface MemorySearchDeps {
  readonly store: Pick<MemoryStore, 'search' | 'get'>;
  /** Null: there is no shared store. */
  readonly shared: Pick<Syncer, 'search'> | null;
  /** Null: words only. */
  readonly dense: Pick<Dense, 'vectorOf' | 'nearest' | 'cosinesOf'> | null;
}

/** Finds memories by words, by meaning and in the shared store, as one ranking. */
export class MemorySearch {
  readonly #store: MemorySearchDeps['store'];
  readonly #shared: MemorySearchDeps['shared'];
  readonly #dense: MemorySearchDeps['dense'];

  constructor({ store, shared, dense }: MemorySearchDeps) {
    this.#store = store;
    this.#shared = shared;
    this.#dense = dense;
  }

  /** Any text is a valid query; without words the newest memories are returned. */
  async search(project: string, { query, limit, filter }: MemoryQuery): Promise<FoundMemories> {
    const asked = Math.min(limit, SEARCH_MAX);
    const words = queryWords(query);
    const most = Math.max(RANKED_MIN, asked * 2);
    const meaning = this.#dense === null || words.length === 0 ? null : this.#dense.vectorOf(project, query);
    const [here, shared, vector] = await Promise.all([
      this.#here(project, words, meaning, filter, most),
      this.#shared === null ? null : this.#shared.search(project, words, meaning, filter, most),
      meaning,
    ]);
    const isShared = shared !== null && 'ids' in shared;
    const found = isShared ? await this.#together(project, filter, here, shared.ids) : here;
    const ranked = rank(
      found.map(({ memory, relevance }) => ({
        ...memory,
        relevance,
        memory,
        tool: memory.origin === 'tool' ? memory.owner : '',
        text: `${memory.title}\n${memory.description}\n${memory.content}`,
      })),
      asked,
    );
    const degraded = shared === null || isShared ? null : shared.degraded;
    const wordsOnly = vector !== null && 'wordsOnly' in vector ? vector.wordsOnly : null;
    return { memories: ranked.map(({ memory }) => memory), degraded, wordsOnly };
  }

  /** Searches by words, and by meaning once the query has a vector; makes one score of both. */
  async #here(
    project: string,
    words: readonly string[],
    meaning: Promise<QueryVector | WordsOnly> | null,
    filter: MemoryFilter,
    most: number,
  ): Promise<FoundMemory[]> {
    const nearest = async (): Promise<Map<string, number>> => {
      const vector = await meaning;
      if (this.#dense === null || vector === null || 'wordsOnly' in vector) return new Map();
      return this.#dense.nearest(project, vector, filter, most);
    };
    const [byWords, cosines] = await Promise.all([this.#byWords(project, words, filter, most), nearest()]);
    const vector = await meaning;
    if (this.#dense === null || vector === null || 'wordsOnly' in vector) return byWords;
    const others = byWords.map(({ memory }) => memory.id).filter((id) => !cosines.has(id));
    for (const [id, cosine] of await this.#dense.cosinesOf(vector, others)) cosines.set(id, cosine);
    const scores = mix(
      byWords.map(({ memory, relevance, coverage }) => ({ id: memory.id, relevance, coverage })),
      cosines,
    );
    const found = await this.#inPlaces(project, filter, byWords, [...scores.keys()]);
    return found.map((one) => ({ ...one, relevance: scores.get(one.memory.id) ?? 0 }));
  }

  /** If most hits are memories of tools, searches again without tools, so that others are found too. */
  async #byWords(
    project: string,
    words: readonly string[],
    filter: MemoryFilter,
    most: number,
  ): Promise<FoundMemory[]> {
    const found = await this.#store.search(project, words, filter, most);
    const ofTools = found.filter(({ memory }) => memory.origin === 'tool');
    if (found.length < most || ofTools.length <= most / 2) return found;
    const others = await this.#store.search(project, words, { ...filter, withoutTools: true }, most);
    return [...ofTools, ...others];
  }

  /**
   * Fuses the local ranking with that of the shared store, using local copies. The server can add and reorder, but not
   * hide local memories.
   */
  async #together(
    project: string,
    filter: MemoryFilter,
    here: readonly FoundMemory[],
    ids: readonly string[],
  ): Promise<FoundMemory[]> {
    return this.#inPlaces(project, filter, here, fuseOrders(idsInOrder(here), ids));
  }

  /** The memories with these ids that match the filter, in this order. `known`: memories already read. */
  async #inPlaces(
    project: string,
    filter: MemoryFilter,
    known: readonly FoundMemory[],
    ids: readonly string[],
  ): Promise<FoundMemory[]> {
    const byId = new Map(known.map(({ memory }) => [memory.id, memory]));
    const others = await this.#store.get(
      project,
      ids.filter((id) => !byId.has(id)),
    );
    for (const memory of others) if (fits(memory, filter)) byId.set(memory.id, memory);
    return ids.flatMap((id, place) => {
      const memory = byId.get(id);
      return memory === undefined ? [] : [placed(memory, place)];
    });
  }
}

/** Best first. */
function idsInOrder(found: readonly FoundMemory[]): string[] {
  const ordered = [...found].sort((a, b) => b.relevance - a.relevance || (a.memory.id < b.memory.id ? -1 : 1));
  return ordered.map(({ memory }) => memory.id);
}

/** Scores of two stores are not comparable, ranks are. With these, confidence moves a memory by about one rank. */
function placed(memory: Memory, place: number): FoundMemory {
  return {
    memory: { ...memory, content: memory.content.slice(0, EXCERPT_CHARS) },
    relevance: 1 / (4 + place),
    coverage: 0,
  };
}

function fits(memory: Memory, { tags, outcome, scope, sinceMs }: MemoryFilter): boolean {
  if (memory.isQuarantined || memory.replacedBy !== '' || memory.updatedMs < sinceMs) return false;
  if ((outcome !== null && memory.outcome !== outcome) || (scope !== null && memory.scope !== scope)) return false;
  return tags.every((tag) => memory.tags.includes(tag));
}
