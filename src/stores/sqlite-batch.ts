import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ContextdError } from '../core/errors.ts';
import { fromDatabaseFault } from './sqlite-errors.ts';
import type { DatabaseResult, Envelope, Fault, Reply, Row, Statement } from './sqlite-messages.ts';

export type Work = Envelope<{ kind: 'read' | 'write'; statements: readonly Statement[] }>;

/** Runs what has queued up as one transaction: a reply exists only once its transaction is committed. */
export class BatchRunner {
  readonly #database: DatabaseSync;
  readonly #file: string;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(database: DatabaseSync, file: string) {
    this.#database = database;
    this.#file = file;
  }

  run(batch: readonly Work[]): Reply<DatabaseResult>[] {
    try {
      if (!batch.some((work) => work.body.kind === 'write')) return batch.map((work) => this.#answer(work));
      this.#database.exec('BEGIN IMMEDIATE');
      const replies = batch.map((work) => this.#answer(work));
      this.#database.exec('COMMIT');
      return replies;
    } catch (thrown) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      const fault = toFault(fromDatabaseFault(thrown, this.#file));
      return batch.map(({ id }) => ({ id, fault }));
    }
  }

  /** One request. Its fault stays its own, unless SQLite gave up the whole transaction: then it is everyone's. */
  #answer({ id, body }: Work): Reply<DatabaseResult> {
    const atomic = body.kind === 'write' && body.statements.length > 1;
    const inTransaction = this.#database.isTransaction;
    try {
      if (atomic) this.#database.exec('SAVEPOINT request');
      const result = body.statements.map((statement) => this.#execute(statement));
      if (atomic) this.#database.exec('RELEASE request');
      return { id, result };
    } catch (thrown) {
      if (inTransaction && !this.#database.isTransaction) throw thrown;
      if (atomic) this.#database.exec('ROLLBACK TO request; RELEASE request');
      return { id, fault: toFault(fromDatabaseFault(thrown, this.#file)) };
    }
  }

  #execute({ sql, params }: Statement): Row[] {
    let prepared = this.#prepared.get(sql);
    if (prepared === undefined) {
      prepared = this.#database.prepare(sql);
      this.#prepared.set(sql, prepared);
    }
    return prepared.all(...params);
  }
}

export function toFault(error: ContextdError): Fault {
  const cause = error.cause instanceof Error ? error.cause.message : undefined;
  return { code: error.code, message: error.message, remedy: error.remedy, cause };
}
