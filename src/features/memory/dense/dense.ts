import { type Clock, pause, type Timer } from '../../../core/clock.ts';
import { ContextdError } from '../../../core/errors.ts';
import { Lock } from '../../../core/lock.ts';
import type { Logger } from '../../../core/log.ts';
import type { Database } from '../../../stores/sqlite.ts';
import { Breaker } from '../../shared/breaker.ts';
import { withDeadline } from '../deadline.ts';
import type { MemoryFilter } from '../rows.ts';
import {
  type Embedded,
  type Embedder,
  type Identity,
  identityOf,
  modelName,
  type NamedVector,
  type Purpose,
} from './embedder.ts';
import { type NewVector, type Unembedded, Vectors } from './vectors.ts';

export interface DenseDeps {
  database: Database;
  embedder: Embedder;
  /** Masks a query: it may go to an endpoint. What is stored has been masked. */
  mask(project: string, text: string): Promise<string>;
  /** Milliseconds after which a search goes by words only. */
  queryTimeoutMs: number;
  /** Milliseconds for one batch of memories. */
  timeoutMs: number;
  clock: Clock;
  timer: Timer;
  /** Gives numbers from 0 to below 1. */
  random(): number;
  logger: Logger;
}

/** The vector of a query, and which stored vectors it may be compared with. */
export interface QueryVector extends Identity {
  readonly embedding: number;
  readonly values: Float32Array<ArrayBuffer>;
}

/** Why a search goes by words only. */
export interface WordsOnly {
  readonly wordsOnly: string;
}

export interface DenseStatus {
  /** Where the model is, for a person. */
  readonly name: string;
  /** What the model was when it last embedded memories; null: it has not answered since the start. */
  readonly identity: Identity | null;
  /** Memories that have no vector of it yet; null: unknown until it answers. */
  readonly waiting: number | null;
  /** Why the last call failed; null if it did not. */
  readonly fault: string | null;
}

/** Characters of a query and of a memory that are embedded: models read no more than a few hundred words. */
const TEXT_MAX_CHARS = 2_000;
/** Memories in one request. */
const BATCH = 16;
/** The rest after a batch is as long as the batch took, within these milliseconds: a model can use all processors. */
const REST_MIN_MS = 20;
const REST_MAX_MS = 5_000;
/** Milliseconds between two looks for memories that came from others. */
const INTERVAL_MS = 10_000;
const PROBE = 'Which model is it?';

/** Memories ranked by meaning: a vector for each, made in the background, and the nearest to that of a query. */
export class Dense {
  readonly #deps: DenseDeps;
  readonly #vectors: Vectors;
  readonly #breaker: Breaker;
  readonly #stopping = new AbortController();
  /** What memories get vectors of; null until the model was asked. */
  #wanted: (Identity & { readonly embedding: number }) | null = null;
  readonly #rounds = new Lock();
  #loop: Promise<void> = Promise.resolve();
  #wake: (() => void) | null = null;
  #hasNew = false;
  /** Called when memories got vectors. */
  onEmbedded: () => void = () => {};

  constructor(deps: DenseDeps) {
    this.#deps = deps;
    this.#vectors = new Vectors(deps.database);
    this.#breaker = new Breaker(deps);
  }

  /** Needs the database only: the model may be away. */
  async start(): Promise<void> {
    this.#loop = this.#run();
  }

  /** Does not wait for the model. What has no vector gets one after the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('contextd is stopping'));
    this.#wake?.();
    await Promise.allSettled([this.#loop, this.#rounds.settled, this.#deps.embedder.stop()]);
  }

  /** Something was stored. */
  changed(): void {
    this.#hasNew = true;
    this.#wake?.();
  }

  /** The vector of a query with which memories are searched, within the deadline. Never throws. */
  async vectorOf(project: string, query: string): Promise<QueryVector | WordsOnly> {
    const embedded = await this.embedQuery(project, query);
    return 'wordsOnly' in embedded ? embedded : this.#comparable(embedded).catch((thrown) => this.#wordsOnly(thrown));
  }

  /** The vector of a query, masked first, within the deadline. Never throws. */
  async embedQuery(project: string, query: string): Promise<Embedded | WordsOnly> {
    if (this.#breaker.waitMs > 0) return { wordsOnly: this.#breaker.fault ?? 'the embedding model failed' };
    const { queryTimeoutMs: ms, timer } = this.#deps;
    const late = new AbortController();
    const fault = `the embedding model did not answer within ${ms} ms`;
    try {
      const deadline = { ms, fault, late, timer, stopping: this.#stopping.signal };
      return await withDeadline(deadline, this.#masked(project, [query], 'query', late.signal));
    } catch (thrown) {
      return this.#wordsOnly(thrown);
    }
  }

  /** Vectors of texts that are no memories, masked first. Throws UPSTREAM_UNAVAILABLE, UPSTREAM_ERROR. */
  embedDocuments(project: string, texts: readonly string[]): Promise<Embedded> {
    return this.#exclusive(() => this.#inTime((signal) => this.#masked(project, texts, 'document', signal)));
  }

  /** The nearest memories with their cosines, the nearest first. */
  nearest(project: string, query: QueryVector, filter: MemoryFilter, limit: number): Promise<Map<string, number>> {
    const { embedding, values: vector } = query;
    return this.#vectors.nearest({ project, embedding, vector, filter, limit });
  }

  /** The cosines of these memories to a query, as far as they have vectors. */
  cosinesOf({ embedding, values }: QueryVector, ids: readonly string[]): Promise<Map<string, number>> {
    return this.#vectors.scoresOf(embedding, values, ids);
  }

  /** What vectors are of. Asks the model if it has not answered since the start, and then throws UPSTREAM_UNAVAILABLE. */
  async identity(): Promise<Identity> {
    return this.#wanted ?? (await this.#exclusive(() => this.#ask()));
  }

  /** The vectors that these memories have, by their ids, each with the name of its model. */
  vectorsOf(ids: readonly string[]): Promise<ReadonlyMap<string, NamedVector>> {
    return this.#vectors.of(ids);
  }

  /** Makes all vectors that are missing, at once and without rests. Throws UPSTREAM_UNAVAILABLE. */
  async catchUp(): Promise<void> {
    while (await this.#exclusive(() => this.#embedSome()));
  }

  async status(): Promise<DenseStatus> {
    const wanted = this.#wanted;
    return {
      name: this.#deps.embedder.name,
      identity: wanted,
      waiting: wanted === null ? null : await this.#vectors.missing(wanted.embedding),
      fault: this.#breaker.fault,
    };
  }

  /** Asks the model now, whatever failed before. Throws UPSTREAM_UNAVAILABLE, UPSTREAM_ERROR, NOT_FOUND. */
  async probe(): Promise<void> {
    await this.#exclusive(() => this.#ask());
  }

  async #masked(project: string, texts: readonly string[], purpose: Purpose, signal: AbortSignal): Promise<Embedded> {
    const cut = (text: string): string => text.slice(0, TEXT_MAX_CHARS);
    const masked = await Promise.all(texts.map((text) => this.#deps.mask(project, cut(text))));
    const embedded = await this.#deps.embedder.embed(masked.map(cut), purpose, signal);
    this.#breaker.succeeded();
    return embedded;
  }

  #wordsOnly(thrown: unknown): WordsOnly {
    if (!this.#stopping.signal.aborted) this.#failed(thrown);
    return { wordsOnly: messageOf(thrown) };
  }

  async #comparable(embedded: Embedded): Promise<QueryVector | WordsOnly> {
    const identity = identityOf(embedded);
    const [values] = embedded.vectors;
    const embedding = await this.#vectors.find(identity);
    const wanted = this.#wanted;
    const isWanted = wanted === null || isSame(identity, wanted);
    if (isWanted && embedding !== null && values !== undefined) return { ...identity, embedding, values };
    // Another model answers than the one that embedded the memories: it is asked what it is.
    this.#wanted = null;
    this.changed();
    const instead = wanted === null ? '' : `, but of ${describe(wanted)}`;
    return { wordsOnly: `the memories have no vectors of ${describe(identity)}${instead}` };
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { timer, clock } = this.#deps;
    while (!signal.aborted) {
      this.#hasNew = false;
      const began = clock.monotonic();
      const hasMore = this.#breaker.waitMs === 0 && (await this.#exclusive(() => this.#embedSome()).catch(() => false));
      const took = clock.monotonic() - began;
      const { waitMs } = this.#breaker;
      if (waitMs > 0) await pause(timer, waitMs, signal);
      else if (hasMore) await pause(timer, Math.min(REST_MAX_MS, Math.max(REST_MIN_MS, took)), signal);
      else if (!this.#hasNew) await this.#untilChanged();
    }
  }

  async #untilChanged(): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await pause(this.#deps.timer, INTERVAL_MS, AbortSignal.any([this.#stopping.signal, woken.signal]));
    this.#wake = null;
  }

  /** One after another; a failure opens the breaker. */
  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    return this.#rounds.run(async () => {
      this.#stopping.signal.throwIfAborted();
      try {
        return await work();
      } catch (thrown) {
        if (!this.#stopping.signal.aborted) this.#failed(thrown);
        throw thrown;
      }
    });
  }

  #failed(thrown: unknown): void {
    if (this.#breaker.fault === null) this.#deps.logger.warn('memory.embedding_failed', { message: messageOf(thrown) });
    this.#breaker.failed(messageOf(thrown));
  }

  /** Asks the model what it is. Memories that have vectors of something else wait for new ones from then on. */
  async #ask(): Promise<Identity & { readonly embedding: number }> {
    const identity = identityOf(await this.#embed([PROBE]));
    const embedding = await this.#vectors.open(identity);
    const others = (await this.#vectors.counts()).filter(({ number }) => number !== embedding);
    if (others.length > 0 && this.#wanted?.embedding !== embedding) {
      const memories = others.reduce((sum, { count }) => sum + count, 0);
      const from = others.map(describe);
      this.#deps.logger.warn('memory.embedding_changed', { from, to: describe(identity), memories });
    }
    await this.#vectors.load(embedding, identity.dimension);
    this.#wanted = { ...identity, embedding };
    return this.#wanted;
  }

  /** Returns whether there may be more. */
  async #embedSome(): Promise<boolean> {
    const { embedding } = this.#wanted ?? (await this.#ask());
    const waiting = await this.#vectors.unembedded(embedding, BATCH);
    if (waiting.length === 0) return false;
    const made = await this.#vectorsFor(waiting);
    // Another model answered: it is asked what it is before anything is stored.
    if (made === null) this.#wanted = null;
    else {
      await this.#vectors.put(embedding, made);
      this.onEmbedded();
    }
    return true;
  }

  /** Null if they are not of the wanted model. A text that the model refuses gets no vector, and the others do. */
  async #vectorsFor(memories: readonly Unembedded[]): Promise<NewVector[] | null> {
    try {
      const embedded = await this.#embed(memories.map(textOf));
      if (!isSame(identityOf(embedded), this.#wanted)) return null;
      return memories.map((memory, index) => ({ ...memory, vector: embedded.vectors[index] ?? null }));
    } catch (thrown) {
      if (!(thrown instanceof ContextdError) || thrown.code !== 'UPSTREAM_ERROR') throw thrown;
      if (memories.length === 1) return this.#refused(memories);
      const made: NewVector[] = [];
      for (const memory of memories) {
        const one = await this.#vectorsFor([memory]);
        if (one === null) return null;
        made.push(...one);
      }
      return made;
    }
  }

  /** A model that refuses every text is configured wrongly. */
  async #refused(memories: readonly Unembedded[]): Promise<NewVector[]> {
    await this.#embed([PROBE]);
    for (const { id } of memories) this.#deps.logger.warn('memory.embedding_refused', { id });
    return memories.map((memory) => ({ ...memory, vector: null }));
  }

  #embed(texts: readonly string[]): Promise<Embedded> {
    return this.#inTime((signal) => this.#deps.embedder.embed(texts, 'document', signal));
  }

  async #inTime(embed: (signal: AbortSignal) => Promise<Embedded>): Promise<Embedded> {
    const { timer, timeoutMs: ms } = this.#deps;
    const late = new AbortController();
    const { signal: stopping } = this.#stopping;
    const fault = `the embedding model did not answer within ${ms} ms`;
    const answer = embed(AbortSignal.any([late.signal, stopping]));
    const embedded = await withDeadline({ ms, fault, late, timer, stopping }, answer);
    this.#breaker.succeeded();
    return embedded;
  }
}

function isSame(one: Identity, other: Identity | null): boolean {
  return other !== null && describe(one) === describe(other);
}

function describe(identity: Identity): string {
  return `${modelName(identity)} with ${identity.dimension} numbers`;
}

function textOf({ title, description, content }: Unembedded): string {
  return `${title}\n${description}\n${content}`.slice(0, TEXT_MAX_CHARS);
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
