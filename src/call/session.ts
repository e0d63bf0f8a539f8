/** The session a call belongs to. Secrets, artifacts and cursors are never shared between sessions. */
export interface SessionRef {
  /** Absolute real path of the project root. */
  readonly project: string;
  /** The session's id; it holds no NUL. */
  readonly session: string;
  /** The branch of the session, or null for its base. */
  readonly branch: string | null;
}

/**
 * The text a session is stored and looked up under: project and id, joined by a NUL, which neither can contain. Branches
 * of a session share it, so that one numbering of secrets covers them all.
 */
export function sessionKey({ project, session }: Pick<SessionRef, 'project' | 'session'>): string {
  return `${project}\0${session}`;
}
