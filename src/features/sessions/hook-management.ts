import { type SessionRef, sessionKey } from '../../call/session.ts';
import type { Clock } from '../../core/clock.ts';
import { BUDGET_DEFAULT_TOKENS } from '../../core/limits.ts';
import type { HandedIn__Output as HandedIn } from '../../protocol/generated/management.ts';
import type { Management } from '../../protocol/management-contract.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { LiveSessions } from '../../stores/live-sessions.ts';
import type { TokenCounter } from '../../tokens/counter.ts';
import type { Checkpoints } from '../checkpoints/checkpoints.ts';
import type { StoredEventLog } from '../events/event-log.ts';
import { maskOwnWords } from '../shared/kept-text.ts';

export interface HookDeps {
  eventLog: Pick<StoredEventLog, 'append' | 'hasWork'>;
  scrubber: Pick<Scrubber, 'scrub' | 'issuedIn'>;
  liveSessions: Pick<LiveSessions, 'idFor' | 'touch'>;
  checkpoints: Pick<Checkpoints, 'save' | 'list' | 'show'>;
  counter: Pick<TokenCounter, 'count'>;
  clock: Clock;
}

/**
 * What the hooks of an agent's client hand in becomes events of its session. A compaction is preceded by a checkpoint, and a
 * answer to a start says how much of a warm start to show.
 */
export function createHookManagement(deps: HookDeps): Pick<Management, 'takeHook'> {
  const last = new LastItems();
  return {
    async takeHook({ root, session: hint, hook, cause, items }) {
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
      return { ...(await shownFor(hook, cause, session, deps)), recorded: news.length };
    },
  };
}

/** Tokens of all that the hook of a start prints. */
const START_MAX_TOKENS = BUDGET_DEFAULT_TOKENS.warm_start;

/** What the client shows its model. */
async function shownFor(
  hook: string,
  cause: string,
  session: SessionRef,
  deps: HookDeps,
): Promise<{ text: string; warm_start_tokens: number }> {
  if (hook === 'pre-compact') {
    const { id } = await deps.checkpoints.save(session, { name: '', note: '', cause: 'compaction', requestId: '' });
    const text = `Name ${id} in the summary, a checkpoint of contextd: \`checkpoint_restore ${id}\` shows what this session did.\n`;
    return { text, warm_start_tokens: 0 };
  }
  if (hook !== 'session-start') return { text: '', warm_start_tokens: 0 };
  const text = cause === 'compact' ? await compactedText(session, deps) : '';
  const hasHistory = await deps.eventLog.hasWork(session.project);
  return { text, warm_start_tokens: hasHistory ? START_MAX_TOKENS - deps.counter.count(text) : 0 };
}

/** '' if no checkpoint was saved before the compaction. */
async function compactedText(session: SessionRef, { checkpoints, scrubber }: HookDeps): Promise<string> {
  const saved = (await checkpoints.list(session)).find((head) => head.cause === 'compaction');
  if (saved === undefined) return '';
  const shown = await checkpoints.show(session.project, { id: saved.id, level: 'summary', files: 'none' });
  // It was masked when it was recorded. What became known since is masked now.
  const text = await maskOwnWords(session, shown.text, scrubber);
  return `This conversation was compacted. \`checkpoint_restore ${saved.id}\` shows what the session did. In short:\n${text}\n`;
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
