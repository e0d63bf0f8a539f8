import { closeSync, constants, fchownSync, fstatSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { isErrno } from '../../core/errors.ts';
import { fdPath, openPlace, readUpTo } from '../../fs/file-access.ts';
import { nameOf, parentOf, toRaw } from '../../fs/raw-path.ts';
import { type CarryOver, type ConfigVersions, carryOver } from './carry-over.ts';

/** Largest configuration that is copied and merged. */
export const CONFIG_MAX_BYTES = 1024 * 1024;
/** How often, and after how many milliseconds, a locked file is tried again. git holds its lock for a few. */
const TRIES = 25;
const TRY_AGAIN_MS = 20;

const { O_RDWR, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants;

export interface Changed extends Omit<ConfigVersions, 'host'> {
  /** Absolute path of the host's file. */
  readonly config: string;
}

/** What of a command's changes reached the host's file, in words, and what did not. */
export type Merged = Omit<CarryOver, 'edited' | 'text'>;

/**
 * Adds to the host's file what a command may add or change, under git's lock, so that nobody's change is lost.
 *
 * It is written into the open file. git itself would rename a new file over it, but then the mounts that protect it in other
 * sandboxes would end with the old file. One call writes everything from the first byte that differs, so a reader sees the
 * file before or after it; a file that gets shorter ends with blanks until it is cut.
 */
export async function mergeIntoHost({ config, ...versions }: Changed): Promise<Merged> {
  const path = toRaw(config);
  const place = openPlace(parentOf(path));
  if (place === null) return nothing('the repository is gone');
  try {
    const lock = await takeLock(`${fdPath(place)}/config.lock`);
    if (lock === null) return nothing('the configuration is locked by another git: config.lock');
    try {
      return merge(`${fdPath(place)}/${nameOf(path)}`, lock, versions);
    } finally {
      closeSync(lock);
      rmSync(`${fdPath(place)}/config.lock`, { force: true });
    }
  } finally {
    closeSync(place);
  }
}

/** Works on open files only: commands that still run can change every path. */
function merge(path: string, lock: number, versions: Omit<Changed, 'config'>): Merged {
  const fd = openSync(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  try {
    const { uid, gid, nlink } = fstatSync(fd);
    if (!fstatSync(fd).isFile() || nlink !== 1) return nothing('the configuration has a second name, a hard link');
    if (process.getuid?.() === 0) fchownSync(lock, uid, gid);
    const host = readUpTo(fd, CONFIG_MAX_BYTES);
    const carried = host === null ? null : carryOver({ host, ...versions });
    if (host === null || carried === null) return nothing('git cannot read the file that the command left');
    const added = carried.text === '' ? '' : `${/^$|\n$/.test(carried.edited) ? '' : '\n'}${carried.text}`;
    return rewrite(fd, host, carried.edited + added) ? carried : nothing('the disk is full');
  } finally {
    closeSync(fd);
  }
}

/** Returns false if there is no room, and leaves the file as it was. */
function rewrite(fd: number, old: string, text: string): boolean {
  let start = 0;
  while (start < old.length && old[start] === text[start]) start++;
  const bytes = Buffer.from(text.padEnd(old.length, '\n').slice(start), 'latin1');
  const isWritten = writeSync(fd, bytes, 0, bytes.length, start) === bytes.length;
  if (!isWritten) writeSync(fd, Buffer.from(old.slice(start), 'latin1'), 0, old.length - start, start);
  ftruncateSync(fd, isWritten ? text.length : old.length);
  return isWritten;
}

export const NOTHING: Merged = { carried: [], refused: [], outside: [], leading: [], renamed: [] };

function nothing(why: string): Merged {
  return { ...NOTHING, refused: [`everything (${why})`] };
}

async function takeLock(path: string): Promise<number | null> {
  for (let i = 0; i < TRIES; i++) {
    try {
      return openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644);
    } catch (cause) {
      if (!isErrno(cause, 'EEXIST')) throw cause;
      await delay(TRY_AGAIN_MS);
    }
  }
  return null;
}
