import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import { newMemoryId } from '../core/ids.ts';
import type { Dense, QueryVector, WordsOnly } from './dense/dense.ts';
import { fuse, fuseOrders, MEANING_WEIGHT, WORDS_WEIGHT } from './dense/fuse.ts';
import type { Memory, MemoryDraft, MemoryOrigin, MemoryOutcome } from './item.ts';
import { isContradiction, isToQuarantine, meanOf, nearDuplicateOf, PRIORS, posteriorOf } from './learn.ts';
import { queryWords } from './query.ts';
import { rank } from './rank.ts';
import { EXCERPT_CHARS, type FoundMemory, type MemoryFilter, NO_FILTER } from './rows.ts';
import type { Feedback, MemoryStore, NewMemory } from './store.ts';
import type { Syncer } from './sync/syncer.ts';

/** Who stores a memory, or gives feedback. */
export interface MemoryAuthor {
  readonly origin: MemoryOrigin;
  /** The installed tool; '' for all others. */
  readonly owner: string;
  /** Where it comes from if it was not made here; '' otherwise. */
  readonly source: string;
  /** The ids of the calls that taught it; none for a person. */
  readonly requestIds: readonly string[];
}

export interface MemoryQuery {
  readonly query: string;
  readonly limit: number;
  readonly filter: MemoryFilter;
}

/** What became of a draft. */
export interface StoredMemory {
  /** `stored`: it is new. `merged`: another memory said it already. `unchanged`: it is there, with the same words. */
  readonly state: 'stored' | 'merged' | 'unchanged';
  /** The memory that holds it. */
  readonly id: string;
  /** Memories of a similar task that say the opposite. */
  readonly contradicts: readonly string[];
}

export interface FoundMemories {
  /** The best first; each content is an excerpt. */
  readonly memories: readonly Memory[];
  /** Why the shared store was not asked, so that what others wrote last may be missing; null if it was, or if nothing is shared. */
  readonly degraded: string | null;
  /** Why meaning was not compared, only words; null if it was, or if no model is configured. */
  readonly wordsOnly: string | null;
}

/** The most memories of one search. */
export const SEARCH_MAX = 100;
/** The fewest that are ranked, so that repeats do not push others out. */
const RANKED_MIN = 50;
/** How many similar memories a new one is compared with. */
const COMPARED = 20;
/** The words by which they are found, from the title on. A near-duplicate has most of them. */
const COMPARED_BY = 16;
/** Ids of calls and of contradicting memories that a memory keeps. */
const LINKS_KEPT = 50;
/** What a memory gains each time somebody stores it again, at most four times. */
const CONFIRMATION = 0.25;
const CONFIRMATIONS_MAX = 4;

/** The most memories of a project that agents together, and each tool, may store: a loop must not fill the disk. */
const MOST_KEPT: Partial<Record<MemoryOrigin, number>> = { model: 20_000, tool: 1_000 };

export interface MemoriesDeps {
  readonly store: MemoryStore;
  readonly clock: Clock;
  readonly shared?: Pick<Syncer, 'search' | 'changed'> | null;
  readonly dense?: Pick<Dense, 'vectorOf' | 'nearest' | 'changed'> | null;
}

/** ReasoningBank: lessons of earlier work, found by their words, and better or worse known to help. */
export class Memories {
  readonly #store: MemoryStore;
  readonly #clock: Clock;
  readonly #shared: Pick<Syncer, 'search' | 'changed'> | null;
  readonly #dense: Pick<Dense, 'vectorOf' | 'nearest' | 'changed'> | null;
  /** How many memories a project has of each owner and origin, as far as it is known. */
  readonly #kept = new Map<string, number>();
  /** A memory is compared with those before it, so one is stored at a time. */
  #last: Promise<unknown> = Promise.resolve();

  /** `shared`: where memories are shared with others; null, the default: nowhere. `dense`: null, the default: words only. */
  constructor({ store, clock, shared = null, dense = null }: MemoriesDeps) {
    this.#store = store;
    this.#clock = clock;
    this.#shared = shared;
    this.#dense = dense;
  }

  /** Any text is a valid query; without words the newest are found. */
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

  /** By words, and by meaning once the query has a vector: both orders are fused. */
  async #here(
    project: string,
    words: readonly string[],
    meaning: Promise<QueryVector | WordsOnly> | null,
    filter: MemoryFilter,
    most: number,
  ): Promise<FoundMemory[]> {
    const nearest = async (): Promise<string[] | null> => {
      const vector = await meaning;
      if (this.#dense === null || vector === null || 'wordsOnly' in vector) return null;
      return this.#dense.nearest(project, vector, filter, most);
    };
    const [byWords, byMeaning] = await Promise.all([this.#byWords(project, words, filter, most), nearest()]);
    if (byMeaning === null) return byWords;
    const ids = fuse([
      { ids: idsInOrder(byWords), weight: WORDS_WEIGHT },
      { ids: byMeaning, weight: MEANING_WEIGHT },
    ]);
    return this.#inPlaces(project, filter, byWords, ids);
  }

  /** If tools have stored most of what fits, what others said is found too. */
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
   * What was found here, and what the shared store found, as it is here: both orders are fused. The server can add and
   * reorder; it cannot hide what is here.
   */
  async #together(
    project: string,
    filter: MemoryFilter,
    here: readonly FoundMemory[],
    ids: readonly string[],
  ): Promise<FoundMemory[]> {
    return this.#inPlaces(project, filter, here, fuseOrders(idsInOrder(here), ids));
  }

  /** The memories of ids that fit, in this order. `known`: those that were read already. */
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

  /** In the order of the ids. NOT_FOUND names those that the project does not have. */
  async read(project: string, ids: readonly string[]): Promise<Memory[]> {
    const found = await this.#store.get(project, ids);
    const missing = ids.filter((id) => !found.some((memory) => memory.id === id));
    if (missing.length === 0) return found;
    throw new ContextdError('NOT_FOUND', `this project has no memory ${missing.slice(0, 5).join(', ')}`, {
      remedy: 'Search again: it may have been forgotten, or belong to another project.',
      details: { missing },
    });
  }

  /** Reads the contents, which counts as a use. Throws NOT_FOUND. */
  async use(project: string, ids: readonly string[]): Promise<Memory[]> {
    const found = await this.read(project, ids);
    await this.#store.used(ids, this.#clock.now());
    return found;
  }

  /** Keeps what is new. What the same owner has already said is merged into it, with both provenances. */
  store(project: string, draft: MemoryDraft, author: MemoryAuthor): Promise<StoredMemory> {
    return this.#oneAtATime(async () => {
      const equal = await this.#store.findEqual({ ...draft, project, owner: author.owner });
      if (equal !== null) return this.#merge(equal, draft, author, 'unchanged');
      const similar = await this.#similar(project, draft, author);
      const same = similar.filter((memory) => mayMerge(memory, author)).find(nearDuplicateOf(draft));
      if (same !== undefined) return this.#merge(same, draft, author, 'merged');
      const opposite = similar.filter((memory) => isContradiction(memory, draft));
      const contradicts = opposite.map(({ id }) => id);
      const item = newMemory(project, { ...draft, contradicts }, author, this.#clock.now());
      await this.#checkRoom(project, author);
      await this.#store.insert([item]);
      for (const memory of opposite)
        await this.#store.change(memory, { contradicts: linked(memory.contradicts, item.id) });
      return { state: 'stored', id: item.id, contradicts };
    });
  }

  /** Keeps many at once, all or none, and merges only those with the same words. */
  async storeAll(project: string, drafts: readonly MemoryDraft[], author: MemoryAuthor): Promise<boolean[]> {
    const nowMs = this.#clock.now();
    const items = drafts.map((draft) => newMemory(project, { ...draft, contradicts: [] }, author, nowMs));
    const news = await this.#store.insert(items);
    this.#changed();
    return news;
  }

  /**
   * Records how work went in which a memory was used. It rises or sinks by it, and one that keeps failing is found by no
   * search any more. Of one session the last feedback on a memory counts. Throws NOT_FOUND.
   */
  giveFeedback(
    project: string,
    { id, outcome, note }: { id: string; outcome: MemoryOutcome; note: string },
    { session, requestId }: { session: string; requestId: string },
  ): Promise<Memory> {
    return this.#oneAtATime(async () => {
      const [memory] = await this.read(project, [id]);
      if (memory === undefined) throw new Error('a memory that was read is missing');
      const { evidence, confirmed } = await this.#store.addFeedback(
        { ...{ id, session, outcome, note, requestId, atMs: this.#clock.now() } },
        PRIORS[memory.origin],
      );
      const good = evidence.good + Math.min(confirmed, CONFIRMATION * CONFIRMATIONS_MAX);
      const posterior = posteriorOf(PRIORS[memory.origin], { good, bad: evidence.bad });
      const isQuarantined = isToQuarantine(posterior, evidence.bad, memory.isQuarantined);
      await this.#store.change(memory, { ...posterior, isQuarantined, updatedMs: this.#clock.now() });
      return { ...memory, confidence: meanOf(posterior), isQuarantined };
    });
  }

  feedbackOn(id: string): Promise<Feedback[]> {
    return this.#store.feedbackOn(id);
  }

  list(project: string, afterId: string, limit: number, withContent: boolean): Promise<Memory[]> {
    return this.#store.list(project, afterId, limit, withContent);
  }

  /** Removes memories for good and returns them. Throws NOT_FOUND, and then removes nothing. */
  forget(project: string, ids: readonly string[]): Promise<Memory[]> {
    return this.#oneAtATime(async () => {
      const found = await this.read(project, ids);
      for (const { id } of found) await this.#store.remove(id);
      this.#kept.clear();
      return found;
    });
  }

  /** Lets every project find a memory. Only a person may ask for it. Throws NOT_FOUND. */
  promote(project: string, id: string): Promise<Memory> {
    return this.#oneAtATime(async () => {
      const [memory] = await this.read(project, [id]);
      if (memory === undefined) throw new Error('a memory that was read is missing');
      if (memory.scope === 'global') return memory;
      await this.#store.promote(memory);
      return { ...memory, scope: 'global' };
    });
  }

  async #merge(
    into: Memory,
    draft: MemoryDraft,
    { origin, requestIds }: MemoryAuthor,
    state: 'merged' | 'unchanged',
  ): Promise<StoredMemory> {
    const [memory] = await this.#store.get(into.project, [into.id]);
    if (memory === undefined) throw new Error('a memory that was found is missing');
    const provenance = requestIds.reduce(linked, memory.provenance);
    const times = memory.provenance.length;
    const isConfirmed = requestIds.some((id) => !memory.provenance.includes(id));
    const tags = [...new Set([...memory.tags, ...draft.tags])].sort();
    const gained = isConfirmed && times >= 1 && times <= CONFIRMATIONS_MAX ? CONFIRMATION : 0;
    // Only a person changes what every project sees.
    const mayTag = memory.scope === 'project' || origin === 'person';
    await this.#store.change(memory, {
      ...{ provenance, updatedMs: this.#clock.now(), gainedAlpha: gained },
      ...(mayTag && tags.length > memory.tags.length ? { tags } : {}),
    });
    return { state, id: memory.id, contradicts: memory.contradicts };
  }

  /** Memories of the same owner in the same project that a new one may repeat or contradict. */
  async #similar(project: string, draft: MemoryDraft, { owner, source }: MemoryAuthor): Promise<Memory[]> {
    const words = queryWords(`${draft.title}\n${draft.task}\n${draft.description}\n${draft.content}`).slice(
      0,
      COMPARED_BY,
    );
    const found = await this.#store.search(project, words, NO_FILTER, COMPARED);
    const ids = found
      .filter(({ memory }) => memory.owner === owner && memory.project === project && memory.source === source)
      .map(({ memory }) => memory.id);
    return this.#store.get(project, ids);
  }

  /** Call before each insertion. Throws RESOURCE_LIMIT if agents, or the tool, have stored as much in this project as they may. */
  async #checkRoom(project: string, { origin, owner }: MemoryAuthor): Promise<void> {
    const most = MOST_KEPT[origin];
    if (most === undefined) return;
    const key = JSON.stringify([project, owner, origin]);
    const kept = this.#kept.get(key) ?? (await this.#store.countOf(project, owner, origin));
    this.#kept.set(key, kept + 1);
    if (kept < most) return;
    this.#kept.delete(key);
    const who = owner === '' ? 'agents have' : `${owner} has`;
    throw new ContextdError('RESOURCE_LIMIT', `${who} stored ${most} memories in this project, which is the most`, {
      remedy: 'A person can remove some with `ctxd memory list` and `ctxd memory forget`.',
      details: { limit: 'memories', most },
    });
  }

  #changed(): void {
    this.#shared?.changed();
    this.#dense?.changed();
  }

  #oneAtATime<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work);
    this.#last = result.then(
      () => this.#changed(),
      () => {},
    );
    return result;
  }
}

/** The best first. */
function idsInOrder(found: readonly FoundMemory[]): string[] {
  const ordered = [...found].sort((a, b) => b.relevance - a.relevance || (a.memory.id < b.memory.id ? -1 : 1));
  return ordered.map(({ memory }) => memory.id);
}

/** Scores of two stores cannot be compared, places can: confidence then moves a memory by about one place. */
function placed(memory: Memory, place: number): FoundMemory {
  return { memory: { ...memory, content: memory.content.slice(0, EXCERPT_CHARS) }, relevance: 1 / (4 + place) };
}

function fits(memory: Memory, { tags, outcome, scope, sinceMs }: MemoryFilter): boolean {
  if (memory.isQuarantined || memory.updatedMs < sinceMs) return false;
  if ((outcome !== null && memory.outcome !== outcome) || (scope !== null && memory.scope !== scope)) return false;
  return tags.every((tag) => memory.tags.includes(tag));
}

function newMemory(
  project: string,
  draft: MemoryDraft & Pick<NewMemory, 'contradicts'>,
  { origin, owner, source, requestIds }: MemoryAuthor,
  nowMs: number,
): NewMemory {
  const provenance = requestIds.slice(-LINKS_KEPT);
  return { ...draft, ...{ id: newMemoryId(), project, origin, owner, source, provenance, nowMs } };
}

/** A person's words are never lost in those of a model. */
function mayMerge(into: Memory, { origin }: MemoryAuthor): boolean {
  return origin !== 'person' || into.origin === 'person';
}

/** With the id at the end, each once, the oldest dropped. */
function linked(ids: readonly string[], id: string): readonly string[] {
  return [...ids.filter((one) => one !== id), id].slice(-LINKS_KEPT);
}
