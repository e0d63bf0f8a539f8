import { basename } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Channel } from '../core/channel.ts';
import { ContextdError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { ownProgram } from '../core/own-program.ts';
import { unpackError } from '../core/wire-error.ts';
import type {
  DatabaseFile,
  DatabaseRequest,
  DatabaseResult,
  Envelope,
  Reply,
  Row,
  SqlValue,
  Statement,
} from './sqlite-engine.ts';
import { damagedDatabase } from './sqlite-engine.ts';

export type { Row, Statement } from './sqlite-engine.ts';

type DatabaseState = 'new' | 'ready' | 'failed' | 'stopped';

/** One SQLite file, owned by one thread of one daemon. */
export interface Database {
  /** Errors: CONFLICT, VERSION_MISMATCH, PATH_INVALID, STORAGE_FULL, INTERNAL_ERROR (damaged file). */
  start(): Promise<void>;
  /** Finishes earlier requests, closes the file and ends the thread. Idempotent. */
  stop(): Promise<void>;
  readonly state: DatabaseState;
  read(sql: string, ...params: readonly SqlValue[]): Promise<readonly Row[]>;
  /**
   * Executes all statements or none. Resolves with the rows of each statement once they are committed. Writes that
   * arrive while a transaction runs share the next one. Errors: STORAGE_FULL, INTERNAL_ERROR.
   */
  write(statements: readonly Statement[]): Promise<readonly Row[][]>;
  /** Writes a whole copy to a new file, 0600, while reads and writes go on. Errors: STORAGE_FULL, PATH_INVALID. */
  copyTo(file: string): Promise<void>;
  /** Reads every page. Throws INTERNAL_ERROR with a remedy if one is damaged. */
  check(): Promise<void>;
}

export interface DatabaseDeps extends DatabaseFile {
  logger: Logger;
  /** The compiled program of the thread, if it has its own functions. Default: plain SQLite. */
  program?: URL;
  /** Where the file is served. Default: a worker thread that runs `program`. */
  connect?(program: URL, name: string): DatabaseConnection;
  /** Called once if the thread dies. By then every pending call has failed and `state` is "failed". */
  onFailure?(error: ContextdError): void;
}

/** The connection to the thread that owns the file. It takes `{id, body}` and gives arrays of replies. */
export interface DatabaseConnection {
  send(request: Envelope<DatabaseRequest>): void;
  onReplies(settle: (replies: readonly Reply<DatabaseResult>[]) => void): void;
  /** Called when the thread has failed or ended; more than once if it does both. */
  onEnd(die: (cause: unknown) => void): void;
  /** Ends the thread and waits until it is gone. Idempotent. */
  end(): Promise<void>;
}

/** Creates a database with its own file, schema and thread. A daemon may have several. */
export function createDatabase(deps: DatabaseDeps): Database {
  return new WorkerDatabase(deps);
}

class WorkerDatabase implements Database {
  readonly #deps: DatabaseDeps;
  #state: DatabaseState = 'new';
  #thread: DatabaseThread | undefined;

  constructor(deps: DatabaseDeps) {
    this.#deps = deps;
  }

  get state(): DatabaseState {
    return this.#state;
  }

  async start(): Promise<void> {
    const { program = ownProgram(new URL('./sqlite-thread/main.js', import.meta.url)), connect = startThread } =
      this.#deps;
    const name = `database ${basename(this.#deps.file)}`;
    const connection = connect(program, name);
    const thread = new DatabaseThread({ connection, name, onDeath: (error) => this.#fail(error) });
    try {
      const { file, migrations, durable = false } = this.#deps;
      await thread.request({ kind: 'open', file, migrations, durable });
    } catch (error) {
      await thread.end();
      throw error;
    }
    this.#thread = thread;
    this.#state = 'ready';
  }

  async stop(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    if (this.#state !== 'failed') this.#state = 'stopped';
    try {
      await thread?.request({ kind: 'close' });
    } catch (error) {
      this.#deps.logger.warn('database.close_failed', { message: ContextdError.from(error).message });
    }
    await thread?.end();
  }

  async read(sql: string, ...params: readonly SqlValue[]): Promise<readonly Row[]> {
    const [rows] = await this.#ready().request({ kind: 'read', statements: [{ sql, params }] });
    return rows ?? [];
  }

  async write(statements: readonly Statement[]): Promise<readonly Row[][]> {
    return await this.#ready().request({ kind: 'write', statements });
  }

  async copyTo(file: string): Promise<void> {
    await this.#ready().request({ kind: 'copy', to: file });
  }

  async check(): Promise<void> {
    const [finding] = await this.read('PRAGMA quick_check(1)');
    if (finding?.quick_check !== 'ok') throw damagedDatabase(this.#deps.file, finding?.quick_check);
  }

  #ready(): DatabaseThread {
    if (this.#thread) return this.#thread;
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

function startThread(program: URL, name: string): DatabaseConnection {
  const worker = new Worker(program, { name });
  const gone = new Promise((resolve) => worker.once('exit', resolve));
  return {
    send: (request) => worker.postMessage(request),
    onReplies: (settle) => void worker.on('message', settle),
    onEnd(die) {
      worker.on('error', die);
      worker.once('exit', (code) => die(new Error(`exit code ${code}`)));
    },
    async end() {
      await worker.terminate();
      await gone;
    },
  };
}

interface ThreadDeps {
  connection: DatabaseConnection;
  /** The thread's name in messages. */
  name: string;
  /** Called once if the thread dies without `end()`. */
  onDeath(error: ContextdError): void;
}

/** The thread of one database. If it dies, every pending request fails at once with the same reason. */
class DatabaseThread {
  readonly #deps: ThreadDeps;
  readonly #channel: Channel<DatabaseRequest, DatabaseResult>;
  #ending = false;

  constructor(deps: ThreadDeps) {
    this.#deps = deps;
    this.#channel = new Channel((id, body) => deps.connection.send({ id, body }));
    deps.connection.onReplies((replies) => this.#settle(replies));
    deps.connection.onEnd((cause) => this.#die(cause));
  }

  request(body: DatabaseRequest): Promise<DatabaseResult> {
    return this.#channel.ask(body);
  }

  /** Ends the thread and waits until it is gone. Idempotent. */
  async end(): Promise<void> {
    this.#ending = true;
    await this.#deps.connection.end();
  }

  #settle(replies: readonly Reply<DatabaseResult>[]): void {
    for (const reply of replies) {
      if ('fault' in reply) this.#channel.reject(reply.id, unpackError(reply.fault));
      else this.#channel.resolve(reply.id, reply.result);
    }
  }

  #die(cause: unknown): void {
    if (this.#channel.isClosed) return;
    const reason = new ContextdError('INTERNAL_ERROR', `the ${this.#deps.name} thread has ended`, {
      remedy: 'Restart the daemon with `ctxd server restart`.',
      cause,
    });
    this.#channel.close(reason);
    if (!this.#ending) this.#deps.onDeath(reason);
  }
}

/** Readers of one column. Throws INTERNAL_ERROR if the column has another type. */
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
