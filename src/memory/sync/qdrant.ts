import type { QdrantClient, Schemas } from '@qdrant/js-client-rest';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { NamedVector } from '../dense/embedder.ts';
import type { MemoryFilter } from '../store.ts';
import { pointIdOf } from './points.ts';
import { queryVector, type SparseVector } from './sparse-words.ts';

export interface QdrantServer {
  /** With http or https; a path in it is put before each route. */
  readonly url: string;
  readonly collection: string;
  /** Milliseconds for one write or one page. */
  readonly timeoutMs: number;
  /** Milliseconds for one search. */
  readonly searchTimeoutMs: number;
  /** Read at the first call and again after a failure. Null: the server asks for none. */
  apiKey(): Promise<string | null>;
}

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

interface Clients {
  readonly write: QdrantClient;
  readonly search: QdrantClient;
}

/** One collection of a Qdrant server. Each method throws UPSTREAM_UNAVAILABLE, which says why, if the server fails. */
export class QdrantCollection {
  readonly #server: QdrantServer;
  #clients: Promise<Clients> | null = null;
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
    return this.#call('write', async (client, name) => {
      const info = await client.getCollection(name).catch((error: unknown) => {
        if (statusOf(error) === 404) return null;
        throw error;
      });
      if (info === null) return false;
      const { sparse_vectors, vectors } = info.config.params;
      if (!isJsonObject(sparse_vectors) || sparse_vectors[WORDS] === undefined)
        throw new ContextdError('CONFLICT', `the collection ${name} has no sparse vector "${WORDS}"`, {
          remedy: 'Something else made it: set memory.qdrant.collection to a new name.',
        });
      const dense = isJsonObject(vectors) ? vectors[DENSE] : undefined;
      this.#dimension = isJsonObject(dense) && typeof dense.size === 'number' ? dense.size : null;
      await this.#createIndexes(client, Object.keys(info.payload_schema));
      return true;
    });
  }

  /** `dimension` null: without a dense vector. */
  create(dimension: number | null): Promise<void> {
    return this.#call('write', async (client, name) => {
      await client.createCollection(name, {
        vectors: dimension === null ? {} : { [DENSE]: { size: dimension, distance: 'Cosine' } },
        sparse_vectors: { [WORDS]: { modifier: 'idf' } },
      });
      this.#dimension = dimension;
      await this.#createIndexes(client, []);
    });
  }

  /**
   * Writes points of one writer. A point that the server has in this version or a newer one, or of another writer, stays
   * as it is, so that a request that arrives late changes nothing.
   */
  put(points: readonly NewPoint[], { writer, version }: { writer: string; version: number }): Promise<void> {
    return this.#call('write', async (client, name) => {
      await client.upsert(name, {
        wait: true,
        points: points.map(({ id, payload, words, dense }) => ({
          id: pointIdOf(id),
          vector: {
            ...(words === null ? {} : { [WORDS]: words }),
            ...(dense === null ? {} : { [DENSE]: dense.values }),
          },
          payload: dense === null ? payload : { ...payload, model: dense.model, dimension: dense.values.length },
        })),
        update_filter: {
          must: [
            { key: 'writer', match: { value: writer } },
            { key: 'version', range: { lt: version } },
          ],
        },
      });
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
          ...{ query: meaning.values, using: DENSE, limit },
          filter: { ...filter, must: [...filter.must, { key: 'model', match: { value: meaning.model } }] },
        },
      ],
      query: { fusion: 'rrf' },
      limit,
    });
    return this.#call('search', async (client, name) => {
      const request = dense === null ? sparse : hybrid(dense);
      const { points } = await client.query(name, { ...request, with_payload: ['id', 'writer', 'version'] });
      return points.flatMap(({ payload }) => (isJsonObject(payload) ? [payload] : []));
    });
  }

  /** Points that others wrote since a moment, forgotten ones too, in the order of their ids. */
  page({
    projects,
    writer,
    sinceMs,
    offset,
    limit,
  }: PageRequest): Promise<{ payloads: unknown[]; next: string | null }> {
    return this.#call('write', async (client, name) => {
      const { points, next_page_offset } = await client.scroll(name, {
        filter: {
          must: [
            { key: 'project', match: { any: [...projects] } },
            { key: 'written_ms', range: { gte: sinceMs } },
          ],
          must_not: [{ key: 'writer', match: { value: writer } }],
        },
        limit,
        with_payload: true,
        ...(offset === null ? {} : { offset }),
      });
      const next = next_page_offset ?? null;
      return { payloads: points.map(({ payload }) => payload), next: next === null ? null : String(next) };
    });
  }

  /** The payloads of memories, in any order; those that are missing are left out. */
  read(ids: readonly string[]): Promise<unknown[]> {
    return this.#call('search', async (client, name) => {
      const records = await client.retrieve(name, { ids: ids.map(pointIdOf), with_payload: true });
      return records.map(({ payload }) => payload);
    });
  }

  /** How many points a writer has, forgotten ones too. */
  count(writer: string): Promise<number> {
    return this.#call('write', async (client, name) => {
      const filter = { must: [{ key: 'writer', match: { value: writer } }] };
      return (await client.count(name, { filter, exact: true })).count;
    });
  }

  /** The newest version of a writer; 0 if it has none. */
  newestVersion(writer: string): Promise<number> {
    return this.#call('write', async (client, name) => {
      const { points } = await client.scroll(name, {
        filter: { must: [{ key: 'writer', match: { value: writer } }] },
        order_by: { key: 'version', direction: 'desc' },
        ...{ limit: 1, with_payload: ['version'] },
      });
      const version: unknown = points[0]?.payload?.version;
      return typeof version === 'number' ? version : 0;
    });
  }

  async #createIndexes(client: QdrantClient, known: readonly string[]): Promise<void> {
    const missing = Object.entries(INDEXES).filter(([field]) => !known.includes(field));
    for (const [field_name, field_schema] of missing)
      await client.createPayloadIndex(this.#server.collection, { wait: true, field_name, field_schema });
  }

  async #call<T>(kind: keyof Clients, work: (client: QdrantClient, collection: string) => Promise<T>): Promise<T> {
    try {
      this.#clients ??= connect(this.#server);
      return await work((await this.#clients)[kind], this.#server.collection);
    } catch (thrown) {
      this.#clients = null;
      if (thrown instanceof ContextdError) throw thrown;
      throw new ContextdError('UPSTREAM_UNAVAILABLE', `the Qdrant server at ${this.#server.url} ${faultOf(thrown)}`, {
        remedy:
          'Check memory.qdrant in the configuration and the server. Memories are stored and found here meanwhile.',
        cause: thrown,
      });
    }
  }
}

/** The client is loaded here: a machine without a server never pays for it. */
async function connect({ url, apiKey, timeoutMs, searchTimeoutMs }: QdrantServer): Promise<Clients> {
  const [{ QdrantClient: Client }, key] = await Promise.all([import('@qdrant/js-client-rest'), apiKey()]);
  const { origin, protocol, port, pathname } = new URL(url);
  const headers = key === null ? {} : { 'api-key': key };
  const prefix = pathname === '/' ? '' : pathname.replace(/\/+$/, '');
  // Without a port the client would take 6333, which is not what the address says.
  const standard = protocol === 'https:' ? 443 : 80;
  const options = {
    url: origin,
    port: port === '' ? standard : Number(port),
    prefix,
    headers,
    checkCompatibility: false,
  };
  return {
    write: new Client({ ...options, timeout: timeoutMs }),
    search: new Client({ ...options, timeout: searchTimeoutMs }),
  };
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

function faultOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'failed';
  if (thrown.name === 'QdrantClientTimeoutError' || thrown.constructor.name === 'QdrantClientTimeoutError')
    return 'did not answer in time';
  const status = statusOf(thrown);
  if (status !== null) return `answered ${status}${reasonIn(thrown)}`;
  if (isErrno(thrown.cause)) return `cannot be reached (${thrown.cause.code})`;
  if (thrown instanceof SyntaxError) return 'answered something that is not JSON';
  return `failed: ${thrown.message.slice(0, 200)}`;
}

function statusOf(thrown: unknown): number | null {
  return thrown instanceof Error && 'status' in thrown && typeof thrown.status === 'number' ? thrown.status : null;
}

/** The server's own sentence, which names what it refuses and holds no text of a memory. */
function reasonIn(thrown: Error): string {
  const data: unknown = 'data' in thrown ? thrown.data : undefined;
  const status: Json | undefined = isJsonObject(data) ? data.status : undefined;
  const error = isJsonObject(status) ? status.error : undefined;
  return typeof error === 'string' ? `: ${error.slice(0, 200)}` : '';
}
