/** The session a call belongs to. Secrets, artifacts and cursors are never shared between sessions. */
export interface SessionRef {
  /** Absolute real path of the project root. */
  readonly project: string;
  /** Session id; contains no NUL. */
  readonly session: string;
  /** The branch of the session, or null for its base. */
  readonly branch: string | null;
}

/**
 * Storage and lookup key of a session: project and id, joined by a NUL, which neither can contain. Branches share the
 * key of their session, so that one numbering of secrets covers them all.
 */
export function sessionKey({ project, session }: Pick<SessionRef, 'project' | 'session'>): string {
  return `${project}\0${session}`;
}
