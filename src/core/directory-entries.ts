import { type Dirent, opendirSync, readdirSync } from 'node:fs';
import { isErrno } from './errors.ts';

/** Entries that are read at a time. */
const BUFFERED_ENTRIES = 256;

/**
 * The entries of a directory in the order of the file system, read as they are asked for: a caller that stops has not paid
 * for the rest. Use it for directories that a command can fill. Throws the error of the system.
 */
export function* directoryEntries(path: string, encoding: 'utf8' | 'latin1' = 'utf8'): Generator<Dirent> {
  const dir = opendirSync(path, { encoding, bufferSize: BUFFERED_ENTRIES });
  try {
    for (let entry = dir.readSync(); entry !== null; entry = dir.readSync()) yield entry;
  } finally {
    dir.closeSync();
  }
}

/** The names in a directory that only contextd writes; none if it does not exist. */
export function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (cause) {
    if (isErrno(cause, 'ENOENT')) return [];
    throw cause;
  }
}
