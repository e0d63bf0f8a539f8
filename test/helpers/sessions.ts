import type { SessionRef } from '#src/call/session.js';

/** A session of the project `/home/me/project`, on its base. */
export function sessionNamed(session: string): SessionRef {
  return { project: '/home/me/project', session, branch: null };
}
