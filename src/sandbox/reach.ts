import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ContextdError, isErrno } from '../core/errors.ts';
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

/** Where a root daemon keeps what the owner of any workspace must read to start: of its own home nobody reads a thing. */
export function publicDirFor(sandboxDir: string): string {
  const name = createHash('sha256').update(sandboxDir).digest('hex').slice(0, 12);
  const dir = join(PUBLIC_MOUNT_POINTS, `home-${name}`);
  mkdirSync(dir, { recursive: true, mode: 0o755 });
  chmodSync(dir, 0o755);
  return dir;
}

/** Makes the empty mount points; root daemons only. Throws SANDBOX_UNAVAILABLE when the place is not root's alone. */
export function ensurePublicMountPoints(): void {
  try {
    mkdirSync(PUBLIC_MOUNT_POINTS, { mode: 0o755, recursive: true });
    const place = statSync(PUBLIC_MOUNT_POINTS);
    if (place.uid !== 0 || (place.mode & 0o022) !== 0) throw new Error('it is writable by others than root');
    for (let i = 0; i < PUBLIC_SLOTS; i++) {
      mkdirSync(join(PUBLIC_MOUNT_POINTS, `d${i}`), { recursive: true, mode: 0o755 });
      writeEmpty(join(PUBLIC_MOUNT_POINTS, `f${i}`));
    }
  } catch (cause) {
    throw new ContextdError('SANDBOX_UNAVAILABLE', `${PUBLIC_MOUNT_POINTS} cannot be used: ${String(cause)}`, {
      remedy: `Remove ${PUBLIC_MOUNT_POINTS} and start contextd again, or run contextd as an ordinary user.`,
      cause,
    });
  }
}

function writeEmpty(path: string): void {
  try {
    writeFileSync(path, '', { flag: 'wx', mode: 0o644 });
  } catch (cause) {
    if (!isErrno(cause, 'EEXIST')) throw cause;
  }
}
