import { chownSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Who runs a section. Root measures itself and an ordinary user; an ordinary user only itself. */
export interface Account {
  name: string;
  /** To become before the section starts; null: stay. */
  uid: number | null;
}

/** The user `nobody`, when sudo does not tell who called. */
export const OTHER_UID = 65534;

/** `only`: "root" or "user". Empty when that cannot be had. */
export function accountsOf(only: string | undefined): Account[] {
  const own = process.getuid?.() === 0 ? 'root' : 'user';
  const all: Account[] = [{ name: own, uid: null }];
  if (own === 'root') all.push({ name: 'user', uid: Number(process.env.SUDO_UID ?? OTHER_UID) });
  return all.filter(({ name }) => only === undefined || name === only);
}

/** An empty home of its own: no program that is measured reads what the person has configured for it. */
export function homeFor(account: Account): string {
  const home = mkdtempSync(join(tmpdir(), 'ctxh-'));
  if (account.uid !== null) chownSync(home, account.uid, account.uid);
  return home;
}
