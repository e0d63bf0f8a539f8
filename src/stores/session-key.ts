/** A session key is `${projectRoot}\0${sessionId}`: neither half can hold a NUL. */
export function splitSessionKey(sessionKey: string): { project: string; session: string } {
  const at = sessionKey.indexOf('\0');
  if (at === -1) return { project: '', session: sessionKey };
  return { project: sessionKey.slice(0, at), session: sessionKey.slice(at + 1) };
}
