import { createHash } from 'node:crypto';
import {
  chownSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import type { Identity } from '../identity.ts';
import { ownerOf } from '../starter.ts';

/*
 * The stores on the host:
 *
 *   <root>/<workspace and uid>/project.json   whose it is
 *   <root>/<workspace and uid>/store/         a bare repository that belongs to the user inside, and `files`, the list
 *                                             of all known files
 */

/** Loose objects that are linked into a new store; the others are read from the files. */
const LOOSE_LINKED_MAX = 20_000;
const FAN_OUT = /^[0-9a-f]{2}$/;
const OBJECT_NAME = /^(?:[0-9a-f]{38}|pack-[0-9a-f]{40}\.(?:pack|idx|rev))$/;
/** `bare = false`: `git check-ignore` needs a work tree, which the environment names. */
const CONFIG = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n[gc]\n\tauto = 0\n';

export interface StorePlace {
  /** Of this project and user; only the daemon's user can enter it. */
  readonly dir: string;
  readonly store: string;
}

export function placeOf(root: string, workspace: string, identity: Identity): StorePlace {
  const uid = identity.kind === 'owner' ? identity.uid : (process.getuid?.() ?? 0);
  const name = createHash('sha256')
    .update(JSON.stringify([workspace, uid]))
    .digest('hex')
    .slice(0, 24);
  const dir = join(root, name);
  return { dir, store: join(dir, 'store') };
}

/** Makes the store if it is missing. A store that a crash left half made is made again. */
export function openStore(root: string, workspace: string, identity: Identity): StorePlace {
  const place = placeOf(root, workspace, identity);
  if (existsSync(join(place.store, 'HEAD'))) return place;
  const draft = join(place.dir, 'draft');
  mkdirSync(place.dir, { recursive: true, mode: 0o700 });
  writeFileSync(join(place.dir, 'project.json'), JSON.stringify({ project: workspace }), { mode: 0o600 });
  for (const old of [draft, place.store]) rmSync(old, { recursive: true, force: true });
  const made = [draft, ...['objects', 'objects/info', 'objects/pack', 'info', 'refs'].map((name) => join(draft, name))];
  for (const path of made) mkdirSync(path, { mode: 0o700 });
  made.push(...seed(workspace, join(draft, 'objects')));
  for (const [name, text] of [
    ['config', CONFIG],
    ['HEAD', 'ref: refs/heads/none\n'],
  ] as const) {
    writeFileSync(join(draft, name), text, { mode: 0o600 });
    made.push(join(draft, name));
  }
  const owner = ownerOf(identity);
  if (owner !== null) for (const path of made) chownSync(path, owner.uid, owner.gid);
  renameSync(draft, place.store);
  return place;
}

/**
 * Links the objects of the project's repository, so that contents that it has need no copy and outlive its `gc`. Returns
 * the directories that it made. Directories are entered by descriptor and never through a link: commands can change
 * them at any time. On another file system nothing is linked.
 */
function seed(workspace: string, target: string): string[] {
  const objects = openBelow(workspace, ['.git', 'objects']);
  if (objects === null) return [];
  const made: string[] = [];
  let left = LOOSE_LINKED_MAX;
  try {
    for (const name of readdirSync(`/proc/self/fd/${objects}`)) {
      if (name !== 'pack' && !FAN_OUT.test(name)) continue;
      const from = openBelow(`/proc/self/fd/${objects}`, [name]);
      if (from === null) continue;
      try {
        const names = readdirSync(`/proc/self/fd/${from}`).filter((one) => OBJECT_NAME.test(one));
        if (name !== 'pack') left -= names.length;
        if (left < 0) return made;
        if (name !== 'pack' && names.length > 0) {
          mkdirSync(join(target, name), { mode: 0o700 });
          made.push(join(target, name));
        }
        for (const one of names) if (!link(`/proc/self/fd/${from}/${one}`, join(target, name, one))) return made;
      } finally {
        closeSync(from);
      }
    }
  } finally {
    closeSync(objects);
  }
  return made;
}

/** False if nothing can be linked there. */
function link(from: string, to: string): boolean {
  try {
    if (lstatSync(from).isFile()) linkSync(from, to);
    return true;
  } catch (cause) {
    if (isErrno(cause, 'ENOENT')) return true;
    if (isErrno(cause, 'EXDEV', 'EPERM', 'EMLINK')) return false;
    throw cause;
  }
}

/** A descriptor of a directory, of which no part below `root` is a link. Null if it does not exist. */
function openBelow(root: string, names: readonly string[]): number | null {
  let path = root;
  let fd: number | null = null;
  for (const name of names) {
    const above: number | null = fd;
    try {
      fd = openSync(join(path, name), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    } catch (cause) {
      if (isErrno(cause, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES')) return null;
      throw cause;
    } finally {
      if (above !== null) closeSync(above);
    }
    if (!fstatSync(fd).isDirectory()) return null;
    path = `/proc/self/fd/${fd}`;
  }
  return fd;
}
