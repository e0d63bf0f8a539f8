import { parseSessionKey } from '../call/session.ts';
import type { Clock } from '../core/clock.ts';
import type { DaemonKeys } from './keys.ts';
import { type Database, integerOf } from './sqlite.ts';

/**
 * Secret numbers are reserved in the database before they are used: a few at first, then more at a time. A restart skips
 * the rest of a block (at most 63 numbers), so a number is never used twice.
 */
const FIRST_BLOCK = 8;
const NEXT_BLOCK = 64;

/** What a session keeps over a restart of the daemon. */
export interface SessionStore {
  /** The next secret number of the session, from 1. A promise only if numbers must be reserved first. */
  next(sessionKey: string): number | Promise<number>;
  /** The HMAC key of a session's etags: 64 hex digits, the same after a restart. */
  etagKey(sessionKey: string): string;
  /** The HMAC key of a session's cursors: 32 bytes, the same after a restart. */
  cursorKey(sessionKey: string): Buffer;
}

export interface SessionDeps {
  database: Database;
  keys: DaemonKeys;
  clock: Clock;
}

interface Block {
  next: number;
  /** The first number that is not reserved. */
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

  next(sessionKey: string): number | Promise<number> {
    return this.#take(sessionKey) ?? this.#reserveAndTake(sessionKey);
  }

  etagKey(sessionKey: string): string {
    return this.#deps.keys.derive('etag', sessionKey).toString('hex');
  }

  cursorKey(sessionKey: string): Buffer {
    return this.#deps.keys.derive('cursor', sessionKey);
  }

  #take(sessionKey: string): number | undefined {
    const block = this.#blocks.get(sessionKey);
    return block && block.next < block.end ? block.next++ : undefined;
  }

  async #reserveAndTake(sessionKey: string): Promise<number> {
    for (;;) {
      const number = this.#take(sessionKey);
      if (number !== undefined) return number;
      await this.#reserveOnce(sessionKey);
    }
  }

  #reserveOnce(sessionKey: string): Promise<void> {
    const running = this.#reserving.get(sessionKey);
    if (running) return running;
    const reserving = this.#reserve(sessionKey).finally(() => this.#reserving.delete(sessionKey));
    this.#reserving.set(sessionKey, reserving);
    return reserving;
  }

  async #reserve(sessionKey: string): Promise<void> {
    const size = this.#blocks.has(sessionKey) ? NEXT_BLOCK : FIRST_BLOCK;
    const { project, session } = parseSessionKey(sessionKey);
    const tag = this.#deps.keys.derive('session', sessionKey).subarray(0, 16);
    const [rows] = await this.#deps.database.write([
      {
        sql: `INSERT INTO sessions (tag, project, session, next_secret, created_ms) VALUES (?1, ?2, ?3, 1 + ?4, ?5)
              ON CONFLICT (tag) DO UPDATE SET next_secret = next_secret + ?4 RETURNING next_secret`,
        params: [tag, project, session, size, this.#deps.clock.now()],
      },
    ]);
    const end = integerOf(rows?.[0] ?? {}, 'next_secret');
    this.#blocks.set(sessionKey, { next: end - size, end });
  }
}
