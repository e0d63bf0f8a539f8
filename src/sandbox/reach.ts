import { createHash } from 'node:crypto';
import { realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ContextdError } from '../core/errors.ts';
import { ensureDir, ensureEmptyFile } from './exact-mode.ts';
import type { Identity } from './identity.ts';
import type { Mount } from './policy.ts';

/**
 * A root daemon's own directories are closed to the workspace's owner, as whom bubblewrap runs. What it must mount from
 * there is first bound, in a mount namespace nobody else sees, onto one of these empty places that all may traverse.
 */
export const PUBLIC_MOUNT_POINTS = '/run/contextd-sandbox';
const PUBLIC_SLOTS = 48;

export interface PublicBind {
  readonly source: string;
  readonly target: string;
}

/** True when a user without capabilities can open `path`: search on every parent, read on itself. ACLs are not seen. */
export function canReach(path: string, uid: number, gid: number): boolean {
  const real = realpathSync(path);
  for (let parent = dirname(real); ; parent = dirname(parent)) {
    if (!permits(parent, uid, gid, 0o1)) return false;
    if (parent === '/') break;
  }
  return permits(real, uid, gid, statSync(real).isDirectory() ? 0o5 : 0o4);
}

function permits(path: string, uid: number, gid: number, bits: number): boolean {
  const { uid: owner, gid: group, mode } = statSync(path);
  const shift = owner === uid ? 6 : group === gid ? 3 : 0;
  return ((mode >> shift) & bits) === bits;
}

/**
 * Mounts with their sources replaced where the owner cannot reach them. Pinned ones are the owner's own files and stay;
 * if the owner cannot reach the workspace itself, that is SANDBOX_UNAVAILABLE with the remedy.
 */
export function makeReachable(
  mounts: readonly Mount[],
  identity: Identity,
  workspace: string | null,
): { mounts: Mount[]; publicBinds: PublicBind[] } {
  if (identity.kind !== 'owner') return { mounts: [...mounts], publicBinds: [] };
  if (workspace !== null && !canReach(workspace, identity.uid, identity.gid))
    throw unreachable(workspace, identity.uid);
  const publicBinds: PublicBind[] = [];
  const reachable = mounts.map((mount) => {
    if ((mount.kind !== 'bind' && mount.kind !== 'ro-bind') || mount.pin || isSystem(mount.source)) return mount;
    if (canReach(mount.source, identity.uid, identity.gid)) return mount;
    const target = slotFor(mount.source, publicBinds.length);
    publicBinds.push({ source: mount.source, target });
    return { ...mount, source: target };
  });
  return { mounts: reachable, publicBinds };
}

function isSystem(path: string): boolean {
  return path === '/usr' || path.startsWith('/proc/') || path.startsWith('/dev/');
}

function unreachable(workspace: string, uid: number): ContextdError {
  return new ContextdError('SANDBOX_UNAVAILABLE', `the owner (uid ${uid}) of ${workspace} cannot reach it`, {
    remedy: 'Give search permission on its parent directories (chmod o+x), or run contextd as that user.',
  });
}

/** One mount point for each kind of source: a directory or a file. Throws SANDBOX_UNAVAILABLE past the last. */
function slotFor(source: string, index: number): string {
  if (index >= PUBLIC_SLOTS) {
    throw new ContextdError(
      'SANDBOX_UNAVAILABLE',
      `more than ${PUBLIC_SLOTS} directories are closed to the workspace's owner`,
      {
        remedy: 'List fewer `sandbox.ro_paths`, or directories that everybody may read.',
      },
    );
  }
  return join(PUBLIC_MOUNT_POINTS, `${statSync(source).isDirectory() ? 'd' : 'f'}${index}`);
}

/** Where a root daemon keeps what the owner of any workspace must read to start: nobody else can read its home. */
export function publicDirFor(sandboxDir: string): string {
  const name = createHash('sha256').update(sandboxDir).digest('hex').slice(0, 12);
  const dir = join(PUBLIC_MOUNT_POINTS, `home-${name}`);
  orRefuse(PUBLIC_MOUNT_POINTS, () => ensureDir(dir, 0o755));
  return dir;
}

/**
 * Makes the empty mount points; root daemons only. Modes that are too narrow are corrected. Throws SANDBOX_UNAVAILABLE
 * when the place is another user's, or was open to other users.
 */
export function ensurePublicMountPoints(place = PUBLIC_MOUNT_POINTS): void {
  orRefuse(place, () => {
    ensureDir(place, 0o755);
    for (let i = 0; i < PUBLIC_SLOTS; i++) {
      ensureDir(join(place, `d${i}`), 0o755);
      ensureEmptyFile(join(place, `f${i}`), 0o644);
    }
  });
}

function orRefuse(place: string, work: () => void): void {
  try {
    work();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ContextdError('SANDBOX_UNAVAILABLE', `${place} cannot be used: ${why}`, {
      remedy: `Remove it (rm -rf ${place}) and start contextd again, or run contextd as an ordinary user.`,
      cause,
    });
  }
}
