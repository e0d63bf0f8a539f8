import { chownSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The user who runs a section. Root runs each section as root and as an ordinary user; an ordinary user only as itself.
 */
export interface Account {
  name: string;
  /** The uid that the section's process switches to; null: it keeps its own. */
  uid: number | null;
}

/** The user `nobody`, used if sudo does not report who called. */
export const OTHER_UID = 65534;

/** `only`: "root" or "user". Returns an empty list if this user cannot run as that account. */
export function accountsOf(only: string | undefined): Account[] {
  const own = process.getuid?.() === 0 ? 'root' : 'user';
  const all: Account[] = [{ name: own, uid: null }];
  if (own === 'root') all.push({ name: 'user', uid: Number(process.env.SUDO_UID ?? OTHER_UID) });
  return all.filter(({ name }) => only === undefined || name === only);
}

/** Makes an empty home, so that no measured program reads its user's configuration. */
export function homeFor(account: Account): string {
  const home = mkdtempSync(join(tmpdir(), 'ctxh-'));
  if (account.uid !== null) chownSync(home, account.uid, account.uid);
  return home;
}
