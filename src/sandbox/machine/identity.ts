import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Paths } from '../../config/paths.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Person } from '../../guard/contract/person.ts';

/**
 * The user inside, as the host sees it (docs/isolation.md). `self`: the daemon's own user, not root. `owner`: the
 * daemon is root and first becomes the workspace's owner. `root`: root owns the workspace, so the outer uid stays 0,
 * without capabilities, with /proc/sys read-only and in a pids cgroup, because the kernel does not count processes of
 * uid 0.
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

/** Pure part of `identityFor`. `passwd` is the text of /etc/passwd, which gives the owner's group. */
export function chooseIdentity(daemonUid: number, ownerUid: number, ownerGid: number, passwd: string): Identity {
  if (daemonUid !== 0) return { kind: 'self' };
  if (ownerUid === 0) return { kind: 'root' };
  return { kind: 'owner', uid: ownerUid, gid: primaryGroup(ownerUid, passwd) ?? (ownerGid === 0 ? NOGROUP : ownerGid) };
}

/** Group of an owner who is not in /etc/passwd, if root's group owns the workspace, which the owner must not join. */
const NOGROUP = 65534;

function primaryGroup(uid: number, passwd: string): number | null {
  for (const line of passwd.split('\n')) {
    const fields = line.split(':');
    if (Number(fields[2]) === uid && fields[3] !== undefined && /^\d+$/.test(fields[3]))
      return Number(fields[3]) || null;
  }
  return null;
}

/** The person whose git works in the workspace on the host: the daemon's user, or the owner if the daemon is root. */
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

/** Command prefix that becomes the owner and drops every capability; empty if the user does not change. */
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

export interface Ids {
  readonly uid: number;
  readonly gid: number;
}

/** Ids of files that a command creates, as the host sees them. */
export function idsOutside(identity: Identity): Ids {
  if (identity.kind === 'owner') return { uid: identity.uid, gid: identity.gid };
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}

/**
 * Ids of a command as seen inside: those of the host, because git's index holds the owner of each file. Commands of
 * root get other ids, because initdb, Chromium and `tar x` fail as uid 0 without capabilities (docs/decisions/0068).
 */
export function idsInside(identity: Identity): Ids {
  return identity.kind === 'root' ? FOR_ROOT : idsOutside(identity);
}

const FOR_ROOT: Ids = { uid: 1000, gid: 1000 };

/** Shown by the kernel for a user or group without an id in the namespace. */
export const OVERFLOW_ID = 65534;

/** Owner of a sandbox's pipes and files; null: the spawner's own user. */
export function ownerOf(identity: Identity): Ids | null {
  return identity.kind === 'owner' ? { uid: identity.uid, gid: identity.gid } : null;
}

/** The uid of this process; 0 on a system without users. */
export function ownUid(): number {
  return process.getuid?.() ?? 0;
}
