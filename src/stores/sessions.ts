import { type SessionRef, sessionKey } from '../call/session.ts';
import type { Clock } from '../core/clock.ts';
import type { DaemonKeys } from './keys.ts';
import { type Database, integerOf } from './sqlite.ts';

/**
 * Secret numbers are reserved in the database before they are used: a small block first, then larger ones. A restart
 * skips the rest of a block (at most 63 numbers), so a number is never used twice.
 */
const FIRST_BLOCK = 8;
const NEXT_BLOCK = 64;

/** Session state that survives a restart of the daemon. */
export interface SessionStore {
  /** The next secret number of the session, from 1. A promise only if numbers must be reserved first. */
  next(session: SessionRef): number | Promise<number>;
  /**
   * Upper bound of the secret numbers given out in the session; 0: none. After a restart it may be up to 63 too high.
   */
  last(session: SessionRef): number | Promise<number>;
  /** HMAC key of a session's etags: 64 hex digits, the same after a restart. */
  etagKey(session: SessionRef): string;
  /** HMAC key of a session's cursors: 32 bytes, the same after a restart. */
  cursorKey(session: SessionRef): Buffer;
}

export interface SessionDeps {
  database: Database;
  keys: DaemonKeys;
  clock: Clock;
}

interface Block {
  next: number;
  /** The first unreserved number. */
  end: number;
}

export function createSessionStore(deps: SessionDeps): SessionStore {
  return new Sessions(deps);
}

class Sessions implements SessionStore {
  readonly #deps: SessionDeps;
  readonly #blocks = new Map<string, Block>();
  readonly #reserving = new Map<string, Promise<void>>();

  constructor(deps: SessionDeps) {
    this.#deps = deps;
  }

  next(session: SessionRef): number | Promise<number> {
    return this.#take(session) ?? this.#reserveAndTake(session);
  }

  last(session: SessionRef): number | Promise<number> {
    const block = this.#blocks.get(sessionKey(session));
    return block === undefined ? this.#lastReserved(session) : block.next - 1;
  }

  etagKey(session: SessionRef): string {
    return this.#deps.keys.derive('etag', sessionKey(session)).toString('hex');
  }

  cursorKey(session: SessionRef): Buffer {
    return this.#deps.keys.derive('cursor', sessionKey(session));
  }

  #take(session: SessionRef): number | undefined {
    const block = this.#blocks.get(sessionKey(session));
    return block && block.next < block.end ? block.next++ : undefined;
  }

  async #reserveAndTake(session: SessionRef): Promise<number> {
    for (;;) {
      const number = this.#take(session);
      if (number !== undefined) return number;
      await this.#reserveOnce(session);
    }
  }

  #reserveOnce(session: SessionRef): Promise<void> {
    const running = this.#reserving.get(sessionKey(session));
    if (running) return running;
    const reserving = this.#reserve(session).finally(() => this.#reserving.delete(sessionKey(session)));
    this.#reserving.set(sessionKey(session), reserving);
    return reserving;
  }

  async #lastReserved(session: SessionRef): Promise<number> {
    const [row] = await this.#deps.database.read('SELECT next_secret FROM sessions WHERE tag = ?', this.#tag(session));
    return row === undefined ? 0 : integerOf(row, 'next_secret') - 1;
  }

  #tag(session: SessionRef): Buffer {
    return this.#deps.keys.derive('session', sessionKey(session)).subarray(0, 16);
  }

  async #reserve(session: SessionRef): Promise<void> {
    const size = this.#blocks.has(sessionKey(session)) ? NEXT_BLOCK : FIRST_BLOCK;
    const { project, session: id } = session;
    const [rows] = await this.#deps.database.write([
      {
        sql: `INSERT INTO sessions (tag, project, session, next_secret, created_ms) VALUES (?1, ?2, ?3, 1 + ?4, ?5)
              ON CONFLICT (tag) DO UPDATE SET next_secret = next_secret + ?4 RETURNING next_secret`,
        params: [this.#tag(session), project, id, size, this.#deps.clock.now()],
      },
    ]);
    const end = integerOf(rows?.[0] ?? {}, 'next_secret');
    this.#blocks.set(sessionKey(session), { next: end - size, end });
  }
}
