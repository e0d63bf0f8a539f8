import { basename } from 'node:path';
import { Worker } from 'node:worker_threads';
import { ContextdError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type {
  DatabaseFile,
  DatabaseRequest,
  DatabaseResult,
  Fault,
  Reply,
  Row,
  SqlValue,
  Statement,
} from './sqlite-engine.ts';

export type { Row, Statement } from './sqlite-engine.ts';

type DatabaseState = 'new' | 'ready' | 'failed' | 'stopped';

/** One SQLite file, owned by one thread of one daemon. */
export interface Database {
  /** Errors: CONFLICT, VERSION_MISMATCH, PATH_INVALID, STORAGE_FULL, INTERNAL_ERROR (damaged file). */
  start(): Promise<void>;
  /** Finishes the requests made before, closes the file and ends the thread. Safe to call twice. */
  stop(): Promise<void>;
  readonly state: DatabaseState;
  read(sql: string, ...params: readonly SqlValue[]): Promise<readonly Row[]>;
  /**
   * Carries out all statements or none. Resolves with the rows of each statement once they are committed. Writes that
   * arrive while a transaction runs share the next one. Errors: STORAGE_FULL, INTERNAL_ERROR.
   */
  write(statements: readonly Statement[]): Promise<readonly Row[][]>;
}

export interface DatabaseDeps extends DatabaseFile {
  logger: Logger;
  /** The compiled program of the thread, if it has functions of its own. Default: plain SQLite. */
  program?: URL;
  /** Called once if the thread dies. Every pending call has failed by then, and `state` is "failed". */
  onFailure?(error: ContextdError): void;
}

/** A database with a file, a schema and a thread of its own. A daemon may have several. */
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
      program: this.#deps.program ?? new URL('./sqlite-worker.js', import.meta.url),
      name: `database ${basename(this.#deps.file)}`,
      onDeath: (error) => this.#fail(error),
    });
    try {
      const { file, migrations, durable = false } = this.#deps;
      await channel.request({ kind: 'open', file, migrations, durable });
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

/** Requests to one worker thread. When the thread dies, every pending request fails at once for the same reason. */
interface WorkerChannel<Body, Result> {
  request(body: Body): Promise<Result>;
  /** Ends the thread and waits until it is gone. Safe to call twice. */
  end(): Promise<void>;
}

interface ChannelDeps {
  /** The compiled program of the worker. It receives `{id, body}` and posts arrays of replies. */
  program: URL;
  /** Names the thread in messages. */
  name: string;
  /** Called once if the thread dies without `end()`. */
  onDeath(error: ContextdError): void;
}

interface Pending<Result> {
  resolve(result: Result): void;
  reject(error: ContextdError): void;
}

function openChannel<Body, Result>(deps: ChannelDeps): WorkerChannel<Body, Result> {
  return new Channel<Body, Result>(deps);
}

class Channel<Body, Result> implements WorkerChannel<Body, Result> {
  readonly #deps: ChannelDeps;
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending<Result>>();
  readonly #gone: Promise<void>;
  #lastId = 0;
  #ending = false;
  #dead: ContextdError | undefined;

  constructor(deps: ChannelDeps) {
    this.#deps = deps;
    this.#worker = new Worker(deps.program, { name: deps.name });
    this.#worker.on('message', (replies: readonly Reply<Result>[]) => this.#settle(replies));
    this.#worker.on('error', (error) => this.#die(error));
    this.#gone = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        this.#die(new Error(`exit code ${code}`));
        resolve();
      });
    });
  }

  request(body: Body): Promise<Result> {
    if (this.#dead) return Promise.reject(this.#dead);
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#worker.postMessage({ id, body });
      this.#pending.set(id, { resolve, reject });
    });
  }

  async end(): Promise<void> {
    this.#ending = true;
    await this.#worker.terminate();
    await this.#gone;
  }

  #settle(replies: readonly Reply<Result>[]): void {
    for (const reply of replies) {
      const pending = this.#pending.get(reply.id);
      this.#pending.delete(reply.id);
      if ('fault' in reply) pending?.reject(toError(reply.fault));
      else pending?.resolve(reply.result);
    }
  }

  #die(cause: unknown): void {
    if (this.#dead) return;
    this.#dead = new ContextdError('INTERNAL_ERROR', `the ${this.#deps.name} thread has ended`, {
      remedy: 'Restart the daemon with `ctxd server restart`.',
      cause,
    });
    for (const pending of this.#pending.values()) pending.reject(this.#dead);
    this.#pending.clear();
    if (!this.#ending) this.#deps.onDeath(this.#dead);
  }
}

function toError(fault: Fault): ContextdError {
  return new ContextdError(fault.code, fault.message, {
    ...(fault.remedy === undefined ? {} : { remedy: fault.remedy }),
    cause: fault.cause,
  });
}

/** Readers of one column. INTERNAL_ERROR if the column has another type. */
export function textOf(row: Row, column: string): string {
  const value = row[column];
  return typeof value === 'string' ? value : wrongType(column, 'text');
}

export function integerOf(row: Row, column: string): number {
  const value = row[column];
  return typeof value === 'number' ? value : wrongType(column, 'an integer');
}

export function bytesOf(row: Row, column: string): Buffer {
  const value = row[column];
  return value instanceof Uint8Array
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    : wrongType(column, 'bytes');
}

function wrongType(column: string, expected: string): never {
  throw new ContextdError('INTERNAL_ERROR', `column ${column} of the database is not ${expected}`, {
    remedy: 'Run `ctxd doctor`.',
  });
}
