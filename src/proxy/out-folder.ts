import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats } from 'node:fs';
import { isErrno } from '../core/errors.ts';
import { type OutPlace, outFault } from './out-place.ts';

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
