import { type SessionRef, sessionKey } from '../../call/session.ts';
import { createSeenCards, type SeenCards } from '../../gateway/cards/cache-stable.ts';

/** Sessions whose seen cards are kept. A session that is forgotten begins with the order of scores again. */
const SESSIONS_MAX = 256;

/** The cards that sessions have seen, of their project's present catalogue. */
export class SeenBySession {
  /** The session that was used last at the end. */
  readonly #sessions = new Map<string, { catalogue: object; seen: SeenCards }>();

  of(session: SessionRef, catalogue: object): SeenCards {
    const key = sessionKey(session);
    const known = this.#sessions.get(key);
    const current = known?.catalogue === catalogue ? known : { catalogue, seen: createSeenCards() };
    this.#sessions.delete(key);
    this.#sessions.set(key, current);
    for (const oldest of this.#sessions.keys()) if (this.#sessions.size > SESSIONS_MAX) this.#sessions.delete(oldest);
    return current.seen;
  }
}
