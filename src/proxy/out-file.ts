import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { ContextdError, isErrno } from '../core/errors.ts';
import { type Folder, isStill, openFolder, statOf } from './out-folder.ts';
import { type OutPlace, outFault } from './out-place.ts';

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const NEW_FILE_MODE = 0o666;
/** How every envelope begins. */
const ANSWER_START = '{"success":';

export interface OutOptions {
  /** As `openFolder` takes them; the system's own unless given. */
  descriptors?: string | null;
}

/**
 * Throws what would keep an answer from being written to `place`, as far as it can be known before the call runs:
 * PATH_INVALID, PATH_NOT_FOUND, PERMISSION_DENIED.
 */
export function checkOut(place: OutPlace, options: OutOptions = {}): void {
  inFolder(place, options, (folder) => {
    accessSync(folder.path, constants.W_OK | constants.X_OK);
    checkTarget(folder, place);
  });
}

/**
 * Writes `bytes` beside `place`, then renames it there: the old file stays until the new one is complete on disk. The
 * file is new, or takes the place of an earlier answer and keeps its permissions, except to be run. `nonce`
 * tells apart what several calls write at once. Throws what `checkOut` does, and STORAGE_FULL; PATH_INVALID when the
 * directory was exchanged meanwhile.
 */
export function writeOut(place: OutPlace, bytes: Buffer, nonce: string, options: OutOptions = {}): void {
  inFolder(place, options, (folder) => {
    const old = checkTarget(folder, place);
    const temporary = folder.at(`.contextd-${nonce}.tmp`);
    const descriptor = openSync(temporary, CREATE, NEW_FILE_MODE);
    try {
      writeAll(descriptor, bytes, old);
      renameSync(temporary, folder.at(place.name));
    } catch (error) {
      removeQuietly(temporary);
      throw error;
    }
    if (!isStill(folder, place, options.descriptors)) {
      throw outFault('PATH_INVALID', place.given, 'its directory was exchanged while it was written');
    }
  });
}

function inFolder(place: OutPlace, options: OutOptions, work: (folder: Folder) => void): void {
  try {
    const folder = openFolder(place, options.descriptors);
    try {
      work(folder);
    } finally {
      folder.close();
    }
  } catch (error) {
    throw systemFault(error, place.given);
  }
}

/** What stands there and may be replaced; undefined: nothing does. */
function checkTarget(folder: Folder, { given, name }: OutPlace): Stats | undefined {
  const path = folder.at(name);
  const stat = statOf(path);
  if (stat === undefined) return undefined;
  if (stat.isSymbolicLink()) throw outFault('PATH_INVALID', given, 'it is a link');
  if (!stat.isFile()) throw outFault('PATH_INVALID', given, stat.isDirectory() ? 'it is a directory' : 'it is no file');
  if (stat.nlink !== 1) throw outFault('PERMISSION_DENIED', given, `it has ${stat.nlink} names (hard links)`);
  if (stat.uid !== process.geteuid?.()) throw outFault('PERMISSION_DENIED', given, 'it belongs to another user');
  accessSync(path, constants.W_OK);
  if (stat.size > 0 && !isAnswer(path)) {
    throw outFault('PERMISSION_DENIED', given, 'it is there and holds no earlier answer, so it is not replaced');
  }
  return stat;
}

function isAnswer(path: string): boolean {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const start = Buffer.alloc(ANSWER_START.length);
    return (
      readSync(descriptor, start, 0, start.length, 0) === start.length && start.toString('latin1') === ANSWER_START
    );
  } finally {
    closeSync(descriptor);
  }
}

/** A full disk may show only when the file is synced. */
function writeAll(descriptor: number, bytes: Buffer, old: Stats | undefined): void {
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
    if (old !== undefined) fchmodSync(descriptor, old.mode & NEW_FILE_MODE);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The reason why it is removed matters more than that it could not be. */
function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!isErrno(error)) throw error;
  }
}

function systemFault(error: unknown, given: string): unknown {
  if (error instanceof ContextdError || !isErrno(error)) return error;
  const code = error.code ?? '';
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return new ContextdError('STORAGE_FULL', `the answer cannot be kept in ${given}: the disk is full (${code})`, {
        remedy: 'Free disk space, or name a file elsewhere in the project.',
        details: { path: given },
      });
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'EBUSY':
      return outFault('PERMISSION_DENIED', given, `it cannot be written (${code})`);
    case 'ENOENT':
      return outFault('PATH_NOT_FOUND', given, 'its directory does not exist');
    default:
      return outFault('PATH_INVALID', given, `it cannot be written (${code})`);
  }
}
