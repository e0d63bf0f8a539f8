import type { SessionRef } from '../call/session.ts';
import { type Database, integerOf, textOf } from './sqlite.ts';

/** A background job that began and has not ended, as its session may still hear of it after the daemon has died. */
export interface OpenJob {
  readonly id: string;
  readonly number: number;
  /** Scrubbed. */
  readonly command: string;
  /** Milliseconds since the epoch. */
  readonly startedMs: number;
  /** The artifact of its output. */
  readonly artifact: string;
}

/** As it is on record. */
export interface StoredJob extends OpenJob {
  /** True once the session has listed it as interrupted. */
  readonly isListed: boolean;
}

/** Jobs that began. A row goes with the end of its job or session. */
export interface OpenJobs {
  add(session: SessionRef, job: OpenJob): Promise<void>;
  /** Oldest first. */
  of(session: SessionRef): Promise<StoredJob[]>;
  setListed(ids: readonly string[]): Promise<void>;
  remove(ids: readonly string[]): Promise<void>;
  /** Those of the session and of its branches. */
  forget(session: Pick<SessionRef, 'project' | 'session'>): Promise<void>;
}

export function createOpenJobs({ database }: { database: Database }): OpenJobs {
  return {
    async add({ project, session, branch }, { id, number, command, startedMs, artifact }) {
      await database.write([
        {
          sql: `INSERT INTO open_jobs (id, project, session, branch, number, command, started_ms, artifact)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
          params: [id, project, session, branch ?? '', number, command, startedMs, artifact],
        },
      ]);
    },
    async of({ project, session, branch }) {
      const rows = await database.read(
        `SELECT id, number, command, started_ms, artifact, is_listed FROM open_jobs
         WHERE project = ? AND session = ? AND branch = ? ORDER BY number`,
        project,
        session,
        branch ?? '',
      );
      return rows.map((row) => ({
        id: textOf(row, 'id'),
        number: integerOf(row, 'number'),
        command: textOf(row, 'command'),
        startedMs: integerOf(row, 'started_ms'),
        artifact: textOf(row, 'artifact'),
        isListed: integerOf(row, 'is_listed') === 1,
      }));
    },
    async setListed(ids) {
      await database.write(ids.map((id) => ({ sql: 'UPDATE open_jobs SET is_listed = 1 WHERE id = ?', params: [id] })));
    },
    async remove(ids) {
      await database.write(ids.map((id) => ({ sql: 'DELETE FROM open_jobs WHERE id = ?', params: [id] })));
    },
    async forget({ project, session }) {
      const sql = 'DELETE FROM open_jobs WHERE project = ? AND session = ?';
      await database.write([{ sql, params: [project, session] }]);
    },
  };
}
