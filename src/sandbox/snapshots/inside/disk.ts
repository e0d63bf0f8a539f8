import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, readSync, type Stats } from 'node:fs';
import { isErrno } from '../../../core/errors.ts';
import { fdPath, openPlace } from '../../../fs/file-access.ts';
import { nameOf, parentOf, type RawPath, toSystem } from '../../../fs/raw-path.ts';
import { FILE_MAX_BYTES, type FileState, HIDDEN, type Uncovered } from '../../contract/snapshot-messages.ts';
import { idOf } from './content-id.ts';

/** Looks at a file that changes at the same moment, before it is called unreadable. */
const TRIES = 5;
/** The bits of a mode that undo keeps. No command may set those of another user or group, also not the one that puts files back. */
export const MODE_BITS = 0o1777;

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** What a look at a path found. `stats` and `content` are of the same open file. */
export type Seen =
  | { readonly kind: 'none' }
  | { readonly kind: 'directory'; readonly stats: Stats }
  | { readonly kind: 'file'; readonly stats: Stats; readonly content: Buffer }
  | { readonly kind: 'out'; readonly why: Uncovered['why']; readonly state: FileState };

/**
 * What is at a path now; '' is the root. Follows no link anywhere in the path, waits for no pipe and reads at most
 * `FILE_MAX_BYTES`: commands can change the path at any moment. `shared`: see `OpenPlace`.
 */
export function look(root: RawPath, path: RawPath, shared?: OpenPlace): Seen {
  const places = shared ?? new OpenPlace();
  try {
    for (let tries = 0; tries < TRIES; tries++) {
      const seen = tryLook(path === '' ? root : `${root}/${path}`, places);
      if (seen !== null) return seen;
      // Another directory may have its name now.
      places.close();
    }
    return { kind: 'out', why: 'cannot be read', state: HIDDEN };
  } finally {
    if (shared === undefined) places.close();
  }
}

/** The same as a state; null if nothing is there. */
export function stateNow(root: RawPath, path: RawPath): FileState | null {
  const seen = look(root, path);
  switch (seen.kind) {
    case 'none':
      return null;
    case 'directory':
      return directoryState(seen.stats);
    case 'file':
      return stateOf(seen.stats, idOf(seen.content));
    case 'out':
      return seen.state;
  }
}

export function directoryState({ mode }: Stats): FileState {
  return `d${(mode & MODE_BITS).toString(8)}`;
}

/** Of a regular file or a link. */
export function stateOf(stats: Stats, id: string): FileState {
  return stats.isSymbolicLink() ? `l ${id}` : `f${(stats.mode & MODE_BITS).toString(8)} ${id}`;
}

/** The content of a small regular file; empty if it is anything else. */
export function readSmall(file: RawPath, maxBytes: number): Buffer {
  const places = new OpenPlace();
  const seen = tryLook(file, places);
  places.close();
  if (seen?.kind !== 'file' || !seen.stats.isFile() || seen.content.length > maxBytes) return Buffer.alloc(0);
  return seen.content;
}

/** A directory that stays open while many files in it are looked at. Without one, each look opens its own. */
export class OpenPlace {
  #path: RawPath | null = null;
  #fd: number | null = null;

  /** Null if it is not there. Valid until the next call. */
  at(path: RawPath): number | null {
    if (this.#path === path && this.#fd !== null) return this.#fd;
    this.close();
    this.#fd = openPlace(path);
    this.#path = path;
    return this.#fd;
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }
}

/** Null if it changed meanwhile. */
function tryLook(file: RawPath, places: OpenPlace): Seen | null {
  try {
    const place = places.at(parentOf(file));
    if (place === null) return { kind: 'none' };
    const near = toSystem(`${fdPath(place)}/${nameOf(file)}`);
    const stats = lstatSync(near, { throwIfNoEntry: false });
    if (stats === undefined) return { kind: 'none' };
    if (stats.isDirectory()) return { kind: 'directory', stats };
    if (stats.isSymbolicLink()) return { kind: 'file', stats, content: readlinkSync(near, { encoding: 'buffer' }) };
    return stats.isFile() ? readFile(near, stats) : { kind: 'out', why: 'special file', state: markOf(stats) };
  } catch (cause) {
    if (isErrno(cause, 'ENOENT', 'ENOTDIR', 'EINVAL', 'ELOOP', 'ENXIO')) return null;
    if (isErrno(cause, 'EACCES', 'EPERM')) return { kind: 'out', why: 'cannot be read', state: HIDDEN };
    throw cause;
  }
}

function readFile(near: string | Buffer, found: Stats): Seen | null {
  let fd: number;
  try {
    fd = openSync(near, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (cause) {
    if (!isErrno(cause, 'EACCES', 'EPERM')) throw cause;
    return { kind: 'out', why: 'cannot be read', state: markOf(found) };
  }
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) return null;
    if (stats.size > FILE_MAX_BYTES) return { kind: 'out', why: 'larger than 16 MiB', state: markOf(stats) };
    // One byte more than its size, so that a file that is growing is noticed.
    const buffer = Buffer.allocUnsafe(stats.size + 1);
    let length = 0;
    for (;;) {
      const read = readSync(fd, buffer, length, buffer.length - length, null);
      length += read;
      if (read === 0 || length === buffer.length) break;
    }
    return length === stats.size ? { kind: 'file', stats, content: buffer.subarray(0, length) } : null;
  } finally {
    closeSync(fd);
  }
}

/** Tells a file whose content is not kept from the same file after a change. */
function markOf({ mode, size, ctimeMs, ino }: Stats): FileState {
  return `u ${mode.toString(8)}:${size}:${ctimeMs}:${ino}`;
}
