import { type SessionRef, sessionKey } from '../../call/session.ts';
import type { Denial, SetAside } from '../../core/envelope.ts';

/** What an answer reports besides its output. */
export interface Findings {
  readonly quarantined: readonly SetAside[];
  readonly denied: readonly Denial[];
}

/** Refusals of jobs that one session is still to be told, and that are remembered as reported. */
const DENIALS_MAX = 100;

interface SessionFindings {
  readonly waiting: Map<string, SetAside>;
  readonly reported: Set<string>;
  readonly denied: Map<string, Denial>;
  readonly reportedDenials: Set<string>;
}

export type FindingsState = readonly (readonly [string, SessionFindings])[];

/**
 * Files that jobs left and that were set aside, and what was refused to jobs. Each is reported once to the session of the
 * job: by the search after a call of the session, or by the next answer.
 */
export class JobFindings {
  readonly #sessions = new Map<string, SessionFindings>();

  /** As plain data. */
  get state(): FindingsState {
    return [...this.#sessions];
  }

  /** Takes in the findings of the daemon before. */
  restore(state: FindingsState): void {
    for (const [key, findings] of state) this.#sessions.set(key, findings);
  }

  add(session: SessionRef, found: readonly SetAside[]): void {
    if (found.length === 0) return;
    const { waiting, reported } = this.#of(session);
    for (const one of found) if (!reported.has(one.id)) waiting.set(one.id, one);
  }

  addDenied(session: SessionRef, found: readonly Denial[]): void {
    if (found.length === 0) return;
    const { denied, reportedDenials } = this.#of(session);
    for (const one of found) {
      const key = denialKey(one);
      if (denied.size < DENIALS_MAX && !reportedDenials.has(key)) denied.set(key, one);
    }
  }

  /** What the next answer of the session reports, with what the call itself found. */
  report(session: SessionRef, own: Findings): Findings {
    const known = this.#sessions.get(sessionKey(session));
    if (known === undefined) return { quarantined: own.quarantined, denied: own.denied };
    for (const { id } of own.quarantined) known.waiting.delete(id);
    for (const one of own.denied) known.denied.delete(denialKey(one));
    const quarantined = [...own.quarantined, ...known.waiting.values()];
    const denied = [...own.denied, ...known.denied.values()];
    if (known.reportedDenials.size > DENIALS_MAX) known.reportedDenials.clear();
    for (const key of known.denied.keys()) known.reportedDenials.add(key);
    known.waiting.clear();
    known.denied.clear();
    for (const { id } of quarantined) known.reported.add(id);
    return { quarantined, denied };
  }

  forget(session: SessionRef): void {
    this.#sessions.delete(sessionKey(session));
  }

  #of(session: SessionRef): SessionFindings {
    const key = sessionKey(session);
    const known = this.#sessions.get(key) ?? {
      waiting: new Map(),
      reported: new Set(),
      denied: new Map(),
      reportedDenials: new Set(),
    };
    this.#sessions.set(key, known);
    return known;
  }
}

function denialKey({ kind, path, host, port }: Denial): string {
  return JSON.stringify([kind, path, host, port]);
}
