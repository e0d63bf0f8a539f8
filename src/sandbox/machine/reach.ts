import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { chmod, copyFile, mkdir, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { namesIn } from '../../core/directory-entries.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { removeTreeInBackground } from '../../fs/remove-tree.ts';
import type { Mount } from '../../guard/contract/mount.ts';
import type { Identity } from './identity.ts';

/**
 * The workspace's owner, as whom bubblewrap runs, cannot enter a root daemon's own directories. What must be mounted
 * from there is first bound, in a private mount namespace, onto one of these empty places that everybody may traverse.
 */
export const PUBLIC_MOUNT_POINTS = '/run/contextd-sandbox';
const PUBLIC_SLOTS = 96;

export interface PublicBind {
  readonly source: string;
  readonly target: string;
}

/**
 * True if a user without capabilities can open `path`: search permission on every parent, read permission on itself.
 * Ignores ACLs.
 */
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
 * Replaces the sources that the owner cannot reach. Pinned sources are the owner's own files and stay. Throws
 * SANDBOX_UNAVAILABLE if the owner cannot reach the workspace itself.
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

/** A mount point of the source's kind, directory or file. Throws SANDBOX_UNAVAILABLE if all are used. */
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

/** Where a root daemon keeps what the owner of any workspace must be able to read: nobody else can read its home. */
export function publicDirFor(sandboxDir: string): string {
  const dir = publicPath(sandboxDir);
  orRefuse(PUBLIC_MOUNT_POINTS, () => ensureDir(dir, 0o755));
  return dir;
}

/**
 * Takes over the directory of skeletons from a daemon that was killed: its spawner may still be ending. Returns whether
 * the directory is still this process's own, which is asked before anything in it is removed.
 */
export function claim(dir: string): () => boolean {
  const file = join(dir, 'owner');
  const token = randomBytes(16).toString('hex');
  rmSync(file, { force: true });
  writeFileSync(file, token, { mode: 0o600 });
  return () => {
    try {
      return readFileSync(file, 'utf8') === token;
    } catch (cause) {
      if (isErrno(cause)) return false;
      throw cause;
    }
  };
}

/**
 * Removes the public directory of a root daemon that stops: every user could read the skeleton and the person's settings for
 * git in it. Storage is mounted there in the spawner's mount namespace. It is unmounted, and only its empty mount point is
 * removed: nothing in it is touched if it cannot be unmounted. Does nothing for other users.
 */
export async function removePublicDir(sandboxDir: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const dir = publicPath(sandboxDir);
  const storage = join(dir, STORAGE_POINT);
  await promisify(execFile)('umount', [storage], { env: SYSTEM_PATH }).catch(() => undefined);
  for (const name of namesIn(dir)) {
    if (OWN_FILE.test(name)) await removeTreeInBackground(join(dir, name));
  }
  removeIfEmpty(storage);
  removeIfEmpty(dir);
}

/** In the public directory, where storage is mounted. */
export const STORAGE_POINT = 'storage';
/** Nothing else is removed: whatever it is, it is not temporary. */
const OWN_FILE = /^(?:(?:skeleton|gitconfig)-|owner$)/;
/** For `mount` and `umount`. */
export const SYSTEM_PATH = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };

function removeIfEmpty(dir: string): void {
  try {
    rmdirSync(dir);
  } catch (cause) {
    if (!isErrno(cause, 'ENOENT', 'ENOTEMPTY', 'EBUSY', 'EEXIST')) throw cause;
  }
}

function publicPath(sandboxDir: string): string {
  const name = createHash('sha256').update(sandboxDir).digest('hex').slice(0, 12);
  return join(PUBLIC_MOUNT_POINTS, `home-${name}`);
}

/**
 * Makes the empty mount points; for root daemons only. Widens modes that are too narrow. Throws SANDBOX_UNAVAILABLE if
 * the place belongs to another user or was open to other users.
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

/** Write permission for anyone but the owner. */
const FOREIGN_WRITE = 0o022;

/**
 * A directory of this user with exactly `mode`, whatever the umask is: created if it is missing, given the mode if it
 * has another. Throws an Error that names what is there instead: a link, a file, another user's directory, or a
 * directory that others could write to and may have filled. Its parent must exist.
 */
function ensureDir(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (cause) {
    if (!isErrno(cause, 'EEXIST')) throw cause;
  }
  const fd = openOwn(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    settle(path, fd, mode);
  } finally {
    closeSync(fd);
  }
}

/** The same for an empty file. */
function ensureEmptyFile(path: string, mode: number): void {
  const fd = openOwn(path, constants.O_RDONLY | constants.O_CREAT | constants.O_NONBLOCK, mode);
  try {
    const { size, nlink } = settle(path, fd, mode, (stats) => stats.isFile());
    if (size > 0 || nlink > 1) throw new Error(`${path} is not an empty file with one name`);
  } finally {
    closeSync(fd);
  }
}

/** Never follows a link. */
function openOwn(path: string, flags: number, mode?: number): number {
  try {
    return openSync(path, flags | constants.O_NOFOLLOW, mode);
  } catch (cause) {
    if (!isErrno(cause, 'ELOOP', 'ENOTDIR', 'EISDIR', 'ENXIO')) throw cause;
    throw new Error(`${path} is a link, or not what contextd keeps there`, { cause });
  }
}

function settle(path: string, fd: number, mode: number, isKind: (stats: Stats) => boolean = () => true): Stats {
  const stats = fstatSync(fd);
  const own = process.geteuid?.() ?? stats.uid;
  if (!isKind(stats)) throw new Error(`${path} is not what contextd keeps there`);
  if (stats.uid !== own) throw new Error(`${path} belongs to uid ${stats.uid}, not to uid ${own}`);
  if ((stats.mode & FOREIGN_WRITE & ~mode) !== 0) {
    throw new Error(`${path} has mode ${(stats.mode & 0o7777).toString(8)}: other users can write to it`);
  }
  if ((stats.mode & 0o7777) !== mode) fchmodSync(fd, mode);
  return stats;
}

/** The bundle, or a copy of it if the owner may not read it. Throws PATH_NOT_FOUND. */
export async function readableBundle(
  sandboxDir: string,
  identity: Identity,
  bundleDir: string,
): Promise<{ dir: string; remove: () => Promise<void> }> {
  if (!statSync(bundleDir, { throwIfNoEntry: false })?.isDirectory()) {
    throw new ContextdError('PATH_NOT_FOUND', `the tool's bundle ${bundleDir} does not exist`, {
      remedy: 'Install the tool again.',
    });
  }
  if (identity.kind !== 'owner') return { dir: bundleDir, remove: async () => {} };
  const dir = await copyForOwner(bundleDir, sandboxDir);
  return { dir, remove: () => removeCopies(sandboxDir, dir) };
}

/**
 * Bundles have modes 0700 and 0600, so the owner of a workspace may not read them even if they are mounted. A root
 * daemon gives the sandbox a copy that everybody may read and only root may write. Links are left out, because root
 * would follow them.
 */
async function copyForOwner(bundleDir: string, sandboxDir: string): Promise<string> {
  const copy = join(sandboxDir, BUNDLES, randomBytes(8).toString('hex'));
  await copyTree(bundleDir, copy);
  return copy;
}

/** Removes one copy, or without a name everything that an earlier daemon left. */
export async function removeCopies(sandboxDir: string, copy = join(sandboxDir, BUNDLES)): Promise<void> {
  await removeTreeInBackground(copy);
}

const BUNDLES = 'bundles';

async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const target = join(to, entry.name);
    if (entry.isDirectory()) await copyTree(join(from, entry.name), target);
    if (!entry.isFile()) continue;
    await copyFile(join(from, entry.name), target);
    const { mode } = await stat(join(from, entry.name));
    await chmod(target, (mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}
