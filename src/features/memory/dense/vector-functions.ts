/** The thread's side of vectors: an exact search over those of one embedding, kept in memory. */
import type { DatabaseSync } from 'node:sqlite';

/**
 * Adds to a connection of the memory database:
 * - `vector_nearest(embedding, query, first, last, limit)`: JSON `[[seq, score], …]`, the highest scalar product first, of
 *   the items with these sequence numbers.
 * - `vector_score(embedding, query, seq)`: the scalar product, or NULL if the item has no vector of this embedding.
 *
 * `query` is a blob of float32. Items that were set aside have no vector here. What changes in the tables is read again by
 * the next call.
 */
export function addVectorFunctions(database: DatabaseSync): void {
  const vectors = new LoadedVectors(database);
  database.function('vector_touched', { varargs: true }, (...seqs) => {
    for (const seq of seqs) vectors.touch(Number(seq));
    return null;
  });
  database.function('vector_nearest', (embedding, query, first, last, limit) => {
    if (!(query instanceof Uint8Array) || first === null || last === null) return '[]';
    vectors.load(Number(embedding), query.byteLength / BYTES);
    return JSON.stringify(vectors.nearest(floatsOf(query), Number(first), Number(last), Number(limit)));
  });
  database.function('vector_score', (embedding, query, seq) => {
    if (!(query instanceof Uint8Array)) return null;
    vectors.load(Number(embedding), query.byteLength / BYTES);
    return vectors.score(floatsOf(query), Number(seq));
  });
  database.exec(FOLLOW);
}

const BYTES = Float32Array.BYTES_PER_ELEMENT;

/** Triggers of this connection. Promoting an item changes its number, which the foreign key passes on. */
const FOLLOW = `
  CREATE TEMP TRIGGER vectors_changed AFTER UPDATE ON main.vectors BEGIN SELECT vector_touched(old.seq, new.seq); END;
  CREATE TEMP TRIGGER vectors_removed AFTER DELETE ON main.vectors BEGIN SELECT vector_touched(old.seq); END;
  CREATE TEMP TRIGGER items_set_aside AFTER UPDATE OF is_quarantined, replaced_by ON main.items
    BEGIN SELECT vector_touched(new.seq); END;
`;

const FIRST_CAPACITY = 1_024;

/** Vectors of one embedding one behind the other, so that all are compared in one pass. */
class LoadedVectors {
  readonly #database: DatabaseSync;
  #embedding = Number.NaN;
  #dimension = 0;
  #values = new Float32Array(0);
  /** The item of each place. */
  #seqs = new Float64Array(0);
  #count = 0;
  readonly #places = new Map<number, number>();
  readonly #touched = new Set<number>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  touch(seq: number): void {
    if (!Number.isNaN(this.#embedding)) this.#touched.add(seq);
  }

  /** Afterwards everything is as in the tables. */
  load(embedding: number, dimension: number): void {
    if (embedding !== this.#embedding || dimension !== this.#dimension) this.#loadAll(embedding, dimension);
    if (this.#touched.size === 0) return;
    const one = this.#database.prepare(`${LIVE} AND vectors.seq = ?`);
    for (const seq of this.#touched) this.#keep(seq, one.get(embedding, seq)?.vector);
    this.#touched.clear();
  }

  nearest(query: Float64Array, first: number, last: number, limit: number): [seq: number, score: number][] {
    const best: [number, number][] = [];
    let least = Number.NEGATIVE_INFINITY;
    for (let place = 0; place < this.#count; place++) {
      const seq = this.#seqs[place] ?? 0;
      if (seq < first || seq > last) continue;
      const score = this.#product(query, place);
      if (best.length === limit && score <= least) continue;
      insertByScore(best, [seq, score], limit);
      least = best.at(-1)?.[1] ?? least;
    }
    return best;
  }

  score(query: Float64Array, seq: number): number | null {
    const place = this.#places.get(seq);
    return place === undefined ? null : this.#product(query, place);
  }

  #loadAll(embedding: number, dimension: number): void {
    this.#embedding = embedding;
    this.#dimension = dimension;
    this.#values = new Float32Array(0);
    this.#seqs = new Float64Array(0);
    this.#count = 0;
    this.#places.clear();
    this.#touched.clear();
    for (const { seq, vector } of this.#database.prepare(LIVE).iterate(embedding)) this.#keep(Number(seq), vector);
  }

  /** No vector: the item has none any more. */
  #keep(seq: number, vector: unknown): void {
    if (vector instanceof Uint8Array && vector.byteLength === this.#dimension * BYTES) {
      const place = this.#places.get(seq) ?? this.#newPlace(seq);
      new Uint8Array(this.#values.buffer).set(vector, place * this.#dimension * BYTES);
    } else this.#remove(seq);
  }

  #newPlace(seq: number): number {
    if (this.#count === this.#seqs.length) {
      const capacity = Math.max(FIRST_CAPACITY, this.#count * 2);
      this.#values = grown(this.#values, new Float32Array(capacity * this.#dimension));
      this.#seqs = grown(this.#seqs, new Float64Array(capacity));
    }
    const place = this.#count++;
    this.#seqs[place] = seq;
    this.#places.set(seq, place);
    return place;
  }

  /** The last one takes its place. */
  #remove(seq: number): void {
    const place = this.#places.get(seq);
    if (place === undefined) return;
    const last = --this.#count;
    const moved = this.#seqs[last] ?? 0;
    this.#values.copyWithin(place * this.#dimension, last * this.#dimension, (last + 1) * this.#dimension);
    this.#seqs[place] = moved;
    this.#places.set(moved, place);
    this.#places.delete(seq);
  }

  /** Four sums at once take half the time of one. */
  #product(query: Float64Array, place: number): number {
    const values = this.#values;
    const dimension = this.#dimension;
    const from = place * dimension;
    let [a, b, c, d] = [0, 0, 0, 0];
    let index = 0;
    for (; index + 3 < dimension; index += 4) {
      const at = from + index;
      a += (values[at] as number) * (query[index] as number);
      b += (values[at + 1] as number) * (query[index + 1] as number);
      c += (values[at + 2] as number) * (query[index + 2] as number);
      d += (values[at + 3] as number) * (query[index + 3] as number);
    }
    for (; index < dimension; index++) a += (values[from + index] as number) * (query[index] as number);
    return a + b + c + d;
  }
}

const LIVE = `SELECT vectors.seq AS seq, vectors.vector AS vector FROM vectors JOIN items ON items.seq = vectors.seq
  WHERE vectors.embedding = ? AND items.is_set_aside = 0`;

/** The higher score first, then the lower number. */
function insertByScore(best: [number, number][], entry: [number, number], limit: number): void {
  let at = best.length;
  while (at > 0) {
    const [seq, score] = best[at - 1] as [number, number];
    if (score > entry[1] || (score === entry[1] && seq < entry[0])) break;
    at -= 1;
  }
  best.splice(at, 0, entry);
  if (best.length > limit) best.pop();
}

function grown<T extends Float32Array | Float64Array>(from: T, into: T): T {
  into.set(from);
  return into;
}

/** Arithmetic is in float64: a query that is already takes half the time. */
function floatsOf(blob: Uint8Array): Float64Array {
  return Float64Array.from(new Float32Array(blob.slice().buffer));
}
