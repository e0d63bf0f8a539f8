import { createHmac } from 'node:crypto';
import { type SessionRef, sessionKey } from '../call/session.ts';
import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/log.ts';
import type { DaemonKeys } from './keys.ts';
import { bytesOf, type Database, integerOf, type Statement } from './sqlite.ts';

export interface SecretNumbersDeps {
  database: Database;
  keys: DaemonKeys;
  clock: Clock;
  logger: Logger;
  /** Days after which a number is forgotten. */
  maxAgeDays: number;
}

const DAY_MS = 86_400_000;

/**
 * Which number a secret had in a session, so that it gets the same one after the session went on or the daemon was restarted. The
 * values are kept as HMACs with a key of the session, which nothing but the daemon has. Only for values that cannot be guessed.
 */
export class SecretNumbers {
  readonly #deps: SecretNumbersDeps;
  /** By session, the numbers by hash. */
  readonly #known = new Map<string, Promise<Map<string, number>>>();

  constructor(deps: SecretNumbersDeps) {
    this.#deps = deps;
  }

  async recall(session: SessionRef, value: string): Promise<number | null> {
    const known = await this.#of(session);
    return known.get(this.#hash(session, value).toString('base64')) ?? null;
  }

  /** The number is kept in the background: losing it costs a new number. */
  async keep(session: SessionRef, value: string, number: number): Promise<void> {
    const { database, clock, logger } = this.#deps;
    const hash = this.#hash(session, value);
    (await this.#of(session)).set(hash.toString('base64'), number);
    const kept: Statement = {
      sql: 'INSERT OR REPLACE INTO secret_numbers (project, tag, hash, number, given_ms) VALUES (?, ?, ?, ?, ?)',
      params: [session.project, this.#tag(session), hash, number, clock.now()],
    };
    database.write([kept]).catch((thrown) => logger.warn('secrets.number_not_kept', { cause: String(thrown) }));
  }

  /** Forgets the numbers of a project. */
  async forget(project: string): Promise<void> {
    this.#known.clear();
    await this.#deps.database.write([{ sql: 'DELETE FROM secret_numbers WHERE project = ?', params: [project] }]);
  }

  #of(session: SessionRef): Promise<Map<string, number>> {
    const key = sessionKey(session);
    const known = this.#known.get(key) ?? this.#read(session);
    this.#known.set(key, known);
    known.catch(() => this.#known.delete(key));
    return known;
  }

  /** What is too old is removed with each first question of a session. */
  async #read(session: SessionRef): Promise<Map<string, number>> {
    const { database, clock, maxAgeDays } = this.#deps;
    const [, rows] = await database.write([
      { sql: 'DELETE FROM secret_numbers WHERE given_ms < ?', params: [clock.now() - maxAgeDays * DAY_MS] },
      { sql: 'SELECT hash, number FROM secret_numbers WHERE tag = ?', params: [this.#tag(session)] },
    ]);
    return new Map((rows ?? []).map((row) => [bytesOf(row, 'hash').toString('base64'), integerOf(row, 'number')]));
  }

  #tag(session: SessionRef): Buffer {
    return this.#deps.keys.derive('session', sessionKey(session)).subarray(0, 16);
  }

  #hash(session: SessionRef, value: string): Buffer {
    return createHmac('sha256', this.#deps.keys.derive('secret', sessionKey(session)))
      .update(value)
      .digest();
  }
}
