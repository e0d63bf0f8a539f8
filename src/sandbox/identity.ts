import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Paths } from '../config/paths.ts';
import { ContextdError } from '../core/errors.ts';
import type { Person } from './workspace/targets.ts';

/**
 * Who runs inside, as the host sees it (design §5). `self`: the daemon's own user, who is not root. `owner`: the daemon
 * is root and becomes the workspace's owner first. `root`: root owns the workspace, so the outer uid stays 0, without
 * capabilities, with /proc/sys read-only and in a pids cgroup, because the kernel does not count processes of uid 0.
 */
export type Identity =
  | { readonly kind: 'self' | 'root' }
  | { readonly kind: 'owner'; readonly uid: number; readonly gid: number };

/** The identity for a workspace. Throws PATH_NOT_FOUND if it is not a directory. */
export function identityFor(workspace: string, daemonUid: number): Identity {
  const owner = statSync(workspace, { throwIfNoEntry: false });
  if (!owner?.isDirectory()) {
    throw new ContextdError('PATH_NOT_FOUND', `the workspace ${workspace} is not a directory`, {
      remedy: 'Create it, or register another with `ctxd init`.',
    });
  }
  return chooseIdentity(daemonUid, owner.uid, owner.gid, readFileSync('/etc/passwd', 'utf8'));
}

/** The pure part; `passwd` is the text of /etc/passwd, from which the owner's group is taken. */
export function chooseIdentity(daemonUid: number, ownerUid: number, ownerGid: number, passwd: string): Identity {
  if (daemonUid !== 0) return { kind: 'self' };
  if (ownerUid === 0) return { kind: 'root' };
  return { kind: 'owner', uid: ownerUid, gid: primaryGroup(ownerUid, passwd) ?? (ownerGid === 0 ? NOGROUP : ownerGid) };
}

/**
 * If the owner is not in /etc/passwd and root's group owns the workspace, the owner does not become a member of that
 * group.
 */
const NOGROUP = 65534;

function primaryGroup(uid: number, passwd: string): number | null {
  for (const line of passwd.split('\n')) {
    const fields = line.split(':');
    if (Number(fields[2]) === uid && fields[3] !== undefined && /^\d+$/.test(fields[3]))
      return Number(fields[3]) || null;
  }
  return null;
}

/** Whose git works in a workspace on the host: the daemon's own user's, or the owner's if the daemon is root. */
export function personOf(identity: Identity, { userHome, userGitConfigs }: Paths): Person {
  if (identity.kind !== 'owner') return { home: userHome, gitConfigs: userGitConfigs };
  const home = homeOf(identity.uid, readFileSync('/etc/passwd', 'utf8'));
  const own = home === null ? [] : [join(home, '.config', 'git', 'config'), join(home, '.gitconfig')];
  return { home: home ?? userHome, gitConfigs: [...userGitConfigs, ...own] };
}

function homeOf(uid: number, passwd: string): string | null {
  for (const line of passwd.split('\n')) {
    const fields = line.split(':');
    if (Number(fields[2]) === uid && fields[5]?.startsWith('/')) return fields[5];
  }
  return null;
}

/** The command that becomes the owner and gives up every capability; empty if the user does not change. */
export function becomeOwner(identity: Identity): string[] {
  if (identity.kind !== 'owner') return [];
  return [
    'setpriv',
    `--reuid=${identity.uid}`,
    `--regid=${identity.gid}`,
    '--clear-groups',
    '--inh-caps=-all',
    '--ambient-caps=-all',
    '--bounding-set=-all',
    '--',
  ];
}
