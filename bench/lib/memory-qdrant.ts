import { randomBytes } from 'node:crypto';
import { newMemoryId } from '../../src/core/ids.ts';
import { queryWords } from '../../src/features/memory/query.ts';
import { NO_FILTER } from '../../src/features/memory/rows.ts';
import { type NewPoint, QdrantCollection } from '../../src/features/memory/sync/qdrant.ts';
import { documentVector } from '../../src/features/memory/sync/sparse-words.ts';
import type { Lesson } from './lessons.ts';

const BATCH = 64;
const MODEL = 'bench';
const WRITER = '0'.repeat(32);
const PROJECT = 'bench';

/** A collection of its own on a real server, with a dense vector in each point. */
export class BenchQdrant {
  readonly #collection: QdrantCollection;
  readonly #url: string;
  readonly #name = `contextd_bench_${randomBytes(4).toString('hex')}`;
  #version = 0;

  private constructor(url: string) {
    this.#url = url;
    const timeouts = { timeoutMs: 60_000, searchTimeoutMs: 60_000 };
    this.#collection = new QdrantCollection({ url, collection: this.#name, ...timeouts, apiKey: async () => null });
  }

  static async create(url: string, dimension: number): Promise<BenchQdrant> {
    const created = new BenchQdrant(url);
    await created.#collection.create(dimension);
    return created;
  }

  async put(lessons: readonly Lesson[], vector: () => number[]): Promise<void> {
    for (let from = 0; from < lessons.length; from += BATCH) {
      const version = ++this.#version;
      const points = lessons.slice(from, from + BATCH).map((lesson) => pointOf(lesson, vector(), version));
      await this.#collection.put(points, { writer: WRITER, version });
    }
  }

  /** `values` null: by words only. */
  search(query: string, limit: number, values: number[] | null): Promise<unknown> {
    return this.#collection.search({
      words: queryWords(query),
      project: PROJECT,
      writer: WRITER,
      filter: NO_FILTER,
      limit,
      dense: values === null ? null : { model: MODEL, values },
    });
  }

  async remove(): Promise<void> {
    await fetch(`${this.#url}/collections/${this.#name}`, { method: 'DELETE' });
  }
}

function pointOf(lesson: Lesson, values: number[], version: number): NewPoint {
  const id = newMemoryId();
  const words = documentVector({ ...lesson, tags: [], outcome: 'success', task: '', context: '' });
  const state = { deleted: false, quarantined: false, written_ms: 1, updated_ms: 1, scope: 'project', tags: [] };
  const payload = { id, writer: WRITER, version, project: PROJECT, outcome: 'success', ...state, ...lesson };
  return { id, payload, words, dense: { model: MODEL, values } };
}
