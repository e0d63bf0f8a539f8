import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import { newMemoryId } from '../../core/ids.ts';
import { Lock } from '../../core/lock.ts';
import type { Dense } from './dense/dense.ts';
import { invalid, type Memory, type MemoryDraft, type MemoryOrigin, type MemoryOutcome } from './item.ts';
import { isContradiction, isToQuarantine, meanOf, nearDuplicateOf, PRIORS, posteriorOf } from './learn.ts';
import { queryWords } from './query.ts';
import { NO_FILTER } from './rows.ts';
import { type FoundMemories, type MemoryQuery, MemorySearch } from './search.ts';
import type { NewMemory } from './statements.ts';
import type { Feedback, MemoryStore } from './store.ts';
import type { Syncer } from './sync/syncer.ts';

/** The author of a memory or of feedback. */
export interface MemoryAuthor {
  readonly origin: MemoryOrigin;
  /** The installed tool; '' for other authors. */
  readonly owner: string;
  /** Origin of a memory made elsewhere; otherwise ''. */
  readonly source: string;
  /** Ids of the calls from which it was learned; empty for a person. */
  readonly requestIds: readonly string[];
}

/** The result of storing a draft. */
export interface StoredMemory {
  /** `stored`: new. `merged`: another memory already says the same. `unchanged`: the same words are already stored. */
  readonly state: 'stored' | 'merged' | 'unchanged';
  /** Id of the memory that holds the draft. */
  readonly id: string;
  /** Memories of a similar task that say the opposite. */
  readonly contradicts: readonly string[];
  /** The memory that took the place of the one with the same words; absent if none did. */
  readonly replacedBy?: string;
}

/** Number of similar memories with which a new one is compared. */
const COMPARED = 20;
/** Number of words by which those are found, from the title on. A near-duplicate has most of them. */
const COMPARED_BY = 16;
/** Maximum number of call ids and of contradicting ids per memory. */
const LINKS_KEPT = 50;
/** Gain in alpha each time a memory is stored again, at most four times. */
const CONFIRMATION = 0.25;
const CONFIRMATIONS_MAX = 4;

/** Maximum number of memories per project of all agents together, and of each tool: a loop must not fill the disk. */
const MOST_KEPT: Partial<Record<MemoryOrigin, number>> = { model: 20_000, distilled: 20_000, tool: 1_000 };

export interface MemoriesDeps {
  readonly store: MemoryStore;
  readonly clock: Clock;
  readonly shared?: Pick<Syncer, 'search' | 'changed'> | null;
  readonly dense?: Pick<Dense, 'vectorOf' | 'nearest' | 'cosinesOf' | 'changed'> | null;
}

/** ReasoningBank: lessons of earlier work, found by their words and ranked by how well they have helped. */
export class Memories {
  readonly #store: MemoryStore;
  readonly #clock: Clock;
  readonly #shared: Pick<Syncer, 'changed'> | null;
  readonly #dense: Pick<Dense, 'changed'> | null;
  readonly #search: MemorySearch;
  /** JSON of project, owner and origin → number of memories, as far as known. */
  readonly #kept = new Map<string, number>();
  /** Stored one at a time, because each new memory is compared with the existing ones. */
  readonly #changes = new Lock();

  /** `shared`: the shared store; null (default): none. `dense`: the embedding index; null (default): words only. */
  constructor({ store, clock, shared = null, dense = null }: MemoriesDeps) {
    this.#store = store;
    this.#clock = clock;
    this.#shared = shared;
    this.#dense = dense;
    this.#search = new MemorySearch({ store, shared, dense });
  }

  /** Any text is a valid query; without words the newest memories are returned. */
  search(project: string, query: MemoryQuery): Promise<FoundMemories> {
    return this.#search.search(project, query);
  }

  /** In the order of the ids. Throws NOT_FOUND with the ids that the project does not have. */
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

  /**
   * Stores a new memory. If the same owner already has an equivalent one, merges into it with both provenances. `replaces`:
   * older memories that it takes the place of; no search finds them any more. Throws NOT_FOUND or ARGS_INVALID for one that
   * the author cannot replace.
   */
  store(
    project: string,
    draft: MemoryDraft,
    author: MemoryAuthor,
    replaces: readonly string[] = [],
  ): Promise<StoredMemory> {
    return this.#change(async () => {
      const older = await this.read(project, replaces);
      for (const memory of older) checkReplaceable(memory, author);
      const stored = await this.#keep(project, draft, author, new Set(replaces));
      // A lesson that holds again replaces what had replaced it.
      if (older.length > 0 && stored.replacedBy !== undefined)
        for (const memory of await this.#store.find([stored.id])) await this.#store.change(memory, { replacedBy: '' });
      await this.#setAside(older, stored.id);
      return stored;
    });
  }

  async #keep(
    project: string,
    draft: MemoryDraft,
    author: MemoryAuthor,
    replaces: ReadonlySet<string>,
  ): Promise<StoredMemory> {
    const equal = await this.#store.findEqual({ ...draft, project, owner: author.owner });
    if (equal !== null && replaces.has(equal.id))
      throw invalid('replaces', `names ${equal.id}, which has the same words`);
    if (equal !== null) return this.#merge(equal, draft, author, 'unchanged');
    const found = await this.#similar(project, draft, author);
    const similar = found.filter(({ id }) => !replaces.has(id));
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
  }

  /** Links older memories to the one that takes their place, and takes back what they contradicted. */
  async #setAside(older: readonly Memory[], id: string): Promise<void> {
    for (const memory of older) {
      await this.#store.change(memory, { replacedBy: id });
      for (const other of await this.#store.find(memory.contradicts))
        await this.#store.change(other, { contradicts: other.contradicts.filter((one) => one !== memory.id) });
    }
  }

  /** Stores many memories, all or none. Merges only those with identical words. Returns for each its id, and whether it is new. */
  async storeAll(
    project: string,
    drafts: readonly MemoryDraft[],
    author: MemoryAuthor,
  ): Promise<{ id: string; isNew: boolean }[]> {
    const nowMs = this.#clock.now();
    const items = drafts.map((draft) => newMemory(project, { ...draft, contradicts: [] }, author, nowMs));
    const stored = await this.#store.insert(items);
    this.#changed();
    return stored;
  }

  /** Links memories that were imported as they were linked where they came from; what has a newer one already keeps it. */
  replace(project: string, ids: readonly string[], id: string): Promise<void> {
    return this.#change(async () => {
      const older = await this.#store.get(project, ids);
      await this.#setAside(
        older.filter((memory) => memory.replacedBy === '' && memory.id !== id),
        id,
      );
    });
  }

  /**
   * Records the outcome of work in which a memory was used, which changes its rank. A memory that keeps failing is
   * excluded from searches. Per session the last feedback counts. `weight`: see `WEAK`. Throws NOT_FOUND.
   */
  giveFeedback(
    project: string,
    { id, outcome, note }: { id: string; outcome: MemoryOutcome; note: string },
    { session, requestId, weight = 1 }: { session: string; requestId: string; weight?: number },
  ): Promise<Memory> {
    return this.#change(async () => {
      const [memory] = await this.read(project, [id]);
      if (memory === undefined) throw new Error('a memory that was read is missing');
      const { evidence, confirmed } = await this.#store.addFeedback(
        { id, session, outcome, note, requestId, atMs: this.#clock.now(), weight },
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

  /** Deletes memories permanently and returns them. Throws NOT_FOUND, and then deletes nothing. */
  forget(project: string, ids: readonly string[]): Promise<Memory[]> {
    return this.#change(async () => {
      const found = await this.read(project, ids);
      for (const memory of found) await this.#store.remove(memory);
      this.#kept.clear();
      return found;
    });
  }

  /** Makes a memory visible to every project. Only for a person's request. Throws NOT_FOUND. */
  promote(project: string, id: string): Promise<Memory> {
    return this.#change(async () => {
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
    // To find the same lesson in the record again does not show that it helps.
    const isConfirmed = origin !== 'distilled' && requestIds.some((id) => !memory.provenance.includes(id));
    const tags = [...new Set([...memory.tags, ...draft.tags])].sort();
    const gained = isConfirmed && times >= 1 && times <= CONFIRMATIONS_MAX ? CONFIRMATION : 0;
    // Only a person may change a memory that every project sees.
    const mayTag = memory.scope === 'project' || origin === 'person';
    await this.#store.change(memory, {
      provenance,
      updatedMs: this.#clock.now(),
      gainedAlpha: gained,
      ...(mayTag && tags.length > memory.tags.length ? { tags } : {}),
    });
    const { id, contradicts, replacedBy } = memory;
    return { state, id, contradicts, ...(replacedBy === '' ? {} : { replacedBy }) };
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

  /** Call before each insertion. Throws RESOURCE_LIMIT if agents, or the tool, have used up the project's quota. */
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
      remedy: 'A person can remove some with `ctxd memory list` and `ctxd memory forget ID`.',
      details: { limit: 'memories', most },
    });
  }

  #changed(): void {
    this.#shared?.changed();
    this.#dense?.changed();
  }

  /** Runs changes one at a time. */
  #change<T>(work: () => Promise<T>): Promise<T> {
    return this.#changes.run(async () => {
      const result = await work();
      this.#changed();
      return result;
    });
  }
}

function newMemory(
  project: string,
  draft: MemoryDraft & Pick<NewMemory, 'contradicts'>,
  { origin, owner, source, requestIds }: MemoryAuthor,
  nowMs: number,
): NewMemory {
  const provenance = requestIds.slice(-LINKS_KEPT);
  return { ...draft, id: newMemoryId(), project, origin, owner, source, provenance, nowMs };
}

/** An agent replaces what its project keeps, a tool what it stored itself, and only a person a global memory. */
function checkReplaceable({ id, replacedBy, scope, owner }: Memory, author: MemoryAuthor): void {
  if (replacedBy !== '') throw invalid('replaces', `names ${id}, whose place ${replacedBy} took: name that one`);
  if (scope === 'global' && author.origin !== 'person')
    throw invalid('replaces', `names ${id}, which is global: only a person can replace it`);
  if (author.owner !== '' && owner !== author.owner)
    throw invalid('replaces', `names ${id}, which ${author.owner} did not store`);
}

/** A person's text is never merged into a model's. */
function mayMerge(into: Memory, { origin }: MemoryAuthor): boolean {
  return origin !== 'person' || into.origin === 'person';
}

/** Appends the id, without duplicates; drops the oldest ids beyond the limit. */
function linked(ids: readonly string[], id: string): readonly string[] {
  return [...ids.filter((one) => one !== id), id].slice(-LINKS_KEPT);
}
