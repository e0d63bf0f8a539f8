import type { HandedIn, Management } from '../call/management.ts';
import { type SessionRef, sessionKey } from '../call/session.ts';
import type { Clock } from '../core/clock.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import type { EventLog } from '../session/events/event-log.ts';
import type { LiveSessions } from '../stores/live-sessions.ts';
import type { ProjectStore } from '../stores/projects.ts';
import { requireProject } from './approval-management.ts';

export interface HookDeps {
  eventLog: Pick<EventLog, 'append'>;
  scrubber: Pick<Scrubber, 'scrub'>;
  liveSessions: Pick<LiveSessions, 'idFor' | 'touch'>;
  projects: ProjectStore;
  clock: Clock;
}

/** What the hooks of an agent's client hand in becomes events of its session. */
export function createHookManagement(deps: HookDeps): Pick<Management, 'takeHook'> {
  const last = new LastItems();
  return {
    async takeHook({ root, session: hint, items }) {
      await requireProject(root, deps.projects);
      const session: SessionRef = { project: root, session: deps.liveSessions.idFor(root, hint), branch: null };
      deps.liveSessions.touch(session);
      const { value: masked } = await deps.scrubber.scrub(
        session,
        items.map(({ role, text }) => ({ role, text })),
      );
      const news = masked.filter((item) => last.isNew(session, item));
      const at = deps.clock.now();
      for (const { role, text } of news) {
        const facts = { role };
        deps.eventLog.append({
          ...{ session, kind: 'message', at, sensitivity: 'internal' },
          text,
          facts,
          artifact: null,
        });
      }
      return { text: '', recorded: news.length };
    },
  };
}

/** Sessions whose last items are remembered. */
const SESSIONS_MAX = 1_000;

/** Two hooks may hand in the same message. Of a session the last item of each role is known. */
class LastItems {
  readonly #bySession = new Map<string, Map<string, string>>();

  isNew(session: SessionRef, { role, text }: HandedIn): boolean {
    const key = sessionKey(session);
    const items = this.#bySession.get(key) ?? new Map<string, string>();
    this.#bySession.delete(key);
    this.#bySession.set(key, items);
    const [oldest] = this.#bySession.keys();
    if (this.#bySession.size > SESSIONS_MAX && oldest !== undefined) this.#bySession.delete(oldest);
    if (items.get(role) === text) return false;
    items.set(role, text);
    return true;
  }
}
