import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { ContextdError, type ErrorCode, isErrno } from '../core/errors.ts';
import type { ToolLink } from './invocation.ts';

/** Where an answer is to be kept: a name in a directory of the project. */
export interface OutPlace {
  /** As the caller wrote it. */
  given: string;
  /** Real path of the project. */
  root: string;
  /** The directories from there, none of them `.` or `..`. */
  folders: readonly string[];
  name: string;
}

/** Files without a dot in front that a program on the host trusts: the sandbox protects the same. */
const TRUSTED_NAMES: readonly string[] = [
  ...['opencode.json', 'opencode.jsonc', 'crush.json', 'contextd.lock', 'mise.toml', 'bunfig.toml', '_darcs'],
];

const REMEDY =
  'Name a file in an existing directory of the project, without links and without names that begin with "."';

/**
 * Where `given` leads from `cwd`, by its words alone: nothing is looked at. Throws PATH_INVALID for what is no file of
 * the project, PERMISSION_DENIED for a name that begins with a dot or that programs outside the sandbox trust.
 */
export function locateOut(given: string, link: ToolLink, cwd: string = currentDirectory(given)): OutPlace {
  if (given === '' || given === '-' || given.includes('\0'))
    throw outFault('PATH_INVALID', given, 'it is no file name');
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
  for (const part of folders) refuseProtected(part, given);
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

/** Why nothing is written to `given`, as an error that says how to name a file that can be. */
export function outFault(code: ErrorCode, given: string, why: string): ContextdError {
  return new ContextdError(code, `the answer cannot be kept in ${given === '' ? '""' : given}: ${why}`, {
    remedy: `${REMEDY}.`,
    details: { path: given },
  });
}

/** The project's real path, and the one it was called by, which may be a link to it. */
function rootsOf(link: ToolLink): string[] {
  return [link.projectRoot, dirname(dirname(dirname(link.toolDir)))];
}

function isInside(path: string): boolean {
  return path !== '' && path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

/** Some file systems take letters of either case, and names with or without characters that show nothing, as equal. */
function refuseProtected(part: string, given: string): void {
  if (/[\p{Cc}\p{Default_Ignorable_Code_Point}]/u.test(part)) {
    throw outFault('PATH_INVALID', given, 'it holds characters that cannot be seen');
  }
  if (part.startsWith('.')) throw outFault('PERMISSION_DENIED', given, `${part} begins with a dot`);
  if (TRUSTED_NAMES.includes(part.normalize('NFKC').toLowerCase())) {
    throw outFault('PERMISSION_DENIED', given, `programs outside the sandbox trust ${part}`);
  }
}

/** Where Linux shows open directories: a path through one cannot be led elsewhere. Null: other systems have none. */
const DESCRIPTORS = process.platform === 'linux' ? '/proc/self/fd' : null;

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** A directory held open, so that its entries are its own, whatever takes its place meanwhile. */
export class Folder {
  readonly #descriptor: number;
  readonly #path: string;

  constructor(path: string, descriptors: string | null) {
    this.#descriptor = openSync(path, FOLDER);
    this.#path = descriptors === null ? path : `${descriptors}/${this.#descriptor}`;
  }

  /** Path of an entry, until `close`. */
  at(name: string): string {
    return `${this.#path}/${name}`;
  }

  get path(): string {
    return this.#path;
  }

  /** Equal for two that are the same directory. */
  get identity(): string {
    const { dev, ino } = fstatSync(this.#descriptor, { bigint: true });
    return `${dev}:${ino}`;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

/**
 * The directory of `place`, entered from the project's root one by one, so that no link is followed. Without
 * `descriptors` each is opened by its path: then `isStill` afterwards is what tells that one was exchanged. Throws
 * PATH_NOT_FOUND, PATH_INVALID for a link or a file on the way, PERMISSION_DENIED, also for a git directory. Close it.
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

/** Whether the way to `place` still leads to this folder. */
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
    if (isGitDir(folder)) throw outFault('PERMISSION_DENIED', place.given, 'it lies in a git directory');
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
      isLink ? 'a link is on the way to it' : `no directory holds it (${error.code})`,
    );
  }
}

/** What git takes for a repository, whatever its name is; the sandbox protects files in it that git heeds. */
function isGitDir(folder: Folder): boolean {
  const has = (name: string) => statOf(folder.at(name)) !== undefined;
  return has('HEAD') && (has('commondir') || (has('objects') && has('refs')));
}

/** Of the entry itself, not of what it links to. */
export function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}
