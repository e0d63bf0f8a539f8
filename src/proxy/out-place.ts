import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { ContextdError, type ErrorCode, isErrno } from '../core/errors.ts';
import { classify } from '../guard/table/names.ts';
import type { ToolLink } from './invocation.ts';

/** The file an answer is saved in: a name in a directory of the project. */
export interface OutPlace {
  /** As the caller wrote it. */
  given: string;
  /** Real path of the project. */
  root: string;
  /** The directories below the root, without `.` and `..`. */
  folders: readonly string[];
  name: string;
}

const REMEDY =
  'Name a file in an existing directory of the project; no part of the path may be a link or begin with "."';

/**
 * Resolves `given` from `cwd` by its text alone, without looking at the disk. Throws PATH_INVALID for a path that is not a
 * file of the project, and PERMISSION_DENIED for a name that begins with a dot or that programs outside the sandbox trust.
 */
export function locateOut(given: string, link: ToolLink, cwd: string = currentDirectory(given)): OutPlace {
  if (given === '' || given === '-' || given.includes('\0'))
    throw outFault('PATH_INVALID', given, 'it is not a file name');
  if (['', '.', '..'].includes(given.slice(given.lastIndexOf('/') + 1))) {
    throw outFault('PATH_INVALID', given, 'it names a directory');
  }
  const inside = rootsOf(link)
    .map((root) => relative(root, resolve(cwd, given)))
    .find(isInside);
  if (inside === undefined) {
    throw outFault('PATH_INVALID', given, `it is outside the project ${link.projectRoot}`);
  }
  const folders = inside.split(sep);
  for (const [at, part] of folders.entries()) refuseNamed(folders.slice(0, at).join('/'), part, given);
  const name = folders.pop() ?? '';
  return { given, root: link.projectRoot, folders, name };
}

function currentDirectory(given: string): string {
  try {
    return process.cwd();
  } catch (error) {
    if (!isErrno(error)) throw error;
    throw outFault('PATH_NOT_FOUND', given, `the current directory cannot be found (${error.code})`);
  }
}

/** The error for a path that the answer cannot be saved in. */
export function outFault(code: ErrorCode, given: string, why: string, remedy = REMEDY): ContextdError {
  return new ContextdError(code, `cannot save the answer in ${given === '' ? '""' : given}: ${why}`, {
    remedy: `${remedy}.`,
    details: { path: given },
  });
}

/** The project's real path, and the path it was called by, which may be a link to it. */
function rootsOf(link: ToolLink): string[] {
  return [link.projectRoot, dirname(dirname(dirname(link.toolDir)))];
}

function isInside(path: string): boolean {
  return path !== '' && path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

/**
 * Refuses what the table of names does not call harmless: an answer is neither settings nor instructions. Some file systems
 * ignore invisible characters when they compare names.
 */
function refuseNamed(dir: string, part: string, given: string): void {
  if (/[\p{Cc}\p{Default_Ignorable_Code_Point}]/u.test(part)) {
    throw outFault('PATH_INVALID', given, 'it contains invisible characters');
  }
  if (part.startsWith('.')) throw outFault('PERMISSION_DENIED', given, `${part} begins with a dot`);
  const named = classify(dir, part);
  if (named === null || named.row === null) return;
  throw outFault('PERMISSION_DENIED', given, `programs outside the sandbox trust ${part} (${named.row.program})`);
}

/** The directory in which Linux shows open descriptors: a path through one cannot be redirected. Null on other systems. */
const DESCRIPTORS = process.platform === 'linux' ? '/proc/self/fd' : null;

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** An open directory: its entries stay the same even if another directory takes its place. */
export class Folder {
  readonly #descriptor: number;
  readonly #path: string;

  constructor(path: string, descriptors: string | null) {
    this.#descriptor = openSync(path, FOLDER);
    this.#path = descriptors === null ? path : `${descriptors}/${this.#descriptor}`;
  }

  /** The path of an entry, valid until `close`. */
  at(name: string): string {
    return `${this.#path}/${name}`;
  }

  get path(): string {
    return this.#path;
  }

  /** Equal if and only if two folders are the same directory. */
  get identity(): string {
    const { dev, ino } = fstatSync(this.#descriptor, { bigint: true });
    return `${dev}:${ino}`;
  }

  /** The user and group that own it. */
  get owner(): Owner {
    const { uid, gid } = fstatSync(this.#descriptor);
    return { uid, gid };
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

export interface Owner {
  uid: number;
  gid: number;
}

/**
 * The user that the answer must belong to: root gives it to the owner of the project, who could not change or remove a file
 * of root. Null: the user who writes it.
 */
export function ownerOfProject(place: OutPlace): Owner | null {
  if (process.geteuid?.() !== 0) return null;
  const root = new Folder(place.root, null);
  try {
    return root.owner;
  } finally {
    root.close();
  }
}

/**
 * Opens the directory of `place`, one directory at a time from the project's root, so that no link is followed. Without
 * `descriptors` each directory is opened by its path, and only `isStill` detects that one was exchanged. Throws
 * PATH_NOT_FOUND, PATH_INVALID for a link or a file on the way, and PERMISSION_DENIED, also for a git directory. The
 * caller closes the folder.
 */
export function openFolder(place: OutPlace, descriptors: string | null = DESCRIPTORS): Folder {
  let folder = enter(place, place.root, descriptors);
  for (const name of place.folders) {
    const outer = folder;
    try {
      folder = enter(place, outer.at(name), descriptors);
    } finally {
      outer.close();
    }
  }
  return folder;
}

/** True if the path of `place` still leads to this folder. */
export function isStill(folder: Folder, place: OutPlace, descriptors: string | null = DESCRIPTORS): boolean {
  const found = openFolder(place, descriptors);
  try {
    return found.identity === folder.identity;
  } finally {
    found.close();
  }
}

function enter(place: OutPlace, path: string, descriptors: string | null): Folder {
  const folder = open(place, path, descriptors);
  try {
    if (isGitDir(folder)) throw outFault('PERMISSION_DENIED', place.given, 'it is in a git directory');
    return folder;
  } catch (error) {
    folder.close();
    throw error;
  }
}

function open({ given }: OutPlace, path: string, descriptors: string | null): Folder {
  try {
    return new Folder(path, descriptors);
  } catch (error) {
    if (!isErrno(error)) throw error;
    if (error.code === 'ENOENT') throw outFault('PATH_NOT_FOUND', given, 'its directory does not exist');
    if (error.code === 'EACCES' || error.code === 'EPERM') {
      throw outFault('PERMISSION_DENIED', given, `its directory cannot be opened (${error.code})`);
    }
    const isLink = statOf(path)?.isSymbolicLink() === true;
    throw outFault(
      'PATH_INVALID',
      given,
      isLink ? 'a part of its path is a link' : `a part of its path is not a directory (${error.code})`,
    );
  }
}

/** True for what git takes for a repository, whatever its name. The sandbox protects the files in it that git obeys. */
function isGitDir(folder: Folder): boolean {
  const has = (name: string) => statOf(folder.at(name)) !== undefined;
  return has('HEAD') && (has('commondir') || (has('objects') && has('refs')));
}

/** Describes the entry itself, not the target of a link; undefined if it does not exist. */
export function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}
