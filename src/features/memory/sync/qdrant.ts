import type { Schemas } from '@qdrant/js-client-rest';
import { ContextdError } from '../../../core/errors.ts';
import { isJsonObject, type JsonObject } from '../../../core/json.ts';
import type { NamedVector } from '../dense/embedder.ts';
import type { MemoryFilter } from '../rows.ts';
import { pointIdOf } from './points.ts';
import {
  type Connection,
  connect,
  type Endpoints,
  faultOf,
  Nonsense,
  type QdrantServer,
  statusOf,
} from './qdrant-connection.ts';
import { queryVector, type SparseVector } from './sparse-words.ts';

/** A vector of a model; null: only the words count. */
type DenseVector = NamedVector | null;

export interface NewPoint {
  readonly id: string;
  readonly payload: JsonObject;
  /** Null for a memory that was forgotten. */
  readonly words: SparseVector | null;
  readonly dense: DenseVector;
}

export interface SharedQuery {
  readonly words: readonly string[];
  readonly dense: DenseVector;
  /** The configured id of the project. */
  readonly project: string;
  /** Its global memories are found in every project. */
  readonly writer: string;
  readonly filter: MemoryFilter;
  readonly limit: number;
}

export interface PageRequest {
  readonly projects: readonly string[];
  /** Its own points are left out. */
  readonly writer: string;
  readonly sinceMs: number;
  /** Null: the first page. */
  readonly offset: string | null;
  readonly limit: number;
}

const WORDS = 'words';
const DENSE = 'dense';

const INDEXES: Readonly<Record<string, Schemas['PayloadFieldSchema']>> = {
  project: { type: 'keyword', is_tenant: true },
  writer: 'keyword',
  scope: 'keyword',
  tags: 'keyword',
  outcome: 'keyword',
  model: 'keyword',
  deleted: 'bool',
  quarantined: 'bool',
  version: 'integer',
  updated_ms: 'integer',
  written_ms: 'integer',
};

const OFFSET_PATTERN = /^(?:[0-9]{1,20}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** What a request is made with. */
interface Request {
  readonly api: Endpoints;
  readonly init: RequestInit;
  readonly collection_name: string;
}

/**
 * One collection of a Qdrant server. Each method throws UPSTREAM_UNAVAILABLE, which says why, if the server fails. Nothing
 * that the server answers is trusted: it gives no more than was asked for, and no redirect is followed.
 */
export class QdrantCollection {
  readonly #server: QdrantServer;
  #connection: Promise<Connection> | null = null;
  /** Never part of a fault. */
  #key: string | null = null;
  #dimension: number | null = null;

  constructor(server: QdrantServer) {
    this.#server = server;
  }

  /** Numbers of a dense vector; null if the collection takes none. Known once `exists` or `create` was called. */
  get dimension(): number | null {
    return this.#dimension;
  }

  /** Also creates the indexes that are missing. Throws CONFLICT if the collection was made for something else. */
  exists(): Promise<boolean> {
    return this.#call('write', async (request) => {
      const { api, init, collection_name: name } = request;
      const answer = await api.getCollection({ collection_name: name }, init).catch((error: unknown) => {
        if (statusOf(error) === 404) return null;
        throw error;
      });
      if (answer === null) return false;
      const info = resultOf(answer);
      const { sparse_vectors, vectors } = info.config.params;
      if (!isJsonObject(sparse_vectors) || sparse_vectors[WORDS] === undefined)
        throw new ContextdError('CONFLICT', `the collection ${name} has no sparse vector "${WORDS}"`, {
          remedy: 'Something else made it: set memory.qdrant.collection to a new name.',
        });
      const dense = isJsonObject(vectors) ? vectors[DENSE] : undefined;
      this.#dimension = isJsonObject(dense) && typeof dense.size === 'number' ? dense.size : null;
      await createIndexes(request, Object.keys(info.payload_schema));
      return true;
    });
  }

  /** `dimension` null: without a dense vector. */
  create(dimension: number | null): Promise<void> {
    return this.#call('write', async (request) => {
      const { api, init, collection_name } = request;
      const vectors: Schemas['VectorsConfig'] =
        dimension === null ? {} : { [DENSE]: { size: dimension, distance: 'Cosine' } };
      const sparse_vectors = { [WORDS]: { modifier: 'idf' as const } };
      await api.createCollection({ collection_name, vectors, sparse_vectors }, init);
      this.#dimension = dimension;
      await createIndexes(request, []);
    });
  }

  /**
   * Writes points of one writer. A point that the server has in this version or a newer one, or of another writer, stays
   * as it is, so that a request that arrives late changes nothing.
   */
  put(points: readonly NewPoint[], { writer, version }: { writer: string; version: number }): Promise<void> {
    const update_filter = {
      must: [
        { key: 'writer', match: { value: writer } },
        { key: 'version', range: { lt: version } },
      ],
    };
    return this.#call('write', async ({ api, init, collection_name }) => {
      await api.upsertPoints({ collection_name, wait: true, points: points.map(pointOf), update_filter }, init);
    });
  }

  /** Payloads with `id`, `writer` and `version`, the best first. */
  search({ words, dense, limit, ...where }: SharedQuery): Promise<JsonObject[]> {
    const filter = filterOf(where);
    const sparse = { query: queryVector(words), using: WORDS, filter, limit };
    // Found by words counts twice: named twice, because a server before 1.17 knows no weights.
    const hybrid = (meaning: NonNullable<DenseVector>): Schemas['QueryRequest'] => ({
      prefetch: [
        sparse,
        sparse,
        {
          query: meaning.values,
          using: DENSE,
          limit,
          filter: { ...filter, must: [...filter.must, { key: 'model', match: { value: meaning.model } }] },
        },
      ],
      query: { fusion: 'rrf' },
      limit,
    });
    return this.#call('search', async ({ api, init, collection_name }) => {
      const asked = dense === null ? sparse : hybrid(dense);
      const with_payload = ['id', 'writer', 'version'];
      const { points } = resultOf(await api.queryPoints({ collection_name, ...asked, with_payload }, init));
      return points.slice(0, limit).flatMap(({ payload }) => (isJsonObject(payload) ? [payload] : []));
    });
  }

  /**
   * Points that others wrote since a moment, forgotten ones too, in the order of their ids. `next` is null on the last
   * page only; a page that names a next one has points.
   */
  page({
    projects,
    writer,
    sinceMs,
    offset,
    limit,
  }: PageRequest): Promise<{ payloads: unknown[]; next: string | null }> {
    const filter = {
      must: [
        { key: 'project', match: { any: [...projects] } },
        { key: 'written_ms', range: { gte: sinceMs } },
      ],
      must_not: [{ key: 'writer', match: { value: writer } }],
    };
    return this.#call('write', async ({ api, init, collection_name }) => {
      const from = offset === null ? {} : { offset };
      const asked = { collection_name, filter, limit, with_payload: true, ...from };
      const { points, next_page_offset } = resultOf(await api.scrollPoints(asked, init));
      const next = next_page_offset == null ? null : String(next_page_offset);
      if (next !== null && !OFFSET_PATTERN.test(next)) throw new Nonsense('answered a page whose next one has no id');
      if (next !== null && points.length === 0) throw new Nonsense('answered an empty page that names a next one');
      return { payloads: points.slice(0, limit).map(({ payload }) => payload), next };
    });
  }

  /** The payloads of memories, in any order; those that are missing are left out. */
  read(ids: readonly string[]): Promise<unknown[]> {
    return this.#call('search', async ({ api, init, collection_name }) => {
      const asked = { collection_name, ids: ids.map(pointIdOf), with_payload: true };
      const records = resultOf(await api.getPoints(asked, init));
      return records.slice(0, ids.length).map(({ payload }) => payload);
    });
  }

  /** How many points a writer has, forgotten ones too. */
  count(writer: string): Promise<number> {
    return this.#call('write', async ({ api, init, collection_name }) => {
      const filter = { must: [{ key: 'writer', match: { value: writer } }] };
      return resultOf(await api.countPoints({ collection_name, filter, exact: true }, init)).count;
    });
  }

  /** The newest version of a writer; 0 if it has none. */
  newestVersion(writer: string): Promise<number> {
    return this.#call('write', async ({ api, init, collection_name }) => {
      const filter = { must: [{ key: 'writer', match: { value: writer } }] };
      const order_by = { key: 'version', direction: 'desc' as const };
      const asked = { collection_name, filter, order_by, limit: 1, with_payload: ['version'] };
      const version: unknown = resultOf(await api.scrollPoints(asked, init)).points[0]?.payload?.version;
      // A larger one would leave no number for what is sent next.
      return Number.isSafeInteger(version) ? Number(version) : 0;
    });
  }

  async #call<T>(kind: 'write' | 'search', work: (request: Request) => Promise<T>): Promise<T> {
    const { url, collection } = this.#server;
    try {
      this.#connection ??= this.#connect();
      const connection = await this.#connection;
      return await work({ api: connection[kind], init: connection.init, collection_name: collection });
    } catch (thrown) {
      this.#connection = null;
      if (thrown instanceof ContextdError) throw thrown;
      // Without a cause: it holds what the server said, which may be the key.
      throw new ContextdError('UPSTREAM_UNAVAILABLE', `the Qdrant server at ${url} ${faultOf(thrown, this.#key)}`, {
        remedy:
          'Check memory.qdrant in the configuration and the server. Memories are stored and found here meanwhile.',
      });
    }
  }

  async #connect(): Promise<Connection> {
    this.#key = await this.#server.apiKey();
    return connect(this.#server, this.#key);
  }
}

function pointOf({ id, payload, words, dense }: NewPoint): Schemas['PointStruct'] {
  return {
    id: pointIdOf(id),
    vector: {
      ...(words === null ? {} : { [WORDS]: words }),
      ...(dense === null ? {} : { [DENSE]: dense.values }),
    },
    payload: dense === null ? payload : { ...payload, model: dense.model, dimension: dense.values.length },
  };
}

async function createIndexes({ api, init, collection_name }: Request, known: readonly string[]): Promise<void> {
  const missing = Object.entries(INDEXES).filter(([field]) => !known.includes(field));
  for (const [field_name, field_schema] of missing)
    await api.createFieldIndex({ collection_name, wait: true, field_name, field_schema }, init);
}

function resultOf<T>({ data }: { data: { result?: T } }): T {
  if (data.result != null) return data.result;
  throw new Nonsense('answered without a result');
}

function filterOf({ project, writer, filter }: Pick<SharedQuery, 'project' | 'writer' | 'filter'>) {
  const { tags, outcome, scope, sinceMs } = filter;
  const inProject: Schemas['Condition'] = { key: 'project', match: { value: project } };
  const global: Schemas['Condition'] = {
    must: [
      { key: 'writer', match: { value: writer } },
      { key: 'scope', match: { value: 'global' } },
    ],
  };
  const must: Schemas['Condition'][] = [
    ...(scope === 'global' ? [global] : []),
    ...(scope === 'project' ? [inProject] : []),
    ...(scope === null ? [{ should: [inProject, global] }] : []),
    ...tags.map((tag) => ({ key: 'tags', match: { value: tag } })),
    ...(outcome === null ? [] : [{ key: 'outcome', match: { value: outcome } }]),
    ...(sinceMs === 0 ? [] : [{ key: 'updated_ms', range: { gte: sinceMs } }]),
  ];
  const must_not: Schemas['Condition'][] = [
    { key: 'deleted', match: { value: true } },
    { key: 'quarantined', match: { value: true } },
    ...(scope === 'project' ? [global] : []),
  ];
  return { must, must_not };
}
