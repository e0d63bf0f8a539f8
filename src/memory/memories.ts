import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import { newMemoryId } from '../core/ids.ts';
import type { Dense } from './dense/dense.ts';
import type { Memory, MemoryDraft, MemoryOrigin, MemoryOutcome } from './item.ts';
import { isContradiction, isToQuarantine, meanOf, nearDuplicateOf, PRIORS, posteriorOf } from './learn.ts';
import { queryWords } from './query.ts';
import { NO_FILTER } from './rows.ts';
import { type FoundMemories, type MemoryQuery, MemorySearch } from './search.ts';
import type { NewMemory } from './statements.ts';
import type { Feedback, MemoryStore } from './store.ts';
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

/** What became of a draft. */
export interface StoredMemory {
  /** `stored`: it is new. `merged`: another memory said it already. `unchanged`: it is there, with the same words. */
  readonly state: 'stored' | 'merged' | 'unchanged';
  /** The memory that holds it. */
  readonly id: string;
  /** Memories of a similar task that say the opposite. */
  readonly contradicts: readonly string[];
}

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
  readonly #shared: Pick<Syncer, 'changed'> | null;
  readonly #dense: Pick<Dense, 'changed'> | null;
  readonly #search: MemorySearch;
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
    this.#search = new MemorySearch({ store, shared, dense });
  }

  /** Any text is a valid query; without words the newest are found. */
  search(project: string, query: MemoryQuery): Promise<FoundMemories> {
    return this.#search.search(project, query);
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
