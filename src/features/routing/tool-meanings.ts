import { pause, type Timer } from '../../core/clock.ts';
import type { CatalogItem } from '../../gateway/item.ts';
import { type Meaning, textToEmbed } from '../../gateway/router/meaning.ts';

/** Vectors as a model answered them. Those of two names are never compared. */
interface Embedded {
  readonly model: string;
  readonly revision: string;
  readonly vectors: readonly Float32Array[];
}

/** The model that ranks memories. It masks what it is given. */
export interface ToolModel {
  /** Within the deadline of a query. Never throws. */
  embedQuery(project: string, query: string): Promise<Embedded | { readonly wordsOnly: string }>;
  /** Throws if the model is away, or does not take the texts. */
  embedDocuments(project: string, texts: readonly string[]): Promise<Embedded>;
}

export interface ToolMeaningDeps {
  model: ToolModel;
  timer: Timer;
}

/** Tools in one request. */
const BATCH = 16;
/** Milliseconds between two requests: a model can use all processors. */
const REST_MS = 20;
/** Tools whose vectors are kept. Beyond that all are made again. */
const KEPT_MAX = 20_000;
const NEVER = new AbortController().signal;

/** What a model says of tools. Their vectors are made in the background, and kept as long as the daemon runs. */
export class ToolMeanings {
  readonly #deps: ToolMeaningDeps;
  /** By the texts that they were made of. */
  readonly #vectors = new Map<string, Float32Array>();
  /** What the vectors are of. "" before the first. */
  #model = '';
  #making: Promise<void> | null = null;

  constructor(deps: ToolMeaningDeps) {
    this.#deps = deps;
  }

  /** Undefined as long as tools lack a vector, or if the model does not answer in time: words alone decide. Never throws. */
  async of(project: string, query: string, items: readonly CatalogItem[]): Promise<Meaning | undefined> {
    const embedded = await this.#deps.model.embedQuery(project, query);
    if ('wordsOnly' in embedded) return undefined;
    this.#take(embedded);
    const texts = items.map(textToEmbed);
    const missing = texts.filter((text) => !this.#vectors.has(text));
    if (missing.length > 0) {
      this.#making ??= this.#make(project, [...new Set(missing)]).finally(() => {
        this.#making = null;
      });
      return undefined;
    }
    const vectors = items.map(({ id }, at) => [id, this.#vectors.get(texts[at] ?? '') ?? new Float32Array()] as const);
    return { query: embedded.vectors[0] ?? new Float32Array(), vectors: new Map(vectors) };
  }

  /** Resolves when no vectors are being made. */
  get settled(): Promise<void> {
    return this.#making ?? Promise.resolve();
  }

  async #make(project: string, texts: readonly string[]): Promise<void> {
    if (this.#vectors.size + texts.length > KEPT_MAX) this.#vectors.clear();
    for (let from = 0; from < texts.length; from += BATCH) {
      const part = texts.slice(from, from + BATCH);
      // The model says itself what failed, and the next browse tries again. A daemon that stops ends the model.
      const embedded = await this.#deps.model.embedDocuments(project, part).catch(() => null);
      if (embedded === null) return;
      this.#take(embedded);
      for (const [at, text] of part.entries()) this.#vectors.set(text, embedded.vectors[at] ?? new Float32Array());
      await pause(this.#deps.timer, REST_MS, NEVER);
    }
  }

  /** Vectors of another model than before are worth nothing beside the new ones. */
  #take({ model, revision, vectors }: Embedded): void {
    const name = JSON.stringify([model, revision, vectors[0]?.length]);
    if (name !== this.#model) this.#vectors.clear();
    this.#model = name;
  }
}
