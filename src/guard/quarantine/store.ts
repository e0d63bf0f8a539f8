import {
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  opendirSync,
  openSync,
  readdirSync,
  realpathSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { ContextdError, isErrno } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { fdPath, openPlace } from '../../fs/file-access.ts';
import { isWithin, nameOf, parentOf, type RawPath, toRaw, toSystem, toText } from '../../fs/raw-path.ts';
import { copyFile, inPlace, moveInto, newId, openHere, rename, replaceByCopy } from './set-aside.ts';

/** How much of what is set aside is looked at and copied. The search goes on meanwhile. */
const COPIED_MAX = { bytes: 1024 * 1024, entries: 200 };

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

/**
 * The directory with what was set aside in one workspace, as `<id>/<name>`. It is one of contextd's own, so no sandbox has it.
 * Owner and mode of what is moved there stay.
 */
export class QuarantineStore {
  readonly #dir: string;
  readonly #logger: Logger;

  /** `dir`: absolute. It need not exist. */
  constructor(dir: string, logger: Logger) {
    this.#dir = realPathOf(resolve(dir));
    this.#logger = logger;
  }

  holds(path: RawPath): boolean {
    return isWithin(toRaw(this.#dir), path);
  }

  /**
   * Moves a path here and returns its new path. Returns null and leaves it if it is gone, or if the file system refuses: it is
   * on another one, or the daemon's user may not move it. Files that have another name are replaced by copies, and with
   * `mayBeOpen` a file with one name too: what has it open, or writes through the other name, keeps the old inode.
   */
  take(path: RawPath, mayBeOpen: boolean): RawPath | null {
    let place: RawPath | null = null;
    try {
      place = this.#newPlace();
      if (!moveInto(path, place)) {
        this.#removePlace(place);
        return null;
      }
    } catch (cause) {
      if (!isErrno(cause)) throw cause;
      this.#logger.warn('sandbox.not_stored', { path: toText(path), cause: String(cause) });
      if (place !== null) this.#removePlace(place);
      return null;
    }
    const moved = `${place}/${nameOf(path)}`;
    this.#detach(moved, mayBeOpen);
    return moved;
  }

  /** A copy of a file that is here, under the same name; null if it is not a regular file with one name. */
  copy(moved: RawPath): RawPath | null {
    const copy = `${this.#newPlace()}/${nameOf(moved)}`;
    let isMade = false;
    try {
      isMade = copyFile(moved, copy);
    } finally {
      if (!isMade) this.tidy(copy);
    }
    return isMade ? copy : null;
  }

  /** Removes the directory of something that has left. */
  tidy(moved: RawPath): void {
    if (this.holds(moved)) this.#removePlace(parentOf(moved));
  }

  /** Removes what is here for good, closed directories included, and follows no link. Throws INTERNAL_ERROR. */
  remove(moved: RawPath, pause: () => void): void {
    const place = openPlace(parentOf(moved));
    if (place === null) return;
    try {
      removeAll(place, nameOf(moved), pause);
    } catch (cause) {
      if (!isErrno(cause)) throw cause;
      throw new ContextdError('INTERNAL_ERROR', `${toText(moved)} could not be removed: ${cause.code}`, {
        remedy: 'If a command still runs, end it and repeat this.',
        cause,
      });
    } finally {
      closeSync(place);
    }
    this.tidy(moved);
  }

  #newPlace(): RawPath {
    const place = join(this.#dir, newId());
    try {
      mkdirSync(place, { mode: 0o700 });
    } catch (cause) {
      if (!isErrno(cause, 'ENOENT')) throw cause;
      mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
      mkdirSync(place, { mode: 0o700 });
    }
    return toRaw(place);
  }

  #removePlace(place: RawPath): void {
    try {
      rmdirSync(toSystem(place));
    } catch (cause) {
      if (!isErrno(cause)) throw cause;
    }
  }

  /** If it fails, what is written into the original is seen from its hash. */
  #detach(moved: RawPath, mayBeOpen: boolean): void {
    const place = openPlace(parentOf(moved));
    if (place === null) return;
    try {
      detachIn(place, nameOf(moved), { ...COPIED_MAX }, mayBeOpen);
    } catch (cause) {
      if (!isErrno(cause)) throw cause;
      this.#logger.warn('sandbox.not_copied', { path: toText(moved), cause: String(cause) });
    } finally {
      closeSync(place);
    }
  }
}

/** Works in open directories: a process that is in one of them can still exchange its names. */
function detachIn(place: number, name: string, left: { bytes: number; entries: number }, mayBeOpen: boolean): void {
  const path = inPlace(fdPath(place), name);
  const stats = lstatSync(path);
  left.entries--;
  if (stats.isFile() && (mayBeOpen || stats.nlink > 1) && stats.size <= left.bytes) {
    left.bytes -= stats.size;
    replaceByCopy(fdPath(place), name);
  } else if (stats.isDirectory()) {
    const dir = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    try {
      for (const child of firstNames(dir, left.entries)) if (left.entries > 0) detachIn(dir, child, left, mayBeOpen);
    } finally {
      closeSync(dir);
    }
  }
}

function firstNames(dir: number, max: number): string[] {
  const entries = opendirSync(fdPath(dir), { encoding: 'latin1' });
  try {
    const names: string[] = [];
    for (let entry = entries.readSync(); entry !== null && names.length < max; entry = entries.readSync()) {
      names.push(entry.name);
    }
    return names;
  } finally {
    entries.closeSync();
  }
}

/** Directories are moved up before they are read, so that no depth is too great for a path or for the stack. */
function removeAll(place: number, name: string, pause: () => void): void {
  const left = [name];
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    pause();
    const path = inPlace(fdPath(place), one);
    if (!lstatSync(path).isDirectory()) {
      unlinkSync(path);
      continue;
    }
    const dir = openHere(path);
    try {
      chmodSync(fdPath(dir), 0o700);
      for (const child of readdirSync(fdPath(dir), { encoding: 'latin1' })) {
        const inside = inPlace(fdPath(dir), child);
        if (!lstatSync(inside).isDirectory()) unlinkSync(inside);
        else left.push(moveUp(inside, place));
      }
    } finally {
      closeSync(dir);
    }
    rmdirSync(path);
  }
}

function moveUp(path: string | Buffer, place: number): string {
  const name = newId();
  rename(path, inPlace(fdPath(place), name));
  return name;
}

/** With the links resolved in the part that exists. */
function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (cause) {
    if (!isErrno(cause) || dirname(path) === path) throw cause;
    return join(realPathOf(dirname(path)), basename(path));
  }
}
