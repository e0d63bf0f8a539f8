import {
  closeSync,
  constants,
  type Dirent,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { fdPath, O_PATH } from '../../core/descriptors.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { actAs, isRoot, type User, userOf } from './act-as.ts';

/** What exists at a path of the directory. Links are not followed. */
export type Found =
  | { kind: 'missing' }
  | { kind: 'directory' }
  | { kind: 'file'; text: string; mode: number }
  | { kind: 'link'; target: string }
  | { kind: 'other'; name: string };

const FILE_MAX_BYTES = 1024 * 1024;
const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;
const IS_LINUX = process.platform === 'linux';
/** Opens a directory to work in it. On Linux it need not be readable. */
const PLACE = (IS_LINUX ? O_PATH : O_RDONLY) | O_DIRECTORY | O_NOFOLLOW;

/**
 * A directory in which a command reads and writes files, as a project. Another user may own it and exchange anything in it
 * at any moment, so nothing below it is reached by its path: each directory on the way is opened below the open one before
 * it, without following a link. If root runs the command, each file is touched with the rights of the directory's owner.
 *
 * Paths are relative to the directory, with `/`. Methods throw CONFLICT if a link or a file stands where a directory must be,
 * and if another directory has taken the place of this one. Other refusals of the system are thrown as they are.
 */
export class OwnedDirectory {
  /** Absolute, without links. */
  readonly path: string;
  /** Whose rights root takes. */
  readonly user: User;
  readonly #identity: string;

  private constructor(path: string, user: User, identity: string) {
    this.path = path;
    this.user = user;
    this.#identity = identity;
  }

  /**
   * The directory at an absolute path that has no link in it. `user`: who acts there if root runs the command; default: its
   * owner. Throws PATH_NOT_FOUND if it does not exist.
   */
  static at(path: string, user?: User): OwnedDirectory {
    const fd = openReal(path);
    try {
      return new OwnedDirectory(path, user ?? userOf(fstatSync(fd).uid), identityOf(fd));
    } finally {
      closeSync(fd);
    }
  }

  /** Who reads and writes here, in words. */
  get writer(): string {
    return isRoot() && this.user.uid !== 0 ? `the owner of the project (uid ${this.user.uid})` : 'this user';
  }

  /** Looks at a path. Files of more than 1 MiB or with bytes that are not UTF-8 are `other`. */
  inspect(path: string): Found {
    return this.#reach(path, (near) => look(near, path)) ?? { kind: 'missing' };
  }

  /** The entries of a directory, `''` for this one; none if it does not exist. */
  entries(path: string): Dirent[] {
    return this.#within(path, (place) => readdirSync(place, { withFileTypes: true })) ?? [];
  }

  /** Permission bits of what exists at a path, of a link of its own; 0 if nothing does. */
  modeOf(path: string): number {
    return this.#reach(path, (near) => lstatSync(near, { throwIfNoEntry: false })?.mode ?? 0) ?? 0;
  }

  makeDirectory(path: string, mode: number): void {
    this.#change(path, (near) => mkdirSync(near, { mode }));
  }

  /** Creates or replaces a file. It is never half written: a temporary file beside it is renamed. */
  write(path: string, text: string, mode: number): void {
    this.#replace(path, (temporary) => writeNew(temporary, text, mode));
  }

  /** Creates a file. Throws EEXIST if something has the name already. */
  create(path: string, text: string, mode: number): void {
    this.#change(path, (near) => writeNew(near, text, mode));
  }

  /** Creates or replaces a symbolic link. */
  link(path: string, target: string): void {
    this.#replace(path, (temporary) => symlinkSync(target, temporary));
  }

  /** Renames an entry of this directory itself. */
  rename(from: string, to: string): void {
    this.#within('', (place) => renameSync(`${place}/${from}`, `${place}/${to}`));
  }

  /** Removes a file or link, if it exists. */
  remove(path: string): void {
    this.#reach(path, (near) => rmSync(near, { force: true }));
  }

  /** Removes a directory, if it exists and is empty. */
  removeDirectory(path: string): void {
    this.#reach(path, (near) => {
      try {
        rmdirSync(near);
      } catch (error) {
        if (!isErrno(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) throw error;
      }
    });
  }

  /** Creates and removes a file in a directory, `''` for this one. Throws PATH_INVALID if the owner cannot. */
  checkWritable(path: string): void {
    const shown = path === '' ? this.path : `${this.path}/${path}`;
    try {
      this.#within(path, (place) => {
        const trial = `${place}/${temporaryName()}`;
        rmSync(trial, { force: true });
        writeNew(trial, '', 0o600);
        rmSync(trial);
      });
    } catch (error) {
      if (!isErrno(error)) throw error;
      if (error.code === 'ENOSPC' || error.code === 'EDQUOT') throw ContextdError.from(error);
      throw new ContextdError('PATH_INVALID', `${shown} cannot be written by ${this.writer} (${error.code})`, {
        remedy: `Make it writable for ${this.writer}, then run this again. Nothing was changed.`,
        cause: error,
        details: { path: shown },
      });
    }
  }

  #replace(path: string, make: (temporary: string) => void): void {
    this.#change(path, (near) => {
      const temporary = `${dirname(near)}/${temporaryName()}`;
      rmSync(temporary, { force: true });
      try {
        make(temporary);
        renameSync(temporary, near);
      } catch (error) {
        rmSync(temporary, { force: true });
        throw error;
      }
    });
  }

  /** Like `#reach`, if the parent must exist. */
  #change(path: string, work: (near: string) => void): void {
    const done = this.#reach(path, (near) => {
      work(near);
      return true;
    });
    if (done === null)
      throw new ContextdError('CONFLICT', `${dirname(path)} was removed meanwhile`, { remedy: 'Run this again.' });
  }

  /** Calls `work` with a name of the path that no link leads elsewhere. Returns null if a parent does not exist. */
  #reach<T>(path: string, work: (near: string) => T): T | null {
    const [parent = '', last = ''] = /\//.test(path) ? [dirname(path), basename(path)] : ['', path];
    if (isUnusable(last)) throw notBelow(path, this.path);
    return this.#within(parent, (place) => work(`${place}/${last}`));
  }

  /** Calls `work` with a name of a directory, `''` for this one. Returns null if it does not exist. */
  #within<T>(path: string, work: (place: string) => T): T | null {
    const names = path === '' ? [] : path.split('/');
    if (names.some(isUnusable)) throw notBelow(path, this.path);
    let fd = this.#open();
    let place = this.path;
    try {
      return actAs(this.user, () => {
        for (const [depth, name] of names.entries()) {
          const next = openBelow(`${nearOf(fd, place)}/${name}`, names.slice(0, depth + 1).join('/'));
          if (next === null) return null;
          closeSync(fd);
          fd = next;
          place = `${place}/${name}`;
        }
        return work(nearOf(fd, place));
      });
    } finally {
      closeSync(fd);
    }
  }

  #open(): number {
    const fd = openReal(this.path);
    if (identityOf(fd) === this.#identity) return fd;
    closeSync(fd);
    throw exchanged(this.path);
  }
}

/** What was found, in words. */
export function describeFound(found: Found): string {
  if (found.kind === 'link') return `a symbolic link to ${found.target}`;
  return found.kind === 'other' ? found.name : `a ${found.kind}`;
}

/** Only Linux gives open directories names. Elsewhere the path, without links a moment ago, has to do. */
function nearOf(fd: number, path: string): string {
  return IS_LINUX ? fdPath(fd) : path;
}

function temporaryName(): string {
  return `.contextd-${process.pid}.tmp`;
}

function notBelow(path: string, root: string): ContextdError {
  return new ContextdError('PATH_INVALID', `${JSON.stringify(path)} is not a path below ${root}`);
}

function isUnusable(name: string): boolean {
  return ['', '.', '..'].includes(name) || name.includes('\0');
}

/** Opens a directory by a path that must not have a link in it. */
function openReal(path: string): number {
  const fd = openBelow(path, path);
  if (fd === null)
    throw new ContextdError('PATH_NOT_FOUND', `${path} does not exist`, { remedy: 'Name a directory that exists.' });
  // The kernel names the directory that was opened, so a link in the path shows.
  if ((IS_LINUX ? readlinkSync(fdPath(fd)) : realpathSync(path)) === path) return fd;
  closeSync(fd);
  throw exchanged(path);
}

function exchanged(path: string): ContextdError {
  return new ContextdError('CONFLICT', `${path} was exchanged meanwhile, or a link leads to it`, {
    remedy: 'Look at what changes it, then run this again with its real path.',
    details: { path },
  });
}

/** Null if it does not exist. `shown`: the path in an error. */
function openBelow(near: string, shown: string): number | null {
  try {
    return openSync(near, PLACE);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    if (!isErrno(error, 'ENOTDIR', 'ELOOP')) throw error;
    const isLink = lstatSync(near, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    throw new ContextdError('CONFLICT', `${shown} is ${isLink ? 'a symbolic link' : 'not a directory'}`, {
      remedy: `contextd writes only inside the project. Replace ${shown} by a directory, then run this again.`,
      cause: error,
      details: { path: shown },
    });
  }
}

/** Kind, device and inode. */
function identityOf(fd: number): string {
  const { dev, ino } = fstatSync(fd, { bigint: true });
  return `${dev}:${ino}`;
}

function look(near: string, path: string): Found {
  const stats = lstatSync(near, { throwIfNoEntry: false });
  if (stats === undefined) return { kind: 'missing' };
  if (stats.isDirectory()) return { kind: 'directory' };
  if (stats.isSymbolicLink()) return { kind: 'link', target: readlinkSync(near) };
  return stats.isFile() ? readSmallFile(near, path) : { kind: 'other', name: 'neither a file nor a directory' };
}

/** Does not follow a link or wait for a pipe that has replaced the file meanwhile. */
function readSmallFile(near: string, path: string): Found {
  try {
    const fd = openSync(near, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stats = fstatSync(fd);
      if (!stats.isFile()) return { kind: 'other', name: 'no longer a file' };
      if (stats.size > FILE_MAX_BYTES)
        return { kind: 'other', name: `a file of ${stats.size} bytes (limit ${FILE_MAX_BYTES})` };
      const text = decode(readFileSync(fd));
      return text === undefined
        ? { kind: 'other', name: `not UTF-8 text` }
        : { kind: 'file', text, mode: stats.mode & 0o777 };
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (!isErrno(error)) throw error;
    throw new ContextdError('CONFLICT', `${path} is not readable (${error.code})`, { cause: error, details: { path } });
  }
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function writeNew(path: string, text: string, mode: number): void {
  const fd = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    writeFileSync(fd, text);
    fchmodSync(fd, mode);
  } finally {
    closeSync(fd);
  }
}
