import type { Schemas } from '@qdrant/js-client-rest';

/** What a server answers: a status and a JSON body. */
export interface ServerAnswer {
  status: number;
  body: unknown;
}

type Point = Schemas['PointStruct'];
type Payload = Record<string, unknown>;

interface Collection {
  config: Schemas['CreateCollection'];
  indexes: Map<string, Schemas['PayloadFieldSchema']>;
  points: Map<string, Point>;
}

/** Of Qdrant, in its reciprocal rank fusion. */
const FUSION_K = 2;

/** The endpoints of Qdrant that contextd uses, in memory, with the server's own rules. */
export class QdrantCollections {
  readonly #collections = new Map<string, Collection>();

  /** Removes every point of every collection, or every collection. */
  wipe(what: 'points' | 'collections'): void {
    if (what === 'collections') this.#collections.clear();
    for (const { points } of this.#collections.values()) points.clear();
  }

  answer(method: string, path: string, body: unknown): ServerAnswer {
    const [, name = '', route = ''] = /^\/collections\/([^/]+)(\/[a-z/]*)?$/.exec(path) ?? [];
    try {
      const result = this.#route(`${method} ${route}`, decodeURIComponent(name), body);
      return { status: 200, body: { result, status: 'ok', time: 0 } };
    } catch (thrown) {
      if (!(thrown instanceof Refusal)) throw thrown;
      return { status: thrown.status, body: { status: { error: thrown.message }, time: 0 } };
    }
  }

  // biome-ignore lint/suspicious/noExplicitAny: bodies are typed by the schema of the client that sends them
  #route(route: string, name: string, body: any): unknown {
    if (route === 'PUT ') return this.#create(name, body);
    const collection = this.#collections.get(name);
    if (collection === undefined) throw new Refusal(404, `Not found: Collection \`${name}\` doesn't exist!`);
    switch (route) {
      case 'GET ':
        return infoOf(collection);
      case 'DELETE ':
        return this.#collections.delete(name);
      case 'PUT /index':
        return createIndex(collection, body);
      case 'PUT /points':
        return upsert(collection, body);
      case 'POST /points/query':
        return { points: query(collection, body) };
      case 'POST /points/scroll':
        return scroll(collection, body);
      case 'POST /points':
        return retrieve(collection, body);
      case 'POST /points/count':
        return { count: matching(collection, body.filter).length };
      default:
        throw new Refusal(404, `no such endpoint: ${route}`);
    }
  }

  #create(name: string, config: Schemas['CreateCollection']): boolean {
    if (this.#collections.has(name)) throw new Refusal(409, `Collection \`${name}\` already exists!`);
    this.#collections.set(name, { config, indexes: new Map(), points: new Map() });
    return true;
  }
}

class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

function infoOf({ config, indexes, points }: Collection): unknown {
  const types = [...indexes].map(([field, schema]) => [
    field,
    { data_type: typeof schema === 'string' ? schema : schema.type, points: points.size },
  ]);
  const params = { vectors: config.vectors ?? {}, sparse_vectors: config.sparse_vectors };
  return {
    status: 'green',
    optimizer_status: 'ok',
    segments_count: 1,
    points_count: points.size,
    config: { params },
    payload_schema: Object.fromEntries(types),
  };
}

function createIndex({ indexes }: Collection, { field_name, field_schema }: Schemas['CreateFieldIndex']): unknown {
  indexes.set(field_name, (field_schema ?? 'keyword') as Schemas['PayloadFieldSchema']);
  return { operation_id: 0, status: 'completed' };
}

function upsert(collection: Collection, { points, update_filter }: Schemas['PointsList']): unknown {
  for (const point of points) checkVectors(collection, point);
  for (const point of points) {
    const id = String(point.id);
    const before = collection.points.get(id);
    const isHeld = before !== undefined && update_filter != null && !matches(payloadOf(before), update_filter);
    if (!isHeld) collection.points.set(id, structuredClone(point));
  }
  return { operation_id: 0, status: 'completed' };
}

function checkVectors({ config }: Collection, { vector }: Point): void {
  for (const [name, values] of Object.entries(vector as Record<string, number[] | Schemas['SparseVector']>)) {
    if (Array.isArray(values)) {
      const size = (config.vectors as Record<string, Schemas['VectorParams']>)[name]?.size;
      if (size === undefined) throw new Refusal(400, `Wrong input: Not existing vector name error: ${name}`);
      if (size !== values.length)
        throw new Refusal(400, `Wrong input: Vector dimension error: expected dim: ${size}, got ${values.length}`);
    } else if (config.sparse_vectors?.[name] === undefined) {
      throw new Refusal(400, `Wrong input: Not existing vector name error: ${name}`);
    } else if (
      new Set(values.indices).size !== values.indices.length ||
      values.indices.length !== values.values.length
    ) {
      throw new Refusal(422, 'Validation error in JSON body: indices must be unique and as many as values');
    }
  }
}

interface Scored {
  point: Point;
  score: number;
}

function query(collection: Collection, request: Schemas['QueryRequest']): unknown[] {
  const limit = request.limit ?? 10;
  const found = run(collection, request, limit);
  return found.slice(0, limit).map(({ point, score }) => ({
    id: point.id,
    version: 0,
    score,
    payload: selected(payloadOf(point), request.with_payload),
  }));
}

function run(collection: Collection, request: Schemas['Prefetch'], limit: number): Scored[] {
  const prefetches = request.prefetch == null ? [] : ([request.prefetch].flat() as Schemas['Prefetch'][]);
  if (prefetches.length === 0) return nearest(collection, request).slice(0, limit);
  const lists = prefetches.map((prefetch) => run(collection, prefetch, prefetch.limit ?? 10));
  const scores = new Map<Point, number>();
  for (const list of lists)
    for (const [place, { point }] of list.entries())
      scores.set(point, (scores.get(point) ?? 0) + 1 / (FUSION_K + place));
  return sorted([...scores].map(([point, score]) => ({ point, score })));
}

function nearest(collection: Collection, { query: asked, using, filter }: Schemas['Prefetch']): Scored[] {
  const name = using ?? '';
  const candidates = matching(collection, filter);
  if (Array.isArray(asked)) {
    const wanted = asked as number[];
    return sorted(
      candidates.flatMap((point) => {
        const own = vectorOf(point, name);
        return Array.isArray(own) ? [{ point, score: cosine(wanted, own) }] : [];
      }),
    );
  }
  const sparse = asked as Schemas['SparseVector'];
  const weights = idfWeights(collection, name, sparse);
  return sorted(
    candidates.flatMap((point) => {
      const own = vectorOf(point, name);
      if (own === undefined || Array.isArray(own)) return [];
      const shared = own.indices.flatMap((index, at) =>
        weights.has(index) ? [[index, own.values[at] ?? 0] as const] : [],
      );
      if (shared.length === 0) return [];
      return [{ point, score: shared.reduce((sum, [index, value]) => sum + value * (weights.get(index) ?? 0), 0) }];
    }),
  );
}

/** The query's values times how rare each index is among all points that have the vector. */
function idfWeights({ config, points }: Collection, name: string, { indices, values }: Schemas['SparseVector']) {
  const vectors = [...points.values()].flatMap((point) => {
    const own = vectorOf(point, name);
    return own === undefined || Array.isArray(own) ? [] : [new Set(own.indices)];
  });
  const isIdf = config.sparse_vectors?.[name]?.modifier === 'idf';
  return new Map(
    indices.map((index, at) => {
      const having = vectors.filter((own) => own.has(index)).length;
      const idf = Math.log((vectors.length - having + 0.5) / (having + 0.5) + 1);
      return [index, (values[at] ?? 0) * (isIdf ? idf : 1)];
    }),
  );
}

function scroll(collection: Collection, request: Schemas['ScrollRequest']): unknown {
  const limit = request.limit ?? 10;
  // contextd names the direction, so the short form is not needed.
  const order = request.order_by as Schemas['OrderBy'] | null | undefined;
  const key = order?.key ?? null;
  const descending = order?.direction === 'desc';
  const found = matching(collection, request.filter).sort((a, b) => {
    if (key === null) return String(a.id) < String(b.id) ? -1 : 1;
    return (Number(payloadOf(a)[key]) - Number(payloadOf(b)[key])) * (descending ? -1 : 1);
  });
  if (key !== null && !collection.indexes.has(key))
    throw new Refusal(400, `Bad request: No range index for \`order_by\` key: \`${key}\``);
  const from = request.offset == null ? 0 : found.findIndex(({ id }) => String(id) >= String(request.offset));
  const page = from < 0 ? [] : found.slice(from, from + limit);
  const next = key === null && from >= 0 ? found[from + limit]?.id : undefined;
  const points = page.map((point) => ({ id: point.id, payload: selected(payloadOf(point), request.with_payload) }));
  return { points, next_page_offset: next ?? null };
}

function retrieve({ points }: Collection, { ids, with_payload }: Schemas['PointRequest']): unknown {
  return ids.flatMap((id) => {
    const point = points.get(String(id));
    return point === undefined ? [] : [{ id, payload: selected(payloadOf(point), with_payload ?? true) }];
  });
}

function matching({ points }: Collection, filter: unknown): Point[] {
  return [...points.values()].filter(
    (point) => filter == null || matches(payloadOf(point), filter as Schemas['Filter']),
  );
}

function matches(payload: Payload, filter: Schemas['Filter']): boolean {
  const [must, mustNot, should] = [filter.must, filter.must_not, filter.should].map(
    (conditions) => (conditions == null ? [] : [conditions].flat()) as Schemas['Condition'][],
  );
  const holds = (condition: Schemas['Condition']): boolean => meets(payload, condition);
  if (!must?.every(holds) || mustNot?.some(holds)) return false;
  return should === undefined || should.length === 0 || should.some(holds);
}

function meets(payload: Payload, condition: Schemas['Condition']): boolean {
  if (!('key' in condition)) return matches(payload, condition as Schemas['Filter']);
  const { key, match, range } = condition as Schemas['FieldCondition'];
  const values: unknown[] = [payload[key] ?? []].flat();
  if (match != null) {
    if ('value' in match) return values.includes(match.value);
    if ('any' in match) return values.some((value) => (match.any as unknown[]).includes(value));
  }
  if (range != null) {
    const { gt, gte, lt, lte } = range as Schemas['Range'];
    const meetsRange = (value: number): boolean =>
      (gt == null || value > gt) &&
      (gte == null || value >= gte) &&
      (lt == null || value < lt) &&
      (lte == null || value <= lte);
    return values.some((value) => typeof value === 'number' && meetsRange(value));
  }
  throw new Refusal(400, `no such condition: ${JSON.stringify(condition)}`);
}

function selected(payload: Payload, selector: unknown): Payload | null {
  if (selector === true) return payload;
  if (!Array.isArray(selector)) return null;
  return Object.fromEntries(Object.entries(payload).filter(([name]) => selector.includes(name)));
}

function payloadOf({ payload }: Point): Payload {
  return (payload ?? {}) as Payload;
}

function vectorOf({ vector }: Point, name: string): number[] | Schemas['SparseVector'] | undefined {
  return (vector as Record<string, number[] | Schemas['SparseVector']>)[name];
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]): number =>
    x.reduce((sum, value, at) => sum + value * (y[at] ?? 0), 0);
  return dot(a, b) / (Math.sqrt(dot(a, a) * dot(b, b)) || 1);
}

function sorted(found: Scored[]): Scored[] {
  return found.sort((a, b) => b.score - a.score);
}
