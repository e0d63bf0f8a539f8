import { userInfo } from 'node:os';
import { ContextdError, isErrno } from '../../core/errors.ts';

/** A user whose rights root can take, with the main group of the account and no other. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Runs synchronous work with the rights of a user, if root runs this process: files and directories are made by this user, and
 * a link that the user placed leads only where the user may go. The whole process has these rights until `work` returns, so
 * `work` must not return a promise. For anyone but root, it runs as it is. Throws PERMISSION_DENIED if root may not
 * change its user, as in a container without capabilities.
 */
export function actAs<T>(user: User, work: () => T): T {
  if (!isRoot() || user.uid === 0) return work();
  const groups = process.getgroups?.() ?? [];
  const gid = process.getegid?.() ?? 0;
  try {
    become(user);
    return work();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(gid);
    process.setgroups?.(groups);
  }
}

export function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

/**
 * The user of a uid. A uid without an account gets the group of the same number. The group of a directory is not taken: root
 * may have given the directory a group to which its owner does not belong.
 */
export function userOf(uid: number): User {
  const withoutAccount = { uid, gid: uid };
  if (!isRoot() || uid === 0) return withoutAccount;
  // The account of the effective user is the only one that Node can look up.
  return actAs(withoutAccount, () => {
    try {
      return { uid, gid: userInfo().gid };
    } catch {
      return withoutAccount;
    }
  });
}

function become({ uid, gid }: User): void {
  try {
    process.setgroups?.([]);
    process.setegid?.(gid);
    process.seteuid?.(uid);
  } catch (cause) {
    if (!isErrno(cause)) throw cause;
    throw new ContextdError('PERMISSION_DENIED', `root cannot act as uid ${uid} here (${cause.code})`, {
      remedy: `The directory belongs to uid ${uid}: run the command as this user.`,
      cause,
    });
  }
}
