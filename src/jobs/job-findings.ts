import { type SessionRef, sessionKey } from '../call/session.ts';
import type { SetAside } from '../core/envelope.ts';

/**
 * Files that jobs left and that were set aside. Each is reported once to the session of the job: by the search after a
 * call of the session, or by the next answer.
 */
export class JobFindings {
  readonly #sessions = new Map<string, { waiting: Map<string, SetAside>; reported: Set<string> }>();

  add(session: SessionRef, found: readonly SetAside[]): void {
    if (found.length === 0) return;
    const key = sessionKey(session);
    const known = this.#sessions.get(key) ?? { waiting: new Map(), reported: new Set() };
    this.#sessions.set(key, known);
    for (const one of found) if (!known.reported.has(one.id)) known.waiting.set(one.id, one);
  }

  /** What the next answer of the session reports, with what the call itself found. */
  report(session: SessionRef, own: readonly SetAside[]): readonly SetAside[] {
    const known = this.#sessions.get(sessionKey(session));
    if (known === undefined) return own;
    for (const { id } of own) known.waiting.delete(id);
    const all = [...own, ...known.waiting.values()];
    known.waiting.clear();
    for (const { id } of all) known.reported.add(id);
    return all;
  }

  forget(session: SessionRef): void {
    this.#sessions.delete(sessionKey(session));
  }
}
