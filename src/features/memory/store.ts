import { ContextdError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { type Database, integerOf, type Statement, textOf } from '../../stores/sqlite.ts';
import type { Memory, MemoryDraft, MemoryOrigin, MemoryOutcome } from './item.ts';
import type { Posterior } from './learn.ts';
import {
  COLUMNS,
  excerpt,
  type FoundMemory,
  filterSql,
  type MemoryFilter,
  nextSeq,
  numberOf,
  numberOfProject,
  outcomeIn,
  rangesOf,
  readMemories,
  SEQS_PER_PROJECT,
  seqRange,
  toMemory,
} from './rows.ts';
import {
  changeOf,
  digestOf,
  insertion,
  type MemoryChange,
  type NewMemory,
  originColumns,
  outboxRow,
  sumOfEvidence,
} from './statements.ts';
import { indexRow, unindexRow, WordIndex } from './word-index.ts';

export interface Feedback {
  readonly id: string;
  /** Identifies the session: see `sessionTag`. */
  readonly session: string;
  readonly outcome: MemoryOutcome;
  readonly note: string;
  readonly requestId: string;
  readonly atMs: number;
  /** 1 for a report, less for what only the record shows. */
  readonly weight: number;
}

/** The table of memories, its word index and the outbox. Each change writes all three in one transaction. */
export class MemoryStore {
  readonly #file: Database;
  readonly #logger: Logger;
  readonly #projects = new Map<string, number>();
  #fault: ContextdError | null = null;
  readonly #index: WordIndex;

  constructor({ database, logger }: { database: Database; logger: Logger }) {
    this.#file = database;
    this.#logger = logger;
    this.#index = new WordIndex(database, logger);
  }

  /**
   * Rebuilds the index if it is missing, unfinished, damaged or of an older version. If the file itself is unusable,
   * this is logged and every request throws, so calls that need no memory still work.
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
    await this.#index.check();
  }

  /** Number of memories of all projects. Throws if the file is unusable. */
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

  /** Items that match any of the words, most relevant first. Without words: newest first. */
  async search(project: string, words: readonly string[], filter: MemoryFilter, limit: number): Promise<FoundMemory[]> {
    const number = await this.#numberOf(project);
    if (words.length === 0) return this.#newest(number, filter, limit);
    try {
      return await this.#index.match(number, words, filter, limit);
    } catch (thrown) {
      // Queries are always well-formed, so the index is broken.
      if (this.#database.state !== 'ready') throw thrown;
      await this.#index.rebuild(thrown instanceof Error ? thrown.message : String(thrown));
      return this.#index.match(number, words, filter, limit);
    }
  }

  /** In the order of the ids. Skips missing ones and those of other projects. */
  async get(project: string, ids: readonly string[]): Promise<Memory[]> {
    const rows = await this.#database.read(
      `SELECT ${COLUMNS}, items.content FROM json_each(?1) wanted JOIN items ON items.id = wanted.value
        WHERE items.project = ?2 OR items.scope = 'global' ORDER BY wanted.key`,
      JSON.stringify(ids),
      project,
    );
    return rows.map(toMemory);
  }

  /** Items of any project, in any order; skips missing ones. */
  find(ids: readonly string[]): Promise<Memory[]> {
    return readMemories(this.#database, ids);
  }

  /** The item with exactly this text and owner, or null. */
  async findEqual(item: Pick<NewMemory, 'project' | 'owner'> & MemoryDraft): Promise<Memory | null> {
    const rows = await this.#database.read(
      `SELECT ${COLUMNS}, items.content FROM items WHERE digest = ?`,
      digestOf(item),
    );
    const [row] = rows;
    return row === undefined ? null : toMemory(row);
  }

  /** In the order in which they were stored, starting after `afterId` ('' for the first). */
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

  /**
   * Stores all or none; skips items whose text the same owner already has. Returns for each the id of the item with its text,
   * and whether it was new.
   */
  async insert(items: readonly NewMemory[]): Promise<{ id: string; isNew: boolean }[]> {
    const statements: Statement[] = [];
    const places: number[] = [];
    for (const item of items) {
      statements.push(...insertion(item, await this.#numberOf(item.project)));
      places.push(statements.length - 1);
    }
    const results = await this.#database.write(statements);
    return items.map((item, index) => {
      const [row = {}] = results[places[index] ?? 0] ?? [];
      const id = textOf(row, 'id');
      return { id, isNew: id === item.id };
    });
  }

  /** Changes an item's metadata. Its text and index stay unchanged, unless it is set aside or restored. */
  async change(memory: Memory, change: MemoryChange): Promise<void> {
    await this.#database.write(changeOf(memory, await this.#placeOf(memory), change));
  }

  /** Number of a project's memories of one owner and origin. The owner of agents' memories is ''. */
  async countOf(project: string, owner: string, origin: MemoryOrigin): Promise<number> {
    const { first, last } = seqRange(await this.#numberOf(project));
    const [row = {}] = await this.#database.read(
      'SELECT count(*) AS count FROM items WHERE seq BETWEEN ? AND ? AND owner = ? AND origin = ? AND is_distilled = ?',
      first,
      last,
      owner,
      ...Object.values(originColumns(origin)),
    );
    return integerOf(row, 'count');
  }

  /**
   * Adds evidence. Per session the last outcome counts, a report before a weak one, and the last non-empty note is kept. Returns the sums over all
   * sessions, and the item's gain from being stored again: its alpha minus the prior and the evidence.
   */
  async addFeedback(
    feedback: Feedback,
    prior: Posterior,
  ): Promise<{ evidence: { good: number; bad: number }; confirmed: number }> {
    const { id, session, outcome, note, requestId, atMs, weight } = feedback;
    const [before = [], , after = []] = await this.#database.write([
      sumOfEvidence(id),
      {
        sql: `INSERT INTO feedback (item, session, outcome, note, request_id, at_ms, weight) VALUES (?, ?, ?, ?, ?, ?, ?)
          ON CONFLICT (item, session) DO UPDATE SET outcome = excluded.outcome, request_id = excluded.request_id,
            at_ms = excluded.at_ms, weight = excluded.weight,
            note = CASE excluded.note WHEN '' THEN note ELSE excluded.note END WHERE excluded.weight >= feedback.weight`,
        params: [id, session, outcome, note, requestId, atMs, weight],
      },
      sumOfEvidence(id),
    ]);
    const [was = {}, is = {}] = [before[0], after[0]];
    const good = numberOf(is, 'good');
    const confirmed = Math.max(0, numberOf(was, 'alpha') - prior.alpha - numberOf(was, 'good'));
    return { evidence: { good, bad: integerOf(is, 'count') - good }, confirmed };
  }

  /** The evidence on an item, newest first. */
  async feedbackOn(id: string): Promise<Feedback[]> {
    const rows = await this.#database.read('SELECT * FROM feedback WHERE item = ? ORDER BY at_ms DESC, session', id);
    return rows.map((row) => ({
      id,
      session: textOf(row, 'session'),
      outcome: outcomeIn(row),
      note: textOf(row, 'note'),
      requestId: textOf(row, 'request_id'),
      atMs: integerOf(row, 'at_ms'),
      weight: integerOf(row, 'weight'),
    }));
  }

  /** Counts a read of the content of these items. */
  async used(ids: readonly string[], nowMs: number): Promise<void> {
    await this.#database.write([
      {
        sql: 'UPDATE items SET uses = uses + 1, used_ms = ? WHERE id IN (SELECT value FROM json_each(?))',
        params: [nowMs, JSON.stringify(ids)],
      },
    ]);
  }

  /** Deletes an item with its index entries and its evidence. What it took the place of is found again. */
  async remove(memory: Memory): Promise<void> {
    const { id } = memory;
    const older = await this.find(memory.replaces);
    const restored: Statement[] = [];
    for (const one of older) restored.push(...changeOf(one, await this.#placeOf(one), { replacedBy: '' }));
    await this.#database.write([
      ...unindexRow(id, await this.#placeOf(memory)),
      { sql: 'DELETE FROM items WHERE id = ?', params: [id] },
      outboxRow('delete', id),
      ...restored,
    ]);
  }

  /** Makes an item global: every project finds it from now on. */
  async promote(memory: Memory): Promise<void> {
    await this.#database.write([
      ...unindexRow(memory.id, await this.#numberOf(memory.project)),
      { sql: `UPDATE items SET scope = 'global', seq = ${nextSeq(0)} WHERE id = ?`, params: [memory.id] },
      ...indexRow(memory, 0),
      outboxRow('put', memory.id),
    ]);
  }

  async #newest(number: number, filter: MemoryFilter, limit: number): Promise<FoundMemory[]> {
    const { conditions, params } = filterSql(filter);
    const found = await Promise.all(
      rangesOf(number, filter).map(({ first, last }) =>
        this.#database.read(
          `SELECT ${COLUMNS}, ${excerpt} FROM items
            WHERE seq BETWEEN ?2 AND ?3 AND is_set_aside = 0 AND ?1 = '' ${conditions} ORDER BY seq DESC LIMIT ?4`,
          '',
          first,
          last,
          limit,
          ...params,
        ),
      ),
    );
    return found.flat().map((row) => ({ memory: toMemory(row), relevance: 0, coverage: 0 }));
  }

  /** Where it is indexed. */
  async #placeOf({ scope, project }: Memory): Promise<number> {
    return scope === 'global' ? 0 : this.#numberOf(project);
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
