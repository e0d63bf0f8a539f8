import { createHash, randomBytes } from 'node:crypto';
import { type Database, integerOf, type Statement, textOf } from '../../../stores/sqlite.ts';
import type { Memory, MemoryDraft } from '../item.ts';
import { PRIORS } from '../learn.ts';
import { nextSeq, numberOfProject, readMemories } from '../rows.ts';
import { indexRow, unindexRow } from '../word-index.ts';
import type { PointOrigin, SharedPoint } from './points.ts';

/** A change that the shared store does not have yet. */
export type Pending = { readonly seq: number; readonly id: string; readonly project: string } & (
  | { readonly op: 'put'; readonly memory: Memory }
  | { readonly op: 'delete' }
);

/** Where reading what others wrote goes on. */
export interface Cursor {
  /** What was written before it has been read. */
  readonly sinceMs: number;
  /** The page of the reading that is under way; null: none is. */
  readonly offset: string | null;
  /** The newest that the reading under way has seen. */
  readonly newestMs: number;
}

export interface KnownPoint extends PointOrigin {
  readonly isHere: boolean;
  readonly isDetached: boolean;
}

const START: Cursor = { sinceMs: 0, offset: null, newestMs: 0 };
/** Who wrote an item is its source: nothing that was made here has a source like it. */
export const FOREIGN_SOURCE = 'qdrant:';

/** The tables of the memory database that know what is shared. Each change is one transaction. */
export class SharedItems {
  readonly #database: Database;
  /** Configured ids of projects by their roots. */
  readonly #projects: ReadonlyMap<string, string>;
  /** Rows of the outbox up to here are of projects that are not shared. */
  #nothingUpTo = 0;

  constructor({ database, projects }: { database: Database; projects: ReadonlyMap<string, string> }) {
    this.#database = database;
    this.#projects = projects;
  }

  /** The name of this store, made once. A changed `target` begins again: nothing of it has been sent or read yet. */
  async open(target: string): Promise<string> {
    const made = randomBytes(16).toString('hex');
    await this.#database.write([{ sql: `INSERT OR IGNORE INTO sync_state VALUES ('writer', ?)`, params: [made] }]);
    if ((await this.#state('target')) !== target) {
      await this.#database.write([{ sql: 'DELETE FROM sent', params: [] }]);
      await this.enqueueAll();
      await this.#database.write([setState('target', target), setState('cursor', JSON.stringify(START))]);
    }
    return (await this.#state('writer')) ?? made;
  }

  /** The oldest changes of shared projects. What belongs to others is taken out of the outbox. */
  async pending(limit: number, maxBytes: number): Promise<Pending[]> {
    const [last = {}] = await this.#database.read('SELECT coalesce(max(seq), 0) AS seq FROM outbox');
    const rows = await this.#database.read(
      `SELECT outbox.seq AS seq, outbox.op AS op, outbox.id AS id, coalesce(items.project, '') AS root,
          coalesce(sent.project_id, '') AS sent, coalesce(length(items.content), 0) AS chars, foreign_items.id IS NOT NULL AS foreigner
        FROM outbox LEFT JOIN items ON items.id = outbox.id LEFT JOIN sent ON sent.id = outbox.id
          LEFT JOIN foreign_items ON foreign_items.id = outbox.id
        WHERE outbox.seq > ? AND (foreign_items.id IS NOT NULL OR items.id IS NULL
          OR items.project IN (SELECT value FROM json_each(?)))
        ORDER BY outbox.seq LIMIT ?`,
      this.#nothingUpTo,
      JSON.stringify([...this.#projects.keys()]),
      limit,
    );
    if (rows.length === 0) this.#nothingUpTo = integerOf(last, 'seq');
    const changes = rows.map((row) => ({
      seq: integerOf(row, 'seq'),
      id: textOf(row, 'id'),
      chars: integerOf(row, 'chars'),
      isForeign: integerOf(row, 'foreigner') !== 0,
      isGone: textOf(row, 'root') === '',
      project: this.#projects.get(textOf(row, 'root')) ?? textOf(row, 'sent'),
    }));
    // Nobody else has it: it is of another writer, or was forgotten before it was sent.
    const moot = changes.filter(({ isForeign, isGone, project }) => isForeign || (isGone && project === ''));
    if (moot.length > 0) await this.#database.write(moot.map(({ seq }) => taken(seq)));
    let chars = 0;
    const due = changes.filter((change, index) => {
      chars += change.chars;
      return !moot.includes(change) && (index === 0 || chars <= maxBytes);
    });
    if (due.length === 0 && moot.length > 0) return this.pending(limit, maxBytes);
    const memories = await readMemories(
      this.#database,
      due.map(({ id }) => id),
    );
    const byId = new Map(memories.map((memory) => [memory.id, memory]));
    return due.map(({ seq, id, project }) => {
      const memory = byId.get(id);
      return memory === undefined ? { seq, id, project, op: 'delete' } : { seq, id, project, op: 'put', memory };
    });
  }

  /** Before it is sent: should an answer be lost, a later deletion must reach the server. */
  async sending(changes: readonly Pending[]): Promise<void> {
    await this.#database.write(
      changes.map(({ id, project }) => ({
        sql: 'INSERT OR REPLACE INTO sent (id, project_id) VALUES (?, ?)',
        params: [id, project],
      })),
    );
  }

  /** A change that came meanwhile has another number and stays. */
  async delivered(changes: readonly Pending[]): Promise<void> {
    await this.#database.write(changes.map(({ seq }) => taken(seq)));
  }

  /**
   * Sends every memory of the shared projects again, and that others were forgotten. `above`: a version that the server has
   * already; what is sent counts as newer.
   */
  async enqueueAll(above = 0): Promise<void> {
    await this.#database.write([
      { sql: `UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'outbox'`, params: [above] },
      {
        sql: `INSERT OR REPLACE INTO outbox (op, id) SELECT 'delete', id FROM sent
          WHERE id NOT IN (SELECT id FROM items) ORDER BY id`,
        params: [],
      },
      {
        sql: `INSERT OR REPLACE INTO outbox (op, id) SELECT 'put', id FROM items
          WHERE project IN (SELECT value FROM json_each(?)) AND id NOT IN (SELECT id FROM foreign_items) ORDER BY seq`,
        params: [JSON.stringify([...this.#projects.keys()])],
      },
    ]);
  }

  /** Reads everything again that others wrote, what has not changed too. */
  async readAgain(): Promise<void> {
    await this.#database.write([
      setState('cursor', JSON.stringify(START)),
      { sql: 'UPDATE foreign_items SET version = -1', params: [] },
    ]);
  }

  /** How many changes wait, how many points this store should have on the server, and how many memories of others are here. */
  async counts(): Promise<{ pending: number; sent: number; foreign: number }> {
    const [row = {}] = await this.#database.read(
      `SELECT (SELECT count(*) FROM outbox JOIN items ON items.id = outbox.id
          WHERE items.project IN (SELECT value FROM json_each(?)) AND items.id NOT IN (SELECT id FROM foreign_items))
        + (SELECT count(*) FROM outbox JOIN sent ON sent.id = outbox.id WHERE outbox.op = 'delete') AS pending,
        (SELECT count(*) FROM sent) AS sent,
        (SELECT count(*) FROM foreign_items JOIN items ON items.id = foreign_items.id) AS foreigners`,
      JSON.stringify([...this.#projects.keys()]),
    );
    return { pending: integerOf(row, 'pending'), sent: integerOf(row, 'sent'), foreign: integerOf(row, 'foreigners') };
  }

  async cursor(): Promise<Cursor> {
    const text = await this.#state('cursor');
    return text === null ? START : JSON.parse(text);
  }

  /** How many memories each other store has here, forgotten ones too. */
  async countsByWriter(): Promise<Map<string, number>> {
    const rows = await this.#database.read('SELECT writer, count(*) AS count FROM foreign_items GROUP BY writer');
    return new Map(rows.map((row) => [textOf(row, 'writer'), integerOf(row, 'count')]));
  }

  /**
   * The version in which each of these points is known here; points that nothing is known of are left out. A person made
   * those global that are `isDetached`: their writer cannot change them any more.
   */
  async knownVersions(ids: readonly string[]): Promise<Map<string, KnownPoint>> {
    const rows = await this.#database.read(
      `SELECT foreign_items.*, items.id IS NOT NULL AS here, coalesce(items.scope, '') AS scope FROM json_each(?) wanted
        JOIN foreign_items ON foreign_items.id = wanted.value LEFT JOIN items ON items.id = wanted.value`,
      JSON.stringify(ids),
    );
    return new Map(
      rows.map((row) => [
        textOf(row, 'id'),
        {
          id: textOf(row, 'id'),
          writer: textOf(row, 'writer'),
          version: integerOf(row, 'version'),
          project: textOf(row, 'project_id'),
          isHere: integerOf(row, 'here') !== 0,
          isDetached: textOf(row, 'scope') === 'global',
        },
      ]),
    );
  }

  /** Those of these ids that memories made here have. */
  async ownIds(ids: readonly string[]): Promise<Set<string>> {
    const rows = await this.#database.read(
      `SELECT items.id AS id FROM json_each(?) wanted JOIN items ON items.id = wanted.value
        WHERE items.id NOT IN (SELECT id FROM foreign_items)`,
      JSON.stringify(ids),
    );
    return new Set(rows.map((row) => textOf(row, 'id')));
  }

  /**
   * Takes over what others wrote; every text has been masked. `cursor` is where reading goes on after it, null if it stays.
   * The same points again change nothing.
   */
  async accept(points: readonly SharedPoint[], cursor: Cursor | null): Promise<void> {
    const roots = new Map([...this.#projects].map(([root, id]) => [id, root]));
    const statements: Statement[] = [];
    for (const point of points) {
      const root = roots.get(point.project);
      if (root === undefined) continue;
      const number = await numberOfProject(this.#database, root);
      statements.push(...(point.isDeleted ? removal(point, number) : acceptance(point, root, number)));
    }
    await this.#database.write([
      ...statements,
      ...(cursor === null ? [] : [setState('cursor', JSON.stringify(cursor))]),
    ]);
  }

  async #state(name: string): Promise<string | null> {
    const [row] = await this.#database.read('SELECT value FROM sync_state WHERE name = ?', name);
    return row === undefined ? null : textOf(row, 'value');
  }
}

function setState(name: string, value: string): Statement {
  return { sql: 'INSERT OR REPLACE INTO sync_state VALUES (?, ?)', params: [name, value] };
}

function taken(seq: number): Statement {
  return { sql: 'DELETE FROM outbox WHERE seq = ?', params: [seq] };
}

// A person can make a memory global while a page is taken over: each statement leaves a global one as it is, because it is
// in another index.

function removal({ id }: PointOrigin, number: number): Statement[] {
  return [
    ...unindexRow(id, number),
    { sql: `DELETE FROM items WHERE id = ? AND scope = 'project'`, params: [id] },
    { sql: 'DELETE FROM foreign_items WHERE id = ? AND id NOT IN (SELECT id FROM items)', params: [id] },
  ];
}

function acceptance(point: SharedPoint & { readonly isDeleted: false }, root: string, number: number): Statement[] {
  const { id, writer, version, project, draft, isQuarantined, replacedBy, createdMs, updatedMs } = point;
  const { alpha, beta } = PRIORS.import;
  const texts = textColumns(draft);
  const values = {
    id,
    project: root,
    scope: 'project',
    ...texts,
    origin: 'import',
    owner: '',
    source: `${FOREIGN_SOURCE}${writer}`,
    provenance: '[]',
    contradicts: '[]',
    alpha,
    beta,
    uses: 0,
    is_quarantined: isQuarantined ? 1 : 0,
    replaced_by: replacedBy,
    digest: createHash('sha256').update(`foreign\0${id}`).digest(),
    created_ms: createdMs,
    updated_ms: updatedMs,
  };
  const names = Object.keys(values);
  const changing = [...Object.keys(texts), 'is_quarantined', 'updated_ms'];
  return [
    {
      sql: `INSERT INTO items (seq, ${names.join(', ')}) SELECT ${nextSeq(number)}, ${names.map(() => '?').join(', ')}
        WHERE true ON CONFLICT (id) DO UPDATE SET ${changing.map((name) => `${name} = excluded.${name}`).join(', ')},
          replaced_by = ${REPLACED_BY} WHERE items.scope = 'project'`,
      params: Object.values(values),
    },
    ...unindexRow(id, number),
    ...indexRow({ ...draft, id }, number),
    {
      sql: 'INSERT OR REPLACE INTO foreign_items (id, project_id, writer, version) VALUES (?, ?, ?, ?)',
      params: [id, project, writer, version],
    },
  ];
}

/** The writer says what took the place of its memory, unless a memory that was made here did. */
const REPLACED_BY = `CASE WHEN excluded.replaced_by = '' AND items.replaced_by IN
    (SELECT own.id FROM items own WHERE own.id NOT IN (SELECT id FROM foreign_items))
  THEN items.replaced_by ELSE excluded.replaced_by END`;

function textColumns({ title, description, content, tags, outcome, task, context }: MemoryDraft) {
  return { title, description, content, tags: JSON.stringify(tags), outcome, task, context };
}
