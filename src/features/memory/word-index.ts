import type { Logger } from '../../core/log.ts';
import { type Database, integerOf, type Statement } from '../../stores/sqlite.ts';
import type { MemoryDraft } from './item.ts';
import { indexWords, matchExpression } from './query.ts';
import {
  COLUMNS,
  excerpt,
  type FoundMemory,
  filterSql,
  type MemoryFilter,
  numberOf,
  rangesOf,
  toMemory,
} from './rows.ts';

/** Increased when the words of a text change: the index is then built again. */
const INDEX_VERSION = 1;
/**
 * How many matches of words a search may rank in a large store, and the fewest words that it keeps. Without this a search
 * with frequent words looks at most of the memories.
 */
const MATCHES_MAX = 10_000;
const WORDS_KEPT = 3;
/** Words whose frequency is known. */
const FREQUENCIES_MAX = 20_000;
/** Rows that are indexed in one transaction. */
const REBUILD_BATCH = 500;

const INDEXED = ['title', 'tags', 'task', 'description', 'content', 'context'] as const;
/** How much a word counts in each column of the index, in their order. */
const WEIGHTS = '4.0, 3.0, 3.0, 2.0, 1.0, 0.4';

/** The words of all memories, in an FTS5 table beside theirs. It can be built again from theirs at any time. */
export class WordIndex {
  /** How many memories there are, of all projects: about. */
  size = 0;
  readonly #database: Database;
  readonly #logger: Logger;
  /** How many memories have a word; forgotten when the store has grown. */
  readonly #frequencies = new Map<string, number>();
  #sizeOfFrequencies = 0;

  constructor(database: Database, logger: Logger) {
    this.#database = database;
    this.#logger = logger;
  }

  /** Builds it again if it is missing, unfinished, damaged or of an older version. */
  async check(): Promise<void> {
    const why = await this.#fault();
    if (why !== null) await this.rebuild(why);
  }

  /** The memories that match any of the words, the most relevant first in each scope. */
  async match(number: number, words: readonly string[], filter: MemoryFilter, limit: number): Promise<FoundMemory[]> {
    const expression = matchExpression(await this.#affordable(words));
    const ranges = rangesOf(number, filter);
    const { join, conditions, params } = filterSql(filter);
    const found = await Promise.all(
      ranges.map(({ first, last }) =>
        this.#database.read(
          `SELECT ${COLUMNS}, ${excerpt}, found.rank AS rank FROM (
            SELECT item_index.rowid AS seq, bm25(item_index, ${WEIGHTS}) AS rank FROM item_index ${join}
            WHERE EXISTS (SELECT 1 FROM items WHERE seq BETWEEN ?2 AND ?3)
              AND item_index MATCH ?1 AND item_index.rowid BETWEEN ?2 AND ?3 ${conditions}
            ORDER BY rank, item_index.rowid LIMIT ?4
          ) found JOIN items ON items.seq = found.seq`,
          expression,
          first,
          last,
          limit,
          ...params,
        ),
      ),
    );
    // SQLite's BM25 is negative: the smaller the better.
    return found.flat().map((row) => ({ memory: toMemory(row), relevance: -numberOf(row, 'rank') }));
  }

  /** The rarest words, as many as can be ranked: a word that most memories have says little about any. */
  async #affordable(words: readonly string[]): Promise<readonly string[]> {
    if (this.size <= MATCHES_MAX / WORDS_KEPT) return words;
    if (this.size > this.#sizeOfFrequencies * 1.1 || this.#frequencies.size > FREQUENCIES_MAX) {
      this.#frequencies.clear();
      this.#sizeOfFrequencies = this.size;
    }
    const frequencies = await Promise.all(words.map((word) => this.#frequencyOf(word)));
    const rarestFirst = words
      .map((word, index) => ({ word, count: frequencies[index] ?? 0 }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => a.count - b.count);
    let matches = 0;
    const kept = rarestFirst.filter(({ count }, index) => {
      matches += count;
      return index < WORDS_KEPT || matches <= MATCHES_MAX;
    });
    return kept.length === 0 ? words : kept.map(({ word }) => word);
  }

  async #frequencyOf(word: string): Promise<number> {
    const known = this.#frequencies.get(word);
    if (known !== undefined) return known;
    const [row = {}] = await this.#database.read(
      'SELECT count(*) AS count FROM item_index WHERE item_index MATCH ?',
      matchExpression([word]),
    );
    const count = integerOf(row, 'count');
    this.#frequencies.set(word, count);
    return count;
  }

  /** Announced in the log, because searches wait for it. */
  async rebuild(why: string): Promise<void> {
    this.#logger.warn('memory.index_rebuilding', { why });
    await this.#database.write([
      { sql: `DELETE FROM meta WHERE name = 'index'`, params: [] },
      { sql: 'DROP TABLE IF EXISTS item_index', params: [] },
      { sql: CREATE_INDEX, params: [] },
    ]);
    let seq = -1;
    let indexed = 0;
    for (;;) {
      const rows = await this.#database.read(
        `SELECT ${COLUMNS}, items.content, items.seq FROM items WHERE seq > ? ORDER BY seq LIMIT ${REBUILD_BATCH}`,
        seq,
      );
      const last = rows.at(-1);
      if (last === undefined) break;
      seq = integerOf(last, 'seq');
      const found = rows.map(toMemory).filter((memory) => !memory.isQuarantined);
      await this.#database.write(found.map(indexRow));
      indexed += found.length;
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
      const [counts = {}] = await this.#database.read(
        `SELECT (SELECT count(*) FROM items WHERE is_quarantined = 0) AS items, (SELECT count(*) FROM item_index) AS indexed`,
      );
      const [items, indexed] = [integerOf(counts, 'items'), integerOf(counts, 'indexed')];
      if (items !== indexed) return `it has ${indexed} of ${items} memories`;
      await this.#database.write([
        { sql: `INSERT INTO item_index (item_index) VALUES ('integrity-check')`, params: [] },
      ]);
      return null;
    } catch (thrown) {
      if (this.#database.state !== 'ready') throw thrown;
      return thrown instanceof Error ? thrown.message : String(thrown);
    }
  }
}

const CREATE_INDEX = `CREATE VIRTUAL TABLE item_index USING fts5 (
  ${INDEXED.join(', ')}, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
)`;

/** Takes the words of an item out of the index; it stays as it is otherwise. */
export function unindexRow(id: string): Statement {
  return { sql: 'DELETE FROM item_index WHERE rowid = (SELECT seq FROM items WHERE id = ?)', params: [id] };
}

export function indexRow(memory: MemoryDraft & { readonly id: string }): Statement {
  return {
    sql: `INSERT INTO item_index (rowid, ${INDEXED.join(', ')}) SELECT seq, ?, ?, ?, ?, ?, ? FROM items WHERE id = ?`,
    params: [...wordsByColumn(memory), memory.id],
  };
}

function wordsByColumn({ title, tags, task, description, content, context }: MemoryDraft): string[] {
  return [title, tags.join(' '), task, description, content, context].map((text) => indexWords(text).join(' '));
}
