import { createHash } from 'node:crypto';
import { ContextdError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { type Database, integerOf, type Row, type Statement, textOf } from '../stores/sqlite.ts';
import type { Memory, MemoryDraft, MemoryOrigin, MemoryOutcome, MemoryScope } from './item.ts';
import { meanOf, type Posterior, PRIORS } from './learn.ts';
import { indexWords, matchExpression } from './query.ts';

/** What a search may find. */
export interface MemoryFilter {
  /** Items have all of these tags. */
  readonly tags: readonly string[];
  readonly outcome: MemoryOutcome | null;
  /** Null: both. */
  readonly scope: MemoryScope | null;
  /** Only items that changed at or after it; milliseconds since the epoch. */
  readonly sinceMs: number;
  /** True: no items of installed tools. Default: false. */
  readonly withoutTools?: boolean;
}

export const NO_FILTER: MemoryFilter = { tags: [], outcome: null, scope: null, sinceMs: 0 };

/** A memory without the rest of a long content, and how well it fits. */
export interface FoundMemory {
  readonly memory: Memory;
  /** Larger is better; 0 if nothing was searched for. */
  readonly relevance: number;
}

/** How a memory is made or changed; what is left out stays. */
export type MemoryChange = Partial<
  Pick<Memory, 'provenance' | 'contradicts' | 'tags' | 'isQuarantined' | 'updatedMs'> & {
    alpha: number;
    beta: number;
    /** Added to alpha. */
    gainedAlpha: number;
  }
>;

/** Characters at the beginning of a session's tag that are the same for all sessions of a project. */
export const PROJECT_TAG_CHARS = 8;

export interface Feedback {
  readonly id: string;
  /** What the session is known by: see `sessionTag`. */
  readonly session: string;
  readonly outcome: MemoryOutcome;
  readonly note: string;
  readonly requestId: string;
  readonly atMs: number;
}

/** A memory to insert: its text and who made it. */
export interface NewMemory extends MemoryDraft {
  readonly id: string;
  readonly project: string;
  readonly origin: MemoryOrigin;
  readonly owner: string;
  readonly source: string;
  readonly provenance: readonly string[];
  readonly contradicts: readonly string[];
  readonly nowMs: number;
}

/** Sequence numbers of one project; of global memories the project is number 0. */
export const SEQS_PER_PROJECT = 2 ** 32;
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
/** Characters of a content that a search returns. */
export const EXCERPT_CHARS = 600;
/** Rows that are indexed in one transaction. */
const REBUILD_BATCH = 500;

const INDEXED = ['title', 'tags', 'task', 'description', 'content', 'context'] as const;
/** How much a word counts in each column of the index, in their order. */
const WEIGHTS = '4.0, 3.0, 3.0, 2.0, 1.0, 0.4';

const FIELDS = [
  ...[
    'id',
    'project',
    'scope',
    'title',
    'description',
    'tags',
    'outcome',
    'task',
    'context',
    'origin',
    'owner',
    'source',
  ],
  ...['provenance', 'contradicts', 'alpha', 'beta', 'uses', 'is_quarantined', 'created_ms', 'updated_ms', 'used_ms'],
];
const COLUMNS = FIELDS.map((name) => `items.${name}`).join(', ');

/** The table of memories, its index of words and the outbox: each change writes all three in one transaction. */
export class MemoryStore {
  readonly #file: Database;
  readonly #logger: Logger;
  readonly #projects = new Map<string, number>();
  #fault: ContextdError | null = null;
  /** How many memories have a word; forgotten when the store has grown. */
  readonly #frequencies = new Map<string, number>();
  #size = 0;
  #sizeOfFrequencies = 0;

  constructor({ database, logger }: { database: Database; logger: Logger }) {
    this.#file = database;
    this.#logger = logger;
  }

  /**
   * Builds the index again if it is missing, unfinished, damaged or of an older version. If the file itself cannot be
   * used, the log says so, and so does every request: calls that need no memory go on.
   */
  async start(): Promise<void> {
    try {
      await this.#open();
    } catch (thrown) {
      this.#fault = unusable(ContextdError.from(thrown));
      this.#logger.error('memory.unavailable', {}, thrown);
    }
  }

  async #open(): Promise<void> {
    await this.#file.start();
    const why = await this.#faultOfIndex();
    if (why !== null) await this.rebuildIndex(why);
    this.#size = await this.count();
  }

  /** How many memories there are, of all projects. Throws if the file cannot be used. */
  async count(): Promise<number> {
    const [row = {}] = await this.#database.read('SELECT count(*) AS count FROM items');
    return integerOf(row, 'count');
  }

  stop(): Promise<void> {
    return this.#file.stop();
  }

  get #database(): Database {
    if (this.#fault !== null) throw this.#fault;
    return this.#file;
  }

  /** The items that match any of the words, the most relevant first; without words the newest first. */
  async search(project: string, words: readonly string[], filter: MemoryFilter, limit: number): Promise<FoundMemory[]> {
    const number = await this.#numberOf(project);
    if (words.length === 0) return this.#newest(number, filter, limit);
    try {
      return await this.#match(number, words, filter, limit);
    } catch (thrown) {
      // A query cannot be wrong, so the index is.
      if (this.#database.state !== 'ready') throw thrown;
      await this.rebuildIndex(thrown instanceof Error ? thrown.message : String(thrown));
      return this.#match(number, words, filter, limit);
    }
  }

  /** In the order of the ids; those that are missing, or belong to another project, are left out. */
  async get(project: string, ids: readonly string[]): Promise<Memory[]> {
    const rows = await this.#database.read(
      `SELECT ${COLUMNS}, items.content FROM json_each(?1) wanted JOIN items ON items.id = wanted.value
        WHERE items.project = ?2 OR items.scope = 'global' ORDER BY wanted.key`,
      JSON.stringify(ids),
      project,
    );
    return rows.map(toMemory);
  }

  /** The item with exactly this text of the same owner, or null. */
  async findEqual(item: Pick<NewMemory, 'project' | 'owner'> & MemoryDraft): Promise<Memory | null> {
    const rows = await this.#database.read(
      `SELECT ${COLUMNS}, items.content FROM items WHERE digest = ?`,
      digestOf(item),
    );
    const [row] = rows;
    return row === undefined ? null : toMemory(row);
  }

  /** In the order in which they were stored, from behind `afterId` ('' for the first). */
  async list(project: string, afterId: string, limit: number, withContent: boolean): Promise<Memory[]> {
    const { first, last } = seqRange(await this.#numberOf(project));
    const rows = await this.#database.read(
      `SELECT ${COLUMNS}, ${withContent ? 'items.content' : excerpt} FROM items
        WHERE seq > coalesce((SELECT seq FROM items WHERE id = ?1), -1) AND (seq < ?2 OR seq BETWEEN ?3 AND ?4)
        ORDER BY seq LIMIT ?5`,
      afterId,
      SEQS_PER_PROJECT,
      first,
      last,
      limit,
    );
    return rows.map(toMemory);
  }

  /** Stores all of them or none; an item whose text its owner has already is left out. Returns whether each was new. */
  async insert(items: readonly NewMemory[]): Promise<boolean[]> {
    const statements: Statement[] = [];
    const places: number[] = [];
    for (const item of items) {
      const number = await this.#numberOf(item.project);
      places.push(statements.length);
      statements.push(...insertion(item, number));
    }
    const results = await this.#database.write(statements);
    const isNew = places.map((place) => (results[place] ?? []).length > 0);
    this.#size += isNew.filter(Boolean).length;
    return isNew;
  }

  /** Changes what is known of an item. Its text stays, so its words do, unless it is set aside or brought back. */
  async change(memory: Memory, change: MemoryChange): Promise<void> {
    await this.#database.write(changeOf(memory, change));
  }

  /** How many memories a project has of one owner and origin; '' is the owner of those of agents. */
  async countOf(project: string, owner: string, origin: MemoryOrigin): Promise<number> {
    const { first, last } = seqRange(await this.#numberOf(project));
    const [row = {}] = await this.#database.read(
      'SELECT count(*) AS count FROM items WHERE seq BETWEEN ? AND ? AND owner = ? AND origin = ?',
      ...[first, last, owner, origin],
    );
    return integerOf(row, 'count');
  }

  /**
   * Adds evidence; of one session the last counts, and the last note stays. Returns the sums over all sessions, and what
   * the item had gained by being stored again, which is what its alpha holds beside the prior and the evidence.
   */
  async addFeedback(
    feedback: Feedback,
    prior: Posterior,
  ): Promise<{ evidence: { good: number; bad: number }; confirmed: number }> {
    const { id, session, outcome, note, requestId, atMs } = feedback;
    const [before = [], , after = []] = await this.#database.write([
      sumOfEvidence(id),
      {
        sql: `INSERT INTO feedback (item, session, outcome, note, request_id, at_ms) VALUES (?, ?, ?, ?, ?, ?)
          ON CONFLICT (item, session) DO UPDATE SET outcome = excluded.outcome, request_id = excluded.request_id,
            at_ms = excluded.at_ms, note = CASE excluded.note WHEN '' THEN note ELSE excluded.note END`,
        params: [id, session, outcome, note, requestId, atMs],
      },
      sumOfEvidence(id),
    ]);
    const [was = {}, is = {}] = [before[0], after[0]];
    const good = numberOf(is, 'good');
    const confirmed = Math.max(0, numberOf(was, 'alpha') - prior.alpha - numberOf(was, 'good'));
    return { evidence: { good, bad: integerOf(is, 'count') - good }, confirmed };
  }

  /** The evidence on an item, the newest first. */
  async feedbackOn(id: string): Promise<Feedback[]> {
    const rows = await this.#database.read('SELECT * FROM feedback WHERE item = ? ORDER BY at_ms DESC, session', id);
    return rows.map((row) => ({
      id,
      session: textOf(row, 'session'),
      outcome: outcomeIn(row),
      note: textOf(row, 'note'),
      requestId: textOf(row, 'request_id'),
      atMs: integerOf(row, 'at_ms'),
    }));
  }

  /** Counts that the content of these items was read. */
  async used(ids: readonly string[], nowMs: number): Promise<void> {
    await this.#database.write([
      {
        sql: 'UPDATE items SET uses = uses + 1, used_ms = ? WHERE id IN (SELECT value FROM json_each(?))',
        params: [nowMs, JSON.stringify(ids)],
      },
    ]);
  }

  /** Removes an item with its words and its evidence. */
  async remove(id: string): Promise<void> {
    await this.#database.write([
      unindexRow(id),
      { sql: 'DELETE FROM items WHERE id = ?', params: [id] },
      outboxRow('delete', id),
    ]);
  }

  /** Makes an item global: every project finds it from now on. */
  async promote(memory: Memory): Promise<void> {
    await this.#database.write([
      unindexRow(memory.id),
      { sql: `UPDATE items SET scope = 'global', seq = ${nextSeq(0)} WHERE id = ?`, params: [memory.id] },
      ...(memory.isQuarantined ? [] : [indexRow(memory)]),
      outboxRow('put', memory.id),
    ]);
  }

  /** Announced in the log, because searches wait for it. */
  async rebuildIndex(why: string): Promise<void> {
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
  async #faultOfIndex(): Promise<string | null> {
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

  async #match(number: number, words: readonly string[], filter: MemoryFilter, limit: number): Promise<FoundMemory[]> {
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
    if (this.#size <= MATCHES_MAX / WORDS_KEPT) return words;
    if (this.#size > this.#sizeOfFrequencies * 1.1 || this.#frequencies.size > FREQUENCIES_MAX) {
      this.#frequencies.clear();
      this.#sizeOfFrequencies = this.#size;
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

  async #newest(number: number, filter: MemoryFilter, limit: number): Promise<FoundMemory[]> {
    const { conditions, params } = filterSql(filter);
    const found = await Promise.all(
      rangesOf(number, filter).map(({ first, last }) =>
        this.#database.read(
          `SELECT ${COLUMNS}, ${excerpt} FROM items
            WHERE seq BETWEEN ?2 AND ?3 AND is_quarantined = 0 AND ?1 = '' ${conditions} ORDER BY seq DESC LIMIT ?4`,
          '',
          first,
          last,
          limit,
          ...params,
        ),
      ),
    );
    return found.flat().map((row) => ({ memory: toMemory(row), relevance: 0 }));
  }

  async #numberOf(project: string): Promise<number> {
    const number = this.#projects.get(project) ?? (await numberOfProject(this.#database, project));
    this.#projects.set(project, number);
    return number;
  }
}

function unusable(error: ContextdError): ContextdError {
  if (error.code !== 'INTERNAL_ERROR') return error;
  return new ContextdError(error.code, error.message, {
    remedy:
      'Stop contextd and move the file and the one with -wal at its end away, to keep them. The next start makes a new one; `ctxd memory import` reads what was exported.',
    cause: error,
  });
}

/** The number of a project, which is given at its first use. */
export async function numberOfProject(database: Pick<Database, 'write'>, project: string): Promise<number> {
  const [, rows = []] = await database.write([
    { sql: 'INSERT OR IGNORE INTO projects (root) VALUES (?)', params: [project] },
    { sql: 'SELECT number FROM projects WHERE root = ?', params: [project] },
  ]);
  return integerOf(rows[0] ?? {}, 'number');
}

/** Whole memories of any project, in any order; those that are missing are left out. */
export async function readMemories(database: Pick<Database, 'read'>, ids: readonly string[]): Promise<Memory[]> {
  const rows = await database.read(
    `SELECT ${COLUMNS}, items.content FROM items WHERE id IN (SELECT value FROM json_each(?))`,
    JSON.stringify(ids),
  );
  return rows.map(toMemory);
}

const CREATE_INDEX = `CREATE VIRTUAL TABLE item_index USING fts5 (
  ${INDEXED.join(', ')}, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
)`;

const excerpt = `substr(items.content, 1, ${EXCERPT_CHARS}) AS content`;

function seqRange(number: number): { first: number; last: number } {
  return { first: number * SEQS_PER_PROJECT, last: (number + 1) * SEQS_PER_PROJECT - 1 };
}

function rangesOf(number: number, { scope }: MemoryFilter): { first: number; last: number }[] {
  return [...(scope === 'global' ? [] : [seqRange(number)]), ...(scope === 'project' ? [] : [seqRange(0)])];
}

/** The next free number of a project, as SQL. */
export function nextSeq(number: number): string {
  const { first, last } = seqRange(number);
  return `(SELECT coalesce(max(seq) + 1, ${first + 1}) FROM items WHERE seq BETWEEN ${first} AND ${last})`;
}

/** Conditions on `items` with the parameters ?5 to ?7; joined only if there are any, because the index knows no columns. */
export function filterSql({ tags, outcome, sinceMs, withoutTools = false }: MemoryFilter) {
  const params = [JSON.stringify(tags), outcome ?? '', sinceMs];
  if (tags.length === 0 && outcome === null && sinceMs === 0 && !withoutTools)
    return { join: '', conditions: '', params: [] };
  return {
    join: 'JOIN items ON items.seq = item_index.rowid',
    conditions: `${withoutTools ? "AND items.origin <> 'tool'" : ''} AND (?6 = '' OR items.outcome = ?6) AND items.updated_ms >= ?7
      AND NOT EXISTS (SELECT 1 FROM json_each(?5) wanted
        WHERE NOT EXISTS (SELECT 1 FROM json_each(items.tags) own WHERE own.value = wanted.value))`,
    params,
  };
}

function insertion(item: NewMemory, number: number): Statement[] {
  const { alpha, beta } = PRIORS[item.origin];
  const values = {
    ...{ id: item.id, project: item.project, scope: 'project', title: item.title, description: item.description },
    ...{ content: item.content, tags: JSON.stringify(item.tags), outcome: item.outcome, task: item.task },
    ...{ context: item.context, origin: item.origin, owner: item.owner, source: item.source },
    ...{ provenance: JSON.stringify(item.provenance), contradicts: JSON.stringify(item.contradicts) },
    ...{ alpha, beta, uses: 0, is_quarantined: 0, digest: digestOf(item) },
    ...{ created_ms: item.nowMs, updated_ms: item.nowMs },
  };
  const names = Object.keys(values);
  return [
    {
      sql: `INSERT INTO items (seq, ${names.join(', ')}) SELECT ${nextSeq(number)}, ${names.map(() => '?').join(', ')}
        WHERE true ON CONFLICT (digest) DO NOTHING RETURNING id`,
      params: Object.values(values),
    },
    // An item that its owner has already has no row with this id.
    {
      sql: `INSERT INTO item_index (rowid, ${INDEXED.join(', ')}) SELECT seq, ?, ?, ?, ?, ?, ? FROM items WHERE id = ?`,
      params: [...wordsByColumn(item), item.id],
    },
    { sql: `INSERT INTO outbox (op, id) SELECT 'put', id FROM items WHERE id = ?`, params: [item.id] },
  ];
}

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

/**
 * Each session counts once; on a global item each project, with the mean of its sessions: agents choose the names of their
 * sessions, and those of one project must not decide for all others.
 */
function sumOfEvidence(id: string): Statement {
  return {
    sql: `WITH votes AS (
        SELECT substr(session, 1, ${PROJECT_TAG_CHARS}) AS project,
          CASE outcome WHEN 'success' THEN 1.0 WHEN 'mixed' THEN 0.5 ELSE 0.0 END AS good FROM feedback WHERE item = ?1
      ), projects AS (SELECT sum(good) AS good, count(*) AS count FROM votes GROUP BY project)
      SELECT alpha,
        (SELECT coalesce(sum(CASE scope WHEN 'global' THEN good / count ELSE good END), 0.0) FROM projects) AS good,
        (SELECT coalesce(sum(CASE scope WHEN 'global' THEN 1 ELSE count END), 0) FROM projects) AS count
      FROM items WHERE id = ?1`,
    params: [id],
  };
}

function changeOf(
  memory: Memory,
  { provenance, contradicts, tags, alpha, beta, gainedAlpha, isQuarantined, updatedMs }: MemoryChange,
) {
  const wasQuarantined = memory.isQuarantined;
  const nowQuarantined = isQuarantined ?? wasQuarantined;
  const changed = { ...memory, tags: tags ?? memory.tags };
  const isStale = wasQuarantined !== nowQuarantined || tags !== undefined;
  return [
    {
      sql: `UPDATE items SET provenance = ?, contradicts = ?, tags = ?, alpha = coalesce(?, alpha) + ?, beta = coalesce(?, beta),
        is_quarantined = ?, updated_ms = ? WHERE id = ?`,
      params: [
        ...[provenance ?? memory.provenance, contradicts ?? memory.contradicts, changed.tags].map((list) =>
          JSON.stringify(list),
        ),
        ...[
          alpha ?? null,
          gainedAlpha ?? 0,
          beta ?? null,
          nowQuarantined ? 1 : 0,
          updatedMs ?? memory.updatedMs,
          memory.id,
        ],
      ],
    },
    ...(isStale ? [unindexRow(memory.id)] : []),
    ...(isStale && !nowQuarantined ? [indexRow(changed)] : []),
    outboxRow('put', memory.id),
  ];
}

/** One row for each item is enough: it names what to send, not what has changed. */
function outboxRow(op: 'put' | 'delete', id: string): Statement {
  return { sql: 'INSERT OR REPLACE INTO outbox (op, id) VALUES (?, ?)', params: [op, id] };
}

function digestOf({
  project,
  owner,
  title,
  description,
  content,
  tags,
  outcome,
  task,
  context,
}: Pick<NewMemory, 'project' | 'owner'> & MemoryDraft): Buffer {
  const fields = [project, owner, title, description, content, [...tags], outcome, task, context];
  return createHash('sha256').update(JSON.stringify(fields)).digest();
}

function toMemory(row: Row): Memory {
  return {
    id: textOf(row, 'id'),
    project: textOf(row, 'project'),
    scope: textOf(row, 'scope') === 'global' ? 'global' : 'project',
    title: textOf(row, 'title'),
    description: textOf(row, 'description'),
    content: textOf(row, 'content'),
    tags: listIn(row, 'tags'),
    outcome: outcomeIn(row),
    task: textOf(row, 'task'),
    context: textOf(row, 'context'),
    origin: originIn(row),
    owner: textOf(row, 'owner'),
    source: textOf(row, 'source'),
    provenance: listIn(row, 'provenance'),
    contradicts: listIn(row, 'contradicts'),
    confidence: meanOf({ alpha: numberOf(row, 'alpha'), beta: numberOf(row, 'beta') }),
    uses: integerOf(row, 'uses'),
    isQuarantined: integerOf(row, 'is_quarantined') !== 0,
    createdMs: integerOf(row, 'created_ms'),
    updatedMs: integerOf(row, 'updated_ms'),
    usedMs: row.used_ms === null ? null : integerOf(row, 'used_ms'),
  };
}

/** SQLite gives a number as it is, whole or not. */
const numberOf = integerOf;

function listIn(row: Row, column: string): string[] {
  const value: unknown = JSON.parse(textOf(row, column));
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function outcomeIn(row: Row): MemoryOutcome {
  const outcome = textOf(row, 'outcome');
  return outcome === 'success' || outcome === 'failure' ? outcome : 'mixed';
}

function originIn(row: Row): MemoryOrigin {
  const origin = textOf(row, 'origin');
  return origin === 'person' || origin === 'model' || origin === 'tool' ? origin : 'import';
}
