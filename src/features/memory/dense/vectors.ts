import { type Database, integerOf, type Statement, textOf } from '../../../stores/sqlite.ts';
import { filterSql, type MemoryFilter, NO_FILTER, SEQS_PER_PROJECT } from '../rows.ts';
import { type Identity, modelName, type NamedVector } from './embedder.ts';

/** A memory without a vector of the wanted model. */
export interface Unembedded {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly content: string;
}

/** A vector that was made from exactly these texts; null: the model takes no such text. */
export interface NewVector extends Unembedded {
  readonly vector: Float32Array<ArrayBuffer> | null;
}

export interface NearestQuery {
  /** Absolute path. Its memories and the global ones are found. */
  readonly project: string;
  /** The number of the embedding. */
  readonly embedding: number;
  readonly vector: Float32Array<ArrayBuffer>;
  readonly filter: MemoryFilter;
  readonly limit: number;
}

/** The tables of vectors. Each vector belongs to one embedding: a model, its revision and its dimension. */
export class Vectors {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Its number; null if no vector of it was ever stored. */
  async find({ model, revision, dimension }: Identity): Promise<number | null> {
    const [row] = await this.#database.read(
      'SELECT number FROM embeddings WHERE model = ? AND revision = ? AND dimension = ?',
      model,
      revision,
      dimension,
    );
    return row === undefined ? null : integerOf(row, 'number');
  }

  /** Its number, which is given at the first use. */
  async open(identity: Identity): Promise<number> {
    const { model, revision, dimension } = identity;
    await this.#database.write([
      {
        sql: 'INSERT OR IGNORE INTO embeddings (model, revision, dimension) VALUES (?, ?, ?)',
        params: [model, revision, dimension],
      },
    ]);
    const number = await this.find(identity);
    if (number === null) throw new Error('an embedding that was written is missing');
    return number;
  }

  /** How many memories have a vector of each embedding. */
  async counts(): Promise<(Identity & { readonly number: number; readonly count: number })[]> {
    const rows = await this.#database.read(
      `SELECT embeddings.*, counted.count AS count FROM
        (SELECT embedding, count(*) AS count FROM vectors WHERE embedding IS NOT NULL GROUP BY embedding) counted
        JOIN embeddings ON embeddings.number = counted.embedding ORDER BY counted.count DESC`,
    );
    return rows.map((row) => ({
      model: textOf(row, 'model'),
      revision: textOf(row, 'revision'),
      dimension: integerOf(row, 'dimension'),
      number: integerOf(row, 'number'),
      count: integerOf(row, 'count'),
    }));
  }

  /** How many memories have no vector of this embedding yet. */
  async missing(embedding: number): Promise<number> {
    const [row = {}] = await this.#database.read(`SELECT count(*) AS count FROM vectors WHERE ${OTHERS}`, embedding);
    return integerOf(row, 'count');
  }

  async unembedded(embedding: number, limit: number): Promise<Unembedded[]> {
    const rows = await this.#database.read(
      `SELECT items.id AS id, items.title AS title, items.description AS description, items.content AS content
        FROM (SELECT seq FROM vectors WHERE ${OTHERS} LIMIT ?2) waiting JOIN items ON items.seq = waiting.seq`,
      embedding,
      limit,
    );
    return rows.map((row) => ({
      id: textOf(row, 'id'),
      title: textOf(row, 'title'),
      description: textOf(row, 'description'),
      content: textOf(row, 'content'),
    }));
  }

  /** A memory whose text changed meanwhile keeps waiting. It is sent again to those who share it. */
  async put(embedding: number, vectors: readonly NewVector[]): Promise<void> {
    const statements = vectors.flatMap(({ id, title, description, content, vector }): Statement[] => [
      {
        sql: `UPDATE vectors SET embedding = ?, vector = ? WHERE seq =
          (SELECT seq FROM items WHERE id = ? AND title = ? AND description = ? AND content = ?)`,
        params: [embedding, vector === null ? null : bytesOf(vector), id, title, description, content],
      },
      { sql: `INSERT OR REPLACE INTO outbox (op, id) SELECT 'put', id FROM items WHERE id = ?`, params: [id] },
    ]);
    await this.#database.write(statements);
  }

  /** The memories that a search may find with their scalar products, the nearest first. */
  async nearest({ project, embedding, vector, filter, limit }: NearestQuery): Promise<Map<string, number>> {
    const [own, global] = [filter.scope !== 'global', filter.scope !== 'project'];
    const ranges = [...(own ? [OWN_NUMBER] : []), ...(global ? ['0'] : [])];
    const found = await Promise.all(
      ranges.map((number) => this.#nearestIn(number, { project, embedding, vector, filter, limit })),
    );
    const sorted = found.flat().sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
    return new Map(sorted.slice(0, limit).map(({ id, score }) => [id, score]));
  }

  /** The scalar products of these memories' vectors of this embedding with another, as far as they have one. */
  async scoresOf(
    embedding: number,
    vector: Float32Array<ArrayBuffer>,
    ids: readonly string[],
  ): Promise<Map<string, number>> {
    const rows = await this.#database.read(
      `SELECT items.id AS id, vector_score(?1, ?2, items.seq) AS score
        FROM json_each(?3) wanted JOIN items ON items.id = wanted.value`,
      embedding,
      bytesOf(vector),
      JSON.stringify(ids),
    );
    return new Map(rows.flatMap((row) => (row.score === null ? [] : [[textOf(row, 'id'), Number(row.score)]])));
  }

  /** Reads all vectors of an embedding into memory, so that the first search is not slower. */
  async load(embedding: number, dimension: number): Promise<void> {
    await this.#nearestIn('0', {
      project: '',
      embedding,
      vector: new Float32Array(dimension),
      filter: NO_FILTER,
      limit: 0,
    });
  }

  /** The vectors that these memories have, by their ids, of whichever model. */
  async of(ids: readonly string[]): Promise<Map<string, NamedVector>> {
    const rows = await this.#database.read(
      `SELECT items.id AS id, vectors.vector AS vector, embeddings.model AS model, embeddings.revision AS revision
        FROM json_each(?) wanted JOIN items ON items.id = wanted.value JOIN vectors ON vectors.seq = items.seq
        JOIN embeddings ON embeddings.number = vectors.embedding WHERE vectors.vector IS NOT NULL`,
      JSON.stringify(ids),
    );
    return new Map(
      rows.map((row) => {
        const model = modelName({ model: textOf(row, 'model'), revision: textOf(row, 'revision') });
        return [textOf(row, 'id'), { model, values: numbersOf(row.vector) }];
      }),
    );
  }

  async #nearestIn(number: string, query: NearestQuery): Promise<{ id: string; score: number }[]> {
    const { project, embedding, vector, filter, limit } = query;
    const { conditions, params } = filterSql(filter);
    const range = `${number} * ${SEQS_PER_PROJECT}`;
    const sql =
      conditions === ''
        ? `SELECT items.id AS id, nearest.value ->> 1 AS score FROM
            json_each(vector_nearest(?2, ?3, ${range}, (${number} + 1) * ${SEQS_PER_PROJECT} - 1, ?4)) nearest
            JOIN items ON items.seq = nearest.value ->> 0 WHERE ?1 = ?1`
        : `SELECT items.id AS id, vector_score(?2, ?3, items.seq) AS score FROM items
            WHERE ?1 = ?1 AND items.seq BETWEEN ${range} AND (${number} + 1) * ${SEQS_PER_PROJECT} - 1
              ${conditions} ORDER BY score DESC, items.seq LIMIT ?4`;
    const rows = await this.#database.read(sql, project, embedding, bytesOf(vector), limit, ...params);
    return rows.flatMap((row) => (row.score === null ? [] : [{ id: textOf(row, 'id'), score: Number(row.score) }]));
  }
}

const OTHERS = '(embedding IS NULL OR embedding < ?1 OR embedding > ?1)';
/** ?1 is the root of the project. Null, and nothing is found, if nothing was ever stored in it. */
const OWN_NUMBER = '(SELECT number FROM projects WHERE root = ?1)';

function bytesOf(vector: Float32Array<ArrayBuffer>): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}

function numbersOf(blob: unknown): number[] {
  return blob instanceof Uint8Array ? [...new Float32Array(blob.slice().buffer)] : [];
}
