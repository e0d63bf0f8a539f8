import type { SessionRef } from '../../call/session.ts';
import { ContextdError } from '../../core/errors.ts';
import { type Database, integerOf, type Row, type Statement, textOf } from '../../stores/sqlite.ts';
import {
  CAUSES,
  CHECKPOINT_FORMAT,
  CHECKPOINT_ID_PATTERN,
  type Checkpoint,
  type CheckpointHead,
  checksumOf,
  openBody,
  renderBody,
} from './checkpoint.ts';

/** Checkpoints that a session and branch keeps. Of more the oldest go, those without a name first. */
export const KEPT_PER_SESSION = 50;

const HEAD = 'id, project, session, branch, name, cause, position, created_ms';
const OF_BRANCH = 'project = ?1 AND session = ?2 AND branch IS ?3';

export interface StoredHead extends CheckpointHead {
  /** One line that says what it holds. */
  readonly summary: string;
}

/** Checkpoints in the state database, with the artifacts that they keep from being removed. */
export class CheckpointStore {
  readonly #database: Database;
  /** Bytes of artifacts that all checkpoints together may keep. */
  readonly #pinMaxBytes: number;

  constructor({ database, pinMaxBytes }: { database: Database; pinMaxBytes: number }) {
    this.#database = database;
    this.#pinMaxBytes = pinMaxBytes;
  }

  /**
   * All of it or nothing. `artifacts`: the most important first; what does not fit is not kept. `spared`: a checkpoint that
   * stays if there are too many. Throws STORAGE_FULL.
   */
  async save(checkpoint: Checkpoint, summary: string, artifacts: readonly string[], spared = ''): Promise<void> {
    const { id, session, name, cause, position, createdMs, body } = checkpoint;
    const json = renderBody(body);
    const pins = await this.#fitting(artifacts);
    await this.#database.write([
      {
        sql: `INSERT INTO checkpoints (${HEAD}, summary, format, body, sha256) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)`,
        params: [
          id,
          session.project,
          session.session,
          session.branch,
          name,
          cause,
          position,
          createdMs,
          summary,
          CHECKPOINT_FORMAT,
          json,
          checksumOf(json, checkpoint),
        ],
      },
      {
        sql: `INSERT INTO checkpoint_pins (checkpoint, artifact)
              SELECT ?1, id FROM artifacts WHERE id IN (SELECT value FROM json_each(?2))`,
        params: [id, JSON.stringify(pins)],
      },
      removeOldest(checkpoint, spared),
      REMOVE_LOOSE_PINS,
    ]);
  }

  /** Of the session and branch, the newest first. */
  async list(session: SessionRef): Promise<StoredHead[]> {
    const rows = await this.#database.read(
      `SELECT ${HEAD}, summary FROM checkpoints WHERE ${OF_BRANCH} ORDER BY created_ms DESC, id`,
      session.project,
      session.session,
      session.branch,
    );
    return rows.map(headOf);
  }

  /** Of the project, the newest first. */
  async listProject(project: string): Promise<StoredHead[]> {
    const sql = `SELECT ${HEAD}, summary FROM checkpoints WHERE project = ? ORDER BY created_ms DESC, id`;
    return (await this.#database.read(sql, project)).map(headOf);
  }

  /** Of any session of the project. Throws NOT_FOUND, VERSION_MISMATCH, INTEGRITY_FAILED. */
  async read(project: string, id: string): Promise<Checkpoint> {
    const sql = `SELECT ${HEAD}, summary, format, body, sha256 FROM checkpoints WHERE project = ? AND id = ?`;
    return this.#open(id, await this.#database.read(sql, project, id));
  }

  /** What was written for the one who goes on; '' for a checkpoint that is not there or cannot be read. */
  async note(project: string, id: string): Promise<string> {
    const sql = `SELECT json_extract(body, '$.note') AS note FROM checkpoints WHERE project = ? AND id = ? AND json_valid(body)`;
    const [row] = await this.#database.read(sql, project, id);
    return typeof row?.note === 'string' ? row.note : '';
  }

  /** The lists of files that the checkpoints of a project need. */
  async trees(project: string): Promise<Set<string>> {
    const rows = await this.#database.read(
      `SELECT DISTINCT json_extract(body, '$.files.tree') AS tree FROM checkpoints WHERE project = ? AND json_valid(body)`,
      project,
    );
    return new Set(rows.flatMap(({ tree }) => (typeof tree === 'string' ? [tree] : [])));
  }

  /** With the project: nobody can reach them any more. */
  async forget(project: string): Promise<void> {
    await this.#database.write([
      { sql: 'DELETE FROM checkpoints WHERE project = ?', params: [project] },
      REMOVE_LOOSE_PINS,
    ]);
  }

  #open(id: string, [row]: readonly Row[]): Checkpoint {
    if (row === undefined || !CHECKPOINT_ID_PATTERN.test(id)) throw unknownCheckpoint(id);
    const head = headOf(row);
    const sealed = { format: integerOf(row, 'format'), json: textOf(row, 'body'), sha256: textOf(row, 'sha256') };
    return { ...head, body: openBody(`checkpoint ${id}`, head, sealed) };
  }

  /** The first of these artifacts, as long as all that checkpoints keep stays below the limit. */
  async #fitting(artifacts: readonly string[]): Promise<string[]> {
    const wanted = await this.#database.read(
      `SELECT artifacts.id AS id, bytes, EXISTS (SELECT 1 FROM checkpoint_pins WHERE artifact = artifacts.id) AS is_pinned
         FROM json_each(?) JOIN artifacts ON artifacts.id = value JOIN contents ON contents.id = content ORDER BY key`,
      JSON.stringify(artifacts),
    );
    let left = this.#pinMaxBytes - (await this.#pinnedBytes());
    return wanted.flatMap((row) => {
      const bytes = integerOf(row, 'is_pinned') === 1 ? 0 : integerOf(row, 'bytes');
      if (bytes > left) return [];
      left -= bytes;
      return [textOf(row, 'id')];
    });
  }

  async #pinnedBytes(): Promise<number> {
    const [row] = await this.#database.read(
      `SELECT coalesce(sum(bytes), 0) AS bytes FROM contents WHERE id IN
        (SELECT content FROM artifacts JOIN checkpoint_pins ON artifact = artifacts.id)`,
    );
    return integerOf(row ?? {}, 'bytes');
  }
}

const REMOVE_LOOSE_PINS: Statement = {
  sql: 'DELETE FROM checkpoint_pins WHERE checkpoint NOT IN (SELECT id FROM checkpoints)',
  params: [],
};

/** Never the one that was just saved, even if it has no name. */
function removeOldest({ id, session: { project, session, branch } }: CheckpointHead, spared: string): Statement {
  return {
    sql: `DELETE FROM checkpoints WHERE id IN (SELECT id FROM checkpoints WHERE ${OF_BRANCH}
            ORDER BY id IN (?5, ?6) DESC, name <> '' DESC, created_ms DESC, id LIMIT -1 OFFSET ?4)`,
    params: [project, session, branch, KEPT_PER_SESSION, id, spared],
  };
}

function headOf(row: Row): StoredHead {
  const branch = row.branch;
  return {
    id: textOf(row, 'id'),
    session: {
      project: textOf(row, 'project'),
      session: textOf(row, 'session'),
      branch: typeof branch === 'string' ? branch : null,
    },
    name: textOf(row, 'name'),
    cause: CAUSES.find((one) => one === row.cause) ?? 'asked',
    position: integerOf(row, 'position'),
    createdMs: integerOf(row, 'created_ms'),
    summary: textOf(row, 'summary'),
  };
}

export function unknownCheckpoint(id: string): ContextdError {
  return new ContextdError(
    'NOT_FOUND',
    `this project has no checkpoint ${JSON.stringify(id.slice(0, 40))} that can be read here`,
    {
      remedy: 'checkpoint_list shows those that can.',
    },
  );
}
