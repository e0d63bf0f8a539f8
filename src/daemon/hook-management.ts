import type { HandedIn, Management } from '../call/management.ts';
import { type SessionRef, sessionKey } from '../call/session.ts';
import type { Clock } from '../core/clock.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import type { Checkpoints } from '../session/checkpoints/checkpoints.ts';
import type { EventLog } from '../session/events/event-log.ts';
import type { LiveSessions } from '../stores/live-sessions.ts';
import type { ProjectStore } from '../stores/projects.ts';
import { requireProject } from './approval-management.ts';
import { maskOwnWords } from './kept-text.ts';

export interface HookDeps {
  eventLog: Pick<EventLog, 'append'>;
  scrubber: Pick<Scrubber, 'scrub' | 'issuedIn'>;
  liveSessions: Pick<LiveSessions, 'idFor' | 'touch'>;
  projects: ProjectStore;
  checkpoints: Pick<Checkpoints, 'save' | 'list' | 'show'>;
  clock: Clock;
}

/** What the hooks of an agent's client hand in becomes events of its session, and a compaction is preceded by a checkpoint. */
export function createHookManagement(deps: HookDeps): Pick<Management, 'takeHook'> {
  const last = new LastItems();
  return {
    async takeHook({ root, session: hint, hook, cause, items }) {
      await requireProject(root, deps.projects);
      const session: SessionRef = { project: root, session: deps.liveSessions.idFor(root, hint), branch: null };
      deps.liveSessions.touch(session);
      const handedIn = items.map(({ role, text }) => ({ role, text }));
      const masked = await maskOwnWords(session, handedIn, deps.scrubber);
      const news = masked.filter((item) => last.isNew(session, item));
      const at = deps.clock.now();
      for (const { role, text } of news) {
        const event = { session, at, sensitivity: 'internal', text, facts: { role }, artifact: null } as const;
        deps.eventLog.append({ kind: 'message', ...event });
      }
      return { text: await textFor(hook, cause, session, deps), recorded: news.length };
    },
  };
}

/** What the client shows its model. */
async function textFor(hook: string, cause: string, session: SessionRef, { checkpoints }: HookDeps): Promise<string> {
  if (hook === 'pre-compact') {
    const { id } = await checkpoints.save(session, { name: '', note: '', cause: 'compaction', requestId: '' });
    return `Name ${id} in the summary, a checkpoint of contextd: \`checkpoint_restore ${id}\` shows what this session did.`;
  }
  if (hook !== 'session-start' || cause !== 'compact') return '';
  const saved = (await checkpoints.list(session)).find((head) => head.cause === 'compaction');
  if (saved === undefined) return '';
  const { text } = await checkpoints.show(session.project, saved.id, 'summary');
  return `This conversation was compacted. \`checkpoint_restore ${saved.id}\` shows what the session did. In short:\n${text}`;
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
