import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lchownSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import { projectFolder } from '../../core/project-folder.ts';
import type { Identity } from '../machine/identity.ts';
import { ownerOf, ownUid } from '../machine/identity.ts';

/*
 * The stores on the host:
 *
 *   <root>/<workspace and uid>/project.json   whose it is
 *   <root>/<workspace and uid>/store/         a bare repository that belongs to the user inside, and `files`, the list
 *                                             of all known files
 *   <root>/moved/<project>/                   a store from a backup, until its project is used for the first time: who
 *                                             owns the workspace is not known before
 */

/** `bare = false`: `git check-ignore` needs a work tree, which the environment names. */
const CONFIG = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n[gc]\n\tauto = 0\n';

/** A store of another form is made again. */
const HEAD = 'ref: refs/heads/own\n';

export interface StorePlace {
  /** Of this project and user; only the daemon's user can enter it. */
  readonly dir: string;
  readonly store: string;
}

export function placeOf(root: string, workspace: string, identity: Identity): StorePlace {
  const uid = identity.kind === 'owner' ? identity.uid : ownUid();
  const name = createHash('sha256')
    .update(JSON.stringify([workspace, uid]))
    .digest('hex')
    .slice(0, 24);
  const dir = join(root, name);
  return { dir, store: join(dir, 'store') };
}

/** Where a backup puts the store of a workspace. */
export function movedStoreOf(root: string, workspace: string): string {
  return join(root, 'moved', projectFolder(workspace));
}

/**
 * Nothing in it is shared with the project's repository, whose objects a command can change through its own names.
 * Makes the store if it is missing, from a backup if one has it. A store that a crash left half made is made again.
 */
export function openStore(root: string, workspace: string, identity: Identity): StorePlace {
  const place = placeOf(root, workspace, identity);
  if (isComplete(place.store)) return place;
  const draft = join(place.dir, 'draft');
  mkdirSync(place.dir, { recursive: true, mode: 0o700 });
  writeFileSync(join(place.dir, 'project.json'), JSON.stringify({ project: workspace }), { mode: 0o600 });
  for (const old of [draft, place.store]) rmSync(old, { recursive: true, force: true });
  const moved = movedStoreOf(root, workspace);
  const made = existsSync(moved) ? moved : draft;
  for (const name of ['', 'objects', 'objects/info', 'objects/pack', 'info', 'refs'])
    mkdirSync(join(made, name), { recursive: true, mode: 0o700 });
  for (const [name, text] of [
    ['config', CONFIG],
    ['HEAD', HEAD],
  ] as const)
    writeFileSync(join(made, name), text, { mode: 0o600 });
  giveTo(made, identity);
  renameSync(made, place.store);
  return place;
}

function giveTo(dir: string, identity: Identity): void {
  const owner = ownerOf(identity);
  if (owner === null) return;
  const below = readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) => join(dir, name));
  for (const path of [dir, ...below]) lchownSync(path, owner.uid, owner.gid);
}

/**
 * The user inside owns the store and can put anything in place of `HEAD`: a link is not followed, a pipe is not waited for, and no more
 * is read than the file has.
 */
function isComplete(store: string): boolean {
  let fd: number;
  try {
    fd = openSync(join(store, 'HEAD'), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    if (isErrno(cause, 'ENOENT', 'ELOOP', 'ENXIO')) return false;
    throw cause;
  }
  try {
    if (!fstatSync(fd).isFile()) return false;
    const bytes = Buffer.alloc(HEAD.length + 1);
    return bytes.toString('latin1', 0, readSync(fd, bytes)) === HEAD;
  } finally {
    closeSync(fd);
  }
}
