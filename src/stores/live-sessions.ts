import { type SessionRef, sessionKey } from '../call/session.ts';
import type { Clock } from '../core/clock.ts';
import { newShortId } from '../core/ids.ts';
import type { Logger } from '../core/log.ts';
import { type Database, integerOf, textOf } from './sqlite.ts';

/** Milliseconds without a call after which a session is over. */
export const SESSION_IDLE_MS = 24 * 60 * 60 * 1000;
/** Milliseconds between two records of a session's last call. */
const TOUCH_MS = 10 * 60 * 1000;
/** Projects whose current session is known. A caller may name any directory, so the number is bounded. */
const CURRENT_MAX = 4_096;
/** Session ids come from other programs' environments. An id of another form is ignored. */
const SESSION_ID_PATTERN = /^[\w.:@-]{1,128}$/;

/**
 * The sessions that have not ended. A call that names no session belongs to the current one of its project: two such
 * agents in one project share it (docs/sessions.md).
 */
export interface LiveSessions {
  start(): Promise<void>;
  /** The session id for a caller's hint. Without a usable hint: the project's current session, or a new one. */
  idFor(project: string, hint: string): string;
  /** Records a call of a registered project. */
  touch(session: SessionRef): void;
  /** Forgets a session. False if there was no such session. */
  remove(session: SessionRef): Promise<boolean>;
  /** Every session, or those of one project. */
  list(project?: string): readonly SessionRef[];
  /** The sessions without a call since `SESSION_IDLE_MS`. */
  idle(): readonly SessionRef[];
  /** The number of the session's next job: 1, 2 and so on, over restarts of the daemon too. */
  nextJob(session: SessionRef): Promise<number>;
}

interface Live {
  readonly session: SessionRef;
  isCurrent: boolean;
  usedMs: number;
  savedMs: number;
}

interface LiveSessionsDeps {
  database: Database;
  clock: Clock;
  logger: Logger;
  /** Called when a session has its first call, and when it is forgotten. Must not throw. */
  onChange?(change: 'started' | 'ended', session: SessionRef): void;
}

export function createLiveSessions(deps: LiveSessionsDeps): LiveSessions {
  const { database, clock, logger, onChange } = deps;
  const live = new Map<string, Live>();
  /** Ids that `idFor` made for a project. */
  const current = new Map<string, string>();

  const isUsable = (project: string, id: string): boolean => {
    const known = live.get(sessionKey({ project, session: id }));
    return known === undefined || clock.now() - known.usedMs < SESSION_IDLE_MS;
  };
  const save = ({ session: { project, session }, isCurrent, usedMs }: Live): Promise<unknown> =>
    database.write([
      {
        sql: 'UPDATE live_sessions SET is_current = 0 WHERE ?1 = 1 AND project = ?2',
        params: [isCurrent ? 1 : 0, project],
      },
      {
        sql: `INSERT INTO live_sessions (project, session, is_current, used_ms) VALUES (?1, ?2, ?3, ?4)
              ON CONFLICT (project, session) DO UPDATE SET is_current = ?3, used_ms = ?4`,
        params: [project, session, isCurrent ? 1 : 0, usedMs],
      },
    ]);

  return {
    async start() {
      const rows = await database.read('SELECT project, session, is_current, used_ms FROM live_sessions');
      for (const row of rows) {
        const session = { project: textOf(row, 'project'), session: textOf(row, 'session'), branch: null };
        const usedMs = integerOf(row, 'used_ms');
        const isCurrent = integerOf(row, 'is_current') === 1;
        live.set(sessionKey(session), { session, isCurrent, usedMs, savedMs: usedMs });
        if (isCurrent) current.set(session.project, session.session);
      }
    },

    idFor(project, hint) {
      if (SESSION_ID_PATTERN.test(hint)) return hint;
      const known = current.get(project);
      if (known !== undefined && isUsable(project, known)) return known;
      const id = `auto-${new Date(clock.now()).toISOString().slice(0, 10)}-${newShortId()}`;
      current.set(project, id);
      const [oldest] = current.keys();
      if (current.size > CURRENT_MAX && oldest !== undefined) current.delete(oldest);
      return id;
    },

    touch(ref) {
      const session = { ...ref, branch: null };
      const nowMs = clock.now();
      const isCurrent = current.get(session.project) === session.session;
      if (!live.has(sessionKey(session))) onChange?.('started', session);
      const known = live.get(sessionKey(session)) ?? { session, isCurrent, usedMs: nowMs, savedMs: 0 };
      live.set(sessionKey(session), known);
      known.usedMs = nowMs;
      if (nowMs - known.savedMs < TOUCH_MS && known.isCurrent === isCurrent) return;
      known.savedMs = nowMs;
      known.isCurrent = isCurrent;
      // A full disk does not fail the call.
      save(known).catch((cause: unknown) => logger.warn('session.not_saved', { cause: String(cause) }));
    },

    async remove({ project, session }) {
      const wasLive = live.delete(sessionKey({ project, session }));
      if (current.get(project) === session) current.delete(project);
      const sql = 'DELETE FROM live_sessions WHERE project = ? AND session = ?';
      await database.write([{ sql, params: [project, session] }]);
      if (wasLive) onChange?.('ended', { project, session, branch: null });
      return wasLive;
    },

    list: (project) =>
      [...live.values()]
        .map(({ session }) => session)
        .filter((one) => project === undefined || one.project === project),

    idle: () =>
      [...live.values()].filter(({ usedMs }) => clock.now() - usedMs >= SESSION_IDLE_MS).map(({ session }) => session),

    async nextJob({ project, session }) {
      const [rows] = await database.write([
        {
          sql: `INSERT INTO live_sessions (project, session, is_current, used_ms, last_job) VALUES (?1, ?2, 0, ?3, 1)
                ON CONFLICT (project, session) DO UPDATE SET last_job = last_job + 1 RETURNING last_job`,
          params: [project, session, clock.now()],
        },
      ]);
      return integerOf(rows?.[0] ?? {}, 'last_job');
    },
  };
}
