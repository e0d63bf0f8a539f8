import type { Logger } from '../../core/log.ts';
import { type Database, integerOf, type Statement, textOf } from '../../stores/sqlite.ts';
import type { MemoryDraft } from './item.ts';
import { indexWords, matchExpression } from './query.ts';
import {
  COLUMNS,
  excerpt,
  type FoundMemory,
  filterSql,
  type MemoryFilter,
  numberOf,
  SEQS_PER_PROJECT,
  seqRange,
  toMemory,
} from './rows.ts';

/** Increased when the words of a text change: the index is then built again. */
const INDEX_VERSION = 2;
/**
 * How many matches of words a search may rank in a large project, and the fewest words that it keeps. Without this a search
 * with frequent words looks at most of the memories.
 */
const MATCHES_MAX = 10_000;
const WORDS_KEPT = 3;
/** How many times more memories are ranked than are wanted: FTS5's order is close, but not the same. */
const RANKED_FACTOR = 4;
/** Words whose frequency is known. */
const FREQUENCIES_MAX = 20_000;
/** Rows that are indexed in one transaction. */
const REBUILD_BATCH = 500;

const INDEXED = ['title', 'tags', 'task', 'description', 'content', 'context'] as const;
/** How much a word counts in each column of the index, in their order. */
const WEIGHTS = '4.0, 3.0, 3.0, 2.0, 1.0, 0.4';

/**
 * The words of memories, in one FTS5 table for each project and one for the global memories, so that no project changes
 * what another finds. They can be built again from the memories at any time.
 */
export class WordIndex {
  readonly #database: Database;
  readonly #logger: Logger;
  /** Projects that have a table. */
  readonly #numbers = new Set<number>();
  /** How many memories have a word, by project; forgotten when the project has grown. */
  readonly #frequencies = new Map<number, { size: number; counts: Map<string, number> }>();

  constructor(database: Database, logger: Logger) {
    this.#database = database;
    this.#logger = logger;
  }

  /** Builds it again if it is missing, unfinished, damaged or of an older version. */
  async check(): Promise<void> {
    const why = await this.#fault();
    if (why !== null) await this.rebuild(why);
  }

  /** The memories that match any of the words, the most relevant first. */
  async match(number: number, words: readonly string[], filter: MemoryFilter, limit: number): Promise<FoundMemory[]> {
    const areas = await this.#areas(number);
    const wanted = areas.filter((area) => filter.scope === null || (filter.scope === 'global') === (area === 0));
    if (wanted.length === 0) return [];
    const asked = await this.#affordable(areas, words);
    const { conditions, params } = filterSql(filter);
    const rows = await this.#database.read(
      `${rankedSql(areas, wanted, conditions)} SELECT ${COLUMNS}, ${excerpt}, found.relevance AS relevance, found.coverage AS coverage
        FROM found JOIN items ON items.seq = found.seq ORDER BY found.relevance DESC, found.seq LIMIT ?3`,
      JSON.stringify(asked.map((word) => matchExpression([word]))),
      matchExpression(asked),
      limit,
      limit * RANKED_FACTOR,
      ...params,
    );
    return rows.map((row) => ({
      memory: toMemory(row),
      relevance: numberOf(row, 'relevance'),
      coverage: numberOf(row, 'coverage'),
    }));
  }

  /** The project and the global memories, as far as they have a table. Throws if one is missing. */
  async #areas(number: number): Promise<number[]> {
    const areas = [number, 0];
    if (areas.some((area) => !this.#numbers.has(area)))
      for (const known of await this.#tables()) this.#numbers.add(known);
    for (const area of areas) if (!this.#numbers.has(area)) await this.#checkEmpty(area);
    return areas.filter((area) => this.#numbers.has(area));
  }

  async #checkEmpty(number: number): Promise<void> {
    const { first, last } = seqRange(number);
    const rows = await this.#database.read(
      'SELECT 1 FROM items WHERE seq BETWEEN ? AND ? AND is_set_aside = 0 LIMIT 1',
      first,
      last,
    );
    if (rows.length > 0) throw new Error(`the index of project ${number} is missing`);
  }

  /** The numbers of all tables. */
  async #tables(): Promise<number[]> {
    const rows = await this.#database.read(
      `SELECT name FROM sqlite_master WHERE name GLOB '${PREFIX}[0-9]*' AND sql LIKE 'CREATE VIRTUAL TABLE%'`,
    );
    return rows.map((row) => Number(textOf(row, 'name').slice(PREFIX.length)));
  }

  /** The rarest words, as many as can be ranked: a word that most memories have says little about any. */
  async #affordable(areas: readonly number[], words: readonly string[]): Promise<readonly string[]> {
    const [row = {}] = await this.#database.read(`SELECT ${areas.map(sizeSql).join(' + ')} AS size`);
    const size = integerOf(row, 'size');
    if (size <= MATCHES_MAX / WORDS_KEPT) return words;
    const frequencies = await Promise.all(words.map((word) => this.#frequencyOf(areas, word, size)));
    const counted = words.map((word, index) => ({ word, count: frequencies[index] ?? 0 }));
    const rarestFirst = counted.filter(({ count }) => count > 0).sort((a, b) => a.count - b.count);
    let matches = 0;
    const kept = rarestFirst.filter(({ count }, index) => {
      matches += count;
      return index < WORDS_KEPT || matches <= MATCHES_MAX;
    });
    // Words that no memory has cost nothing, and say how much of the query is not found.
    return [...kept, ...counted.filter(({ count }) => count === 0)].map(({ word }) => word);
  }

  async #frequencyOf(areas: readonly number[], word: string, size: number): Promise<number> {
    const [number = 0] = areas;
    const before = this.#frequencies.get(number);
    const isFresh = before !== undefined && size <= before.size * 1.1 && before.counts.size <= FREQUENCIES_MAX;
    const { counts } = isFresh ? before : { counts: new Map<string, number>() };
    if (!isFresh) this.#frequencies.set(number, { size, counts });
    const known = counts.get(word);
    if (known !== undefined) return known;
    const matches = areas.map(tableOf).map((table) => `(SELECT count(*) FROM ${table} WHERE ${table} MATCH ?1)`);
    const [row = {}] = await this.#database.read(`SELECT ${matches.join(' + ')} AS count`, matchExpression([word]));
    const count = integerOf(row, 'count');
    counts.set(word, count);
    return count;
  }

  /** Announced in the log, because searches wait for it. */
  async rebuild(why: string): Promise<void> {
    this.#logger.warn('memory.index_rebuilding', { why });
    this.#numbers.clear();
    const tables = await this.#tables();
    await this.#database.write([
      { sql: `DELETE FROM meta WHERE name = 'index'`, params: [] },
      ...tables.map((number) => ({ sql: `DROP TABLE ${tableOf(number)}`, params: [] })),
    ]);
    let seq = -1;
    let indexed = 0;
    for (;;) {
      const rows = await this.#database.read(
        `SELECT ${COLUMNS}, items.content, items.seq FROM items WHERE seq > ? AND is_set_aside = 0
          ORDER BY seq LIMIT ${REBUILD_BATCH}`,
        seq,
      );
      const last = rows.at(-1);
      if (last === undefined) break;
      seq = integerOf(last, 'seq');
      await this.#database.write(rows.flatMap((row) => indexRow(toMemory(row), projectOf(integerOf(row, 'seq')))));
      indexed += rows.length;
    }
    await this.#database.write([
      { sql: `INSERT OR REPLACE INTO meta (name, value) VALUES ('index', ?)`, params: [INDEX_VERSION] },
    ]);
    this.#logger.warn('memory.index_rebuilt', { why, indexed });
  }

  /** Why the index cannot be used as it is, or null. */
  async #fault(): Promise<string | null> {
    try {
      const [meta] = await this.#database.read(`SELECT value FROM meta WHERE name = 'index'`);
      if (meta === undefined) return 'it was never finished';
      if (integerOf(meta, 'value') !== INDEX_VERSION) return 'it was made by another version';
      const counts = await this.#database.read(
        `SELECT seq / ${SEQS_PER_PROJECT} AS number, count(*) AS items FROM items WHERE is_set_aside = 0 GROUP BY number`,
      );
      const items = new Map(counts.map((row) => [integerOf(row, 'number'), integerOf(row, 'items')]));
      const tables = await this.#tables();
      for (const number of new Set([...items.keys(), ...tables])) {
        const expected = items.get(number) ?? 0;
        const indexed = tables.includes(number) ? await this.#sizeOf(number) : 0;
        if (indexed !== expected) return `it has ${indexed} of ${expected} memories of project ${number}`;
      }
      await this.#database.write(tables.map(integrityCheck));
      return null;
    } catch (thrown) {
      if (this.#database.state !== 'ready') throw thrown;
      return thrown instanceof Error ? thrown.message : String(thrown);
    }
  }

  async #sizeOf(number: number): Promise<number> {
    const [row = {}] = await this.#database.read(`SELECT count(*) AS count FROM ${tableOf(number)}`);
    return integerOf(row, 'count');
  }
}

const PREFIX = 'item_index_';

function tableOf(number: number): string {
  return `${PREFIX}${number}`;
}

/** The project of a sequence number. */
function projectOf(seq: number): number {
  return Math.floor(seq / SEQS_PER_PROJECT);
}

/** How many memories a table has, from the table in which FTS5 keeps the size of each: it is small and quick to count. */
function sizeSql(number: number): string {
  return `(SELECT count(*) FROM ${tableOf(number)}_docsize)`;
}

function integrityCheck(number: number): Statement {
  return { sql: `INSERT INTO ${tableOf(number)} (${tableOf(number)}) VALUES ('integrity-check')`, params: [] };
}

/**
 * The table `found (seq, relevance, coverage)`: the best of the `wanted` areas by FTS5's own BM25 (?2 is the expression, ?4 how many
 * of each), ranked again. Two things differ from FTS5: the memories of all areas are counted together, and a word that more
 * than half of them have still counts (as in Lucene), because a project can be small. So each word (?1) is ranked alone,
 * and the weight that FTS5 gave it is replaced. `conditions`: what `items` must fulfil.
 */
function rankedSql(areas: readonly number[], wanted: readonly number[], conditions: string): string {
  const join = (table: string): string => (conditions === '' ? '' : `JOIN items ON items.seq = ${table}.rowid`);
  const best = wanted.map((number) => {
    const table = tableOf(number);
    return `SELECT * FROM (SELECT ${table}.rowid AS seq FROM ${table} ${join(table)}
      WHERE ${table} MATCH ?2 ${conditions} ORDER BY bm25(${table}, ${WEIGHTS}), ${table}.rowid LIMIT ?4)`;
  });
  const matches = (number: number): string =>
    `FROM json_each(?1) word CROSS JOIN ${tableOf(number)} ON ${tableOf(number)} MATCH word.value`;
  const counts = areas.map(
    (number) => `SELECT ${number} AS area, word.key AS word, count(*) AS own ${matches(number)} GROUP BY word`,
  );
  // The plus keeps FTS5 from looking each row up.
  const hits = wanted.map(
    (number) => `SELECT ${number} AS area, word.key AS word, ${tableOf(number)}.rowid AS seq,
      -bm25(${tableOf(number)}, ${WEIGHTS}) AS score ${matches(number)} WHERE +${tableOf(number)}.rowid IN best`,
  );
  const sizes = areas.map((number) => `(${number}, ${sizeSql(number)})`);
  return `WITH best AS MATERIALIZED (${best.join(' UNION ALL ')}),
    hits AS MATERIALIZED (${hits.join(' UNION ALL ')}),
    sizes (area, size) AS MATERIALIZED (VALUES ${sizes.join(', ')}),
    counts AS (${counts.join(' UNION ALL ')}),
    idfs AS MATERIALIZED (
      SELECT asked.key AS word, ln(1 + (every - coalesce(sum(own), 0) + 0.5) / (coalesce(sum(own), 0) + 0.5)) AS idf
      FROM json_each(?1) asked CROSS JOIN (SELECT sum(size) AS every FROM sizes) LEFT JOIN counts ON counts.word = asked.key
      GROUP BY asked.key
    ),
    weights AS MATERIALIZED (
      SELECT area, word, idf, idf / max(1e-6, ln((size - own + 0.5) / (own + 0.5))) AS weight
      FROM counts JOIN sizes USING (area) JOIN idfs USING (word)
    ),
    found AS (
      SELECT seq, sum(score * weight) AS relevance, sum(idf) / (SELECT sum(idf) FROM idfs) AS coverage
      FROM hits JOIN weights USING (area, word) GROUP BY seq
    )`;
}

/** The statements on the table of a project, which is made at its first memory. 0: that of the global memories. */
function onTable(number: number, statement: Statement): Statement[] {
  return [
    {
      sql: `CREATE VIRTUAL TABLE IF NOT EXISTS ${tableOf(number)} USING fts5 (
        ${INDEXED.join(', ')}, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
      )`,
      params: [],
    },
    statement,
  ];
}

/** Takes the words of an item out of the index of its project; it stays as it is otherwise. */
export function unindexRow(id: string, number: number): Statement[] {
  return onTable(number, {
    sql: `DELETE FROM ${tableOf(number)} WHERE rowid = (SELECT seq FROM items WHERE id = ?)`,
    params: [id],
  });
}

/** Puts the words of an item into the index of its project, unless it was set aside or has left that project. */
export function indexRow(memory: MemoryDraft & { readonly id: string }, number: number): Statement[] {
  return onTable(number, {
    sql: `INSERT INTO ${tableOf(number)} (rowid, ${INDEXED.join(', ')}) SELECT seq, ?, ?, ?, ?, ?, ? FROM items
      WHERE id = ? AND is_set_aside = 0 AND seq / ${SEQS_PER_PROJECT} = ${number}`,
    params: [...wordsByColumn(memory), memory.id],
  });
}

function wordsByColumn({ title, tags, task, description, content, context }: MemoryDraft): string[] {
  return [title, tags.join(' '), task, description, content, context].map((text) => indexWords(text).join(' '));
}
