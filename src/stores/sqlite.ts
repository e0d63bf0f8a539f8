import { ContextdError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type { DatabaseRequest, DatabaseResult, Row, SqlValue, Statement } from './sqlite-messages.ts';
import { openChannel, type WorkerChannel } from './worker-channel.ts';

export type { Row, SqlValue, Statement } from './sqlite-messages.ts';

export type DatabaseState = 'new' | 'ready' | 'failed' | 'stopped';

/** The state database, owned by one thread of one daemon. */
export interface Database {
  /** Errors: CONFLICT, VERSION_MISMATCH, PATH_INVALID, STORAGE_FULL, INTERNAL_ERROR (damaged file). */
  start(): Promise<void>;
  /** Finishes what was asked before, closes the file and ends the thread. Safe to call twice. */
  stop(): Promise<void>;
  readonly state: DatabaseState;
  read(sql: string, ...params: readonly SqlValue[]): Promise<readonly Row[]>;
  /**
   * Carries out all statements or none. Resolves once they are committed, with the rows of each; writes that arrive
   * while a transaction runs share the next one. Errors: STORAGE_FULL, INTERNAL_ERROR.
   */
  write(statements: readonly Statement[]): Promise<readonly Row[][]>;
}

export interface DatabaseDeps {
  /** Absolute path; its folder exists. */
  file: string;
  logger: Logger;
  /** Called once when the thread dies; every pending call has then failed and `state` is "failed". */
  onFailure?(error: ContextdError): void;
}

export function createDatabase(deps: DatabaseDeps): Database {
  return new WorkerDatabase(deps);
}

class WorkerDatabase implements Database {
  readonly #deps: DatabaseDeps;
  #state: DatabaseState = 'new';
  #channel: WorkerChannel<DatabaseRequest, DatabaseResult> | undefined;

  constructor(deps: DatabaseDeps) {
    this.#deps = deps;
  }

  get state(): DatabaseState {
    return this.#state;
  }

  async start(): Promise<void> {
    const channel = openChannel<DatabaseRequest, DatabaseResult>({
      program: new URL('./sqlite-worker.js', import.meta.url),
      name: 'database',
      onDeath: (error) => this.#fail(error),
    });
    try {
      await channel.request({ kind: 'open', file: this.#deps.file });
    } catch (error) {
      await channel.end();
      throw error;
    }
    this.#channel = channel;
    this.#state = 'ready';
  }

  async stop(): Promise<void> {
    const channel = this.#channel;
    this.#channel = undefined;
    if (this.#state !== 'failed') this.#state = 'stopped';
    try {
      await channel?.request({ kind: 'close' });
    } catch (error) {
      this.#deps.logger.warn('database.close_failed', { message: ContextdError.from(error).message });
    }
    await channel?.end();
  }

  async read(sql: string, ...params: readonly SqlValue[]): Promise<readonly Row[]> {
    const [rows] = await this.#ready().request({ kind: 'read', statements: [{ sql, params }] });
    return rows ?? [];
  }

  async write(statements: readonly Statement[]): Promise<readonly Row[][]> {
    return await this.#ready().request({ kind: 'write', statements });
  }

  #ready(): WorkerChannel<DatabaseRequest, DatabaseResult> {
    if (this.#channel) return this.#channel;
    throw new ContextdError('INTERNAL_ERROR', `the database ${this.#deps.file} is not open (${this.#state})`, {
      remedy: 'Restart the daemon with `ctxd server restart`.',
    });
  }

  #fail(error: ContextdError): void {
    this.#state = 'failed';
    this.#deps.logger.error('database.failed', { file: this.#deps.file }, error);
    this.#deps.onFailure?.(error);
  }
}
