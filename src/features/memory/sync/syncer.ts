import { pause, type Timer } from '../../../core/clock.ts';
import { untilAborted } from '../../../core/deadline.ts';
import { ContextdError } from '../../../core/errors.ts';
import { isJsonObject, type JsonObject } from '../../../core/json.ts';
import { Lock } from '../../../core/lock.ts';
import { Breaker } from '../../shared/breaker.ts';
import { withDeadline } from '../deadline.ts';
import type { Dense, QueryVector, WordsOnly } from '../dense/dense.ts';
import { modelName } from '../dense/embedder.ts';
import type { MemoryFilter } from '../rows.ts';
import { Intake, type IntakeDeps } from './intake.ts';
import { payloadOf, tombstoneOf } from './points.ts';
import type { NewPoint, QdrantCollection } from './qdrant.ts';
import type { Cursor, Pending } from './shared-items.ts';
import { documentVector } from './sparse-words.ts';

export interface SyncerDeps extends Omit<IntakeDeps, 'writer'> {
  collection: QdrantCollection;
  /** What is synchronised with what: after a change everything is sent and read again. */
  target: string;
  /** Vectors of memories; null: only words are compared. */
  dense: Pick<Dense, 'identity' | 'vectorsOf'> | null;
  /** Milliseconds between two rounds while nothing is stored here. */
  intervalMs: number;
  /** Milliseconds after which a search no longer waits for the server. */
  searchTimeoutMs: number;
  timer: Timer;
  random(): number;
}

export interface SyncStatus {
  /** `idle`: everything was sent and read. `behind`: there is more to send. `failing`: the last call failed. */
  readonly state: 'idle' | 'behind' | 'failing';
  /** Changes that the server does not have yet. */
  readonly pending: number;
  /** Memories of others that are here. */
  readonly foreign: number;
  /** Points that could not be read or masked, or were too many, since the start. */
  readonly refused: number;
  /** When the last round succeeded; milliseconds since the epoch; null: none did since the start. */
  readonly syncedMs: number | null;
  /** Why the last call failed; null if it did not. */
  readonly fault: string | null;
  /** Milliseconds until the next attempt. */
  readonly retryMs: number;
}

/** What the shared store found: ids of memories that are here now, the best first, or why it was not asked. */
export type SharedAnswer = { readonly ids: readonly string[] } | { readonly degraded: string };

const BATCH = 64;
/** Characters of contents in one batch, besides the first memory. */
const BATCH_CHARS = 1_000_000;
const PAGE = 64;
/** Pages of one round; the next round goes on behind them. */
const PAGES_MAX = 1_000;
/** What was written so long before the newest that was seen is read again: clocks differ, and requests overtake each other. */
const OVERLAP_MS = 10 * 60_000;
/** Everything is read again so often, for clocks that differ more. */
const FULL_READ_MS = 24 * 60 * 60_000;
/** Changes are sent this long after they were made, so that many go together. */
const GATHER_MS = 50;

/** Keeps this store and a Qdrant collection equal: sends what was made here, reads what others wrote. */
export class Syncer {
  readonly #deps: SyncerDeps;
  readonly #breaker: Breaker;
  readonly #intake: Intake;
  readonly #stopping = new AbortController();
  #writer = '';
  #isReady = false;
  readonly #rounds = new Lock();
  #loop: Promise<void> = Promise.resolve();
  #wake: (() => void) | null = null;
  #hasNew = false;
  #syncedMs: number | null = null;
  #fullReadAt = Number.NEGATIVE_INFINITY;

  constructor(deps: SyncerDeps) {
    this.#deps = deps;
    this.#breaker = new Breaker(deps);
    this.#intake = new Intake({ ...deps, writer: () => this.#writer });
  }

  /** Needs the local store only: the server may be away. */
  async start(): Promise<void> {
    this.#writer = await this.#deps.items.open(this.#deps.target);
    this.#loop = this.#run();
  }

  /** Does not wait for the server. What was not sent is sent after the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake?.();
    await Promise.allSettled([this.#loop, this.#rounds.settled, this.#intake.settled]);
  }

  /** Something was stored. */
  changed(): void {
    this.#hasNew = true;
    this.#wake?.();
  }

  /** Sends and reads at once, whatever failed before. Throws UPSTREAM_UNAVAILABLE. */
  async now(): Promise<void> {
    await this.#round();
  }

  /** Sends everything again and reads everything again. Throws UPSTREAM_UNAVAILABLE. */
  async rebuild(): Promise<void> {
    const { items, collection } = this.#deps;
    await this.#exclusive(async () => {
      this.#isReady = false;
      await this.#prepare();
      await items.enqueueAll(await collection.newestVersion(this.#writer));
      await items.readAgain();
    });
    await this.#round();
  }

  async status(): Promise<SyncStatus> {
    const { pending, foreign } = await this.#deps.items.counts();
    const { fault, waitMs } = this.#breaker;
    const state = fault !== null ? 'failing' : pending > 0 || this.#syncedMs === null ? 'behind' : 'idle';
    return {
      state,
      pending,
      foreign,
      refused: this.#intake.refused,
      syncedMs: this.#syncedMs,
      fault,
      retryMs: Math.ceil(waitMs),
    };
  }

  /**
   * Null: the project is not shared. Answers within the deadline, whatever the server does. `meaning`: the vector of the
   * query; null: there is no model.
   */
  async search(
    root: string,
    words: readonly string[],
    meaning: Promise<QueryVector | WordsOnly> | null,
    filter: MemoryFilter,
    limit: number,
  ): Promise<SharedAnswer | null> {
    const project = this.#deps.projects.get(root);
    if (project === undefined || words.length === 0) return null;
    if (this.#breaker.waitMs > 0) return { degraded: this.#breaker.fault ?? 'the server failed' };
    const found = this.#find(project, words, meaning, filter, limit);
    // A failure after the deadline is no unhandled rejection.
    found.catch(() => {});
    try {
      const { searchTimeoutMs: ms, timer } = this.#deps;
      const fault = `the Qdrant server did not answer within ${ms} ms`;
      return await withDeadline(
        { ms, fault, late: new AbortController(), timer, stopping: this.#stopping.signal },
        found,
      );
    } catch (thrown) {
      const fault = messageOf(thrown);
      this.#breaker.failed(fault);
      return { degraded: fault };
    }
  }

  async #find(
    project: string,
    words: readonly string[],
    meaning: Promise<QueryVector | WordsOnly> | null,
    filter: MemoryFilter,
    limit: number,
  ): Promise<SharedAnswer> {
    const { items, collection } = this.#deps;
    const vector = await meaning;
    const isComparable = vector !== null && 'values' in vector && vector.dimension === collection.dimension;
    const dense = isComparable ? { model: modelName(vector), values: [...vector.values] } : null;
    const asked = { words, dense, project, writer: this.#writer, filter, limit };
    const found = (await collection.search(asked)).flatMap(referenceIn);
    const foreign = found.filter(({ writer }) => writer !== this.#writer);
    const known = await items.knownVersions(foreign.map(({ id }) => id));
    const unknown = foreign.filter(({ id, version }) => (known.get(id)?.version ?? -1) < version);
    if (unknown.length > 0) await this.#intake.accept(await collection.read(unknown.map(({ id }) => id)), null);
    this.#breaker.succeeded();
    return { ids: found.map(({ id }) => id) };
  }

  async #run(): Promise<void> {
    const { timer, intervalMs } = this.#deps;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      // What is stored while the round is under way gets another one.
      this.#hasNew = false;
      if (this.#breaker.waitMs === 0) await this.#round().catch(() => {});
      const { waitMs } = this.#breaker;
      if (waitMs > 0) await pause(timer, waitMs, signal);
      else {
        if (!this.#hasNew) await this.#untilChanged(intervalMs);
        if (this.#hasNew) await pause(timer, GATHER_MS, signal);
      }
    }
  }

  async #untilChanged(ms: number): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await pause(this.#deps.timer, ms, AbortSignal.any([this.#stopping.signal, woken.signal]));
    this.#wake = null;
  }

  async #round(): Promise<void> {
    await this.#exclusive(async () => {
      await this.#prepare();
      await this.#send();
      await this.#read();
      await this.#recount();
      this.#syncedMs = this.#deps.clock.now();
    });
  }

  /** One after another; a failure opens the breaker. */
  #exclusive(work: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopping;
    return this.#rounds.run(async () => {
      signal.throwIfAborted();
      try {
        await work();
        this.#breaker.succeeded();
      } catch (thrown) {
        if (signal.aborted) throw thrown;
        this.#isReady = false;
        if (this.#breaker.fault === null) this.#deps.logger.warn('memory.sync_failed', { message: messageOf(thrown) });
        this.#breaker.failed(messageOf(thrown));
        throw thrown;
      }
    });
  }

  /** A collection that is made now gets everything: what was sent before went to another server, or is lost. */
  async #prepare(): Promise<void> {
    const { collection, items, dense } = this.#deps;
    if (this.#isReady) return;
    if (!(await this.#remote(collection.exists()))) {
      const dimension = dense === null ? null : (await dense.identity()).dimension;
      await items.enqueueAll();
      await this.#remote(collection.create(dimension));
    }
    this.#isReady = true;
  }

  async #send(): Promise<void> {
    const { items } = this.#deps;
    for (;;) {
      const changes = await items.pending(BATCH, BATCH_CHARS);
      const [first] = changes;
      if (first === undefined) return;
      const points = await this.#pointsOf(changes);
      await items.sending(changes);
      await this.#remote(this.#deps.collection.put(points, { writer: this.#writer, version: first.seq }));
      await items.delivered(changes);
    }
  }

  async #pointsOf(changes: readonly Pending[]): Promise<NewPoint[]> {
    const nowMs = this.#deps.clock.now();
    const { dense, collection } = this.#deps;
    const vectors = await dense?.vectorsOf(changes.map(({ id }) => id));
    return changes.map((change) => {
      const origin = { id: change.id, writer: this.#writer, version: change.seq, project: change.project };
      if (change.op === 'delete')
        return { id: change.id, payload: tombstoneOf(origin, nowMs), words: null, dense: null };
      const { memory } = change;
      const payload = payloadOf(memory, origin, nowMs);
      const vector = vectors?.get(change.id) ?? null;
      const isTaken = vector !== null && vector.values.length === collection.dimension;
      return { id: change.id, payload, words: documentVector(memory), dense: isTaken ? vector : null };
    });
  }

  async #read(): Promise<void> {
    const { items, collection, clock, projects } = this.#deps;
    const startedMs = clock.now();
    const isFull = clock.monotonic() - this.#fullReadAt >= FULL_READ_MS;
    let cursor: Cursor = await items.cursor();
    if (isFull && cursor.offset === null) cursor = { ...cursor, sinceMs: 0 };
    const offsets = new Set([cursor.offset]);
    for (;;) {
      const asked = { projects: [...projects.values()], writer: this.#writer, limit: PAGE };
      const { payloads, next } = await this.#remote(
        collection.page({ ...asked, sinceMs: Math.max(0, cursor.sinceMs - OVERLAP_MS), offset: cursor.offset }),
      );
      const newestMs = Math.max(cursor.newestMs, ...payloads.map(writtenIn));
      // A clock that is ahead must not hide what others write until then.
      const done = { sinceMs: Math.min(Math.max(cursor.sinceMs, newestMs), startedMs), offset: null, newestMs: 0 };
      const isRepeated = next !== null && offsets.has(next);
      const following: Cursor = next === null || isRepeated ? done : { ...cursor, offset: next, newestMs };
      await this.#intake.accept(payloads, following);
      if (isRepeated)
        throw new ContextdError('UPSTREAM_UNAVAILABLE', 'the Qdrant server named a page again that was read already', {
          remedy: 'Check the server: every page must have its points once.',
        });
      if (next === null) break;
      cursor = following;
      offsets.add(next);
      if (offsets.size > PAGES_MAX) return;
    }
    if (isFull) this.#fullReadAt = clock.monotonic();
  }

  /** A collection that was emptied, or restored from an older state, gets everything again. */
  async #recount(): Promise<void> {
    const { items, collection } = this.#deps;
    const { pending, sent } = await items.counts();
    if (pending > 0 || sent === 0) return;
    if ((await this.#remote(collection.count(this.#writer))) >= sent) return;
    await items.enqueueAll(await this.#remote(collection.newestVersion(this.#writer)));
    await this.#send();
  }

  /** Ends when the daemon stops, even if the server never answers. */
  #remote<T>(call: Promise<T>): Promise<T> {
    return untilAborted(call, this.#stopping.signal);
  }
}

function referenceIn({ id, writer, version }: JsonObject): { id: string; writer: string; version: number }[] {
  const isWhole = typeof id === 'string' && typeof writer === 'string' && typeof version === 'number';
  return isWhole ? [{ id, writer, version }] : [];
}

function writtenIn(payload: unknown): number {
  const written = isJsonObject(payload) ? payload.written_ms : undefined;
  return typeof written === 'number' && Number.isFinite(written) ? written : 0;
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
