import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import type { Sandbox } from '../../sandbox/contract/sandbox.ts';
import type { LiveSessions } from '../../stores/live-sessions.ts';
import type { SessionStateHolder } from '../sessions/session-end.ts';
import type { Chore } from '../shared/chores.ts';

/** Removes HOME and /tmp of a session that ends. */
export function storageHolder(sandbox: Pick<Sandbox, 'storage'>): SessionStateHolder {
  return {
    name: 'storage',
    async endSession({ project, session }) {
      await sandbox.storage({ do: 'end_session', project, session });
    },
  };
}

interface StorageChoreDeps {
  sandbox: Pick<Sandbox, 'storage'>;
  liveSessions: Pick<LiveSessions, 'list'>;
  /** MCP servers keep their HOME as long as they are added. */
  upstreams: { homes(): readonly { readonly project: string; readonly session: string }[] };
  clock: Clock;
  config: Pick<Config['sandbox'], 'cache_max_age_days'>;
}

const SWEEP_EVERY_MS = 10 * 60 * 1000;
/** Milliseconds for which a session without a record is kept: its first call is just being recorded. */
const UNRECORDED_MS = 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Removes HOME and /tmp of sessions that ended while nobody removed them, for example because the daemon was killed, and
 * the caches of projects that nobody works on. Trims the caches of the others.
 */
export function storageChore({ sandbox, liveSessions, upstreams, clock, config }: StorageChoreDeps): Chore {
  return {
    name: 'sweep storage',
    everyMs: SWEEP_EVERY_MS,
    run: () =>
      sandbox.storage({
        do: 'sweep',
        live: [...liveSessions.list().map(({ project, session }) => ({ project, session })), ...upstreams.homes()],
        sessionsBeforeMs: clock.now() - UNRECORDED_MS,
        cachesBeforeMs: clock.now() - config.cache_max_age_days * DAY_MS,
      }),
  };
}
