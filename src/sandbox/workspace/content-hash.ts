import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readlinkSync,
  readSync,
  type Stats,
} from 'node:fs';
import { isErrno } from '../../core/errors.ts';
import type { ContentKind } from '../quarantine.ts';
import { Preview } from './content-preview.ts';
import { fdPath, openPlace } from './inode.ts';
import { nameOf, parentOf, type RawPath, toSystem } from './raw-path.ts';

/** Bytes of all files that one hash may cover. */
const BYTES_MAX = 64 * 1024 * 1024;
/** Names that one hash may cover. */
const ENTRIES_MAX = 10_000;
/** Directories inside one another. */
const DEPTH_MAX = 64;
const CHUNK_BYTES = 256 * 1024;

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

export interface Content {
  readonly kind: ContentKind;
  /** Null if they were not counted. */
  readonly sizeBytes: number | null;
  readonly sha256: string | null;
  readonly noHashBecause: string | null;
  readonly preview: string | null;
  /** What the hash cost: bytes and names that were read. */
  readonly cost: { readonly bytes: number; readonly entries: number };
}

/**
 * SHA-256 of what is at `path`: of a file its bytes and whether it can be executed, of a link its text, of a directory the
 * names in it with the hash of each. Null if nothing is there, if it is more than 64 MiB or 10,000 names, and if a file in
 * it has a second name (a hard link), through which it could be changed. Follows no link and reads through descriptors, so
 * that nobody can exchange a part of the path.
 */
export function contentHash(path: RawPath): string | null {
  const steps = examine(path);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value?.sha256 ?? null;
  }
}

/** What is at `path`; null if nothing is. Stops after each piece, so that others can go on meanwhile. */
export function* examine(path: RawPath): Generator<void, Content | null> {
  const reader = new ContentReader();
  try {
    const place = openPlace(parentOf(path));
    if (place === null) return null;
    try {
      return yield* reader.read(place, nameOf(path));
    } finally {
      closeSync(place);
    }
  } catch (cause) {
    if (isErrno(cause, 'ENOENT')) return null;
    if (!isErrno(cause, 'EACCES', 'EPERM')) throw cause;
    return reader.unhashable('other', 'it cannot be read');
  }
}

/** Why something has no hash. */
class NoHash extends Error {}

class ContentReader {
  readonly #preview = new Preview();
  #bytes = 0;
  #entries = 0;

  *read(place: number, name: string): Generator<void, Content | null> {
    const stats = statIn(place, name);
    if (stats === null) return null;
    const kind = kindOf(stats);
    try {
      const sha256 = yield* this.#hash(place, name, stats, 0);
      const preview = this.#preview.text();
      return { kind, sizeBytes: this.#bytes, sha256, noHashBecause: null, preview, cost: this.#cost() };
    } catch (cause) {
      if (cause instanceof NoHash) return this.unhashable(kind, cause.message, kind === 'file' ? stats.size : null);
      if (isErrno(cause, 'EACCES', 'EPERM')) return this.unhashable(kind, 'it cannot be read');
      if (isErrno(cause, 'ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO')) return this.unhashable(kind, CHANGING);
      throw cause;
    }
  }

  unhashable(kind: ContentKind, noHashBecause: string, sizeBytes: number | null = null): Content {
    return { kind, sizeBytes, sha256: null, noHashBecause, preview: this.#preview.text(), cost: this.#cost() };
  }

  #cost(): Content['cost'] {
    return { bytes: this.#bytes, entries: this.#entries };
  }

  *#hash(place: number, name: string, stats: Stats, depth: number): Generator<void, string> {
    switch (kindOf(stats)) {
      case 'link':
        return this.#hashLink(place, name, depth);
      case 'file':
        return yield* this.#hashFile(place, name, stats, depth);
      case 'directory':
        return yield* this.#hashDirectory(place, name, stats, depth);
      case 'other':
        throw new NoHash('it is, or holds, neither a file, a directory nor a link');
    }
  }

  #hashLink(place: number, name: string, depth: number): string {
    const text = readlinkSync(inPlace(place, name), 'buffer');
    this.#count(text.length);
    if (depth === 0) this.#preview.addLink(text);
    return createHash('sha256').update('link\0').update(text).digest('hex');
  }

  *#hashFile(place: number, name: string, stats: Stats, depth: number): Generator<void, string> {
    const fd = openSync(inPlace(place, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const before = checkSame(fd, stats);
      if (before.nlink !== 1)
        throw new NoHash('a file in it has a second name (a hard link), through which it can change');
      const hash = createHash('sha256').update(`file ${modeOf(before)}\0`);
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, before.size + 1));
      for (let length = readSync(fd, chunk); length > 0; length = readSync(fd, chunk)) {
        this.#count(length);
        hash.update(chunk.subarray(0, length));
        if (depth === 0) this.#preview.addBytes(chunk.subarray(0, length));
        yield;
      }
      if (fstatSync(fd).ctimeMs !== before.ctimeMs) throw new NoHash(CHANGING);
      return hash.digest('hex');
    } finally {
      closeSync(fd);
    }
  }

  *#hashDirectory(place: number, name: string, stats: Stats, depth: number): Generator<void, string> {
    if (depth === DEPTH_MAX) throw new NoHash(TOO_LARGE);
    const fd = openSync(inPlace(place, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const hash = createHash('sha256').update(`directory ${modeOf(checkSame(fd, stats))}\0`);
      for (const entry of yield* this.#namesIn(fd)) {
        const own = statIn(fd, entry);
        if (own === null) throw new NoHash(CHANGING);
        if (own.dev !== stats.dev) throw new NoHash('something is mounted in it');
        if (depth === 0) this.#preview.addName(entry, own.isDirectory());
        hash.update(entry, 'latin1').update(`\0${yield* this.#hash(fd, entry, own, depth + 1)}`);
      }
      return hash.digest('hex');
    } finally {
      closeSync(fd);
    }
  }

  /** In the order of their bytes. */
  *#namesIn(fd: number): Generator<void, string[]> {
    const dir = opendirSync(fdPath(fd), { encoding: 'latin1' });
    try {
      const names: string[] = [];
      for (let entry = dir.readSync(); entry !== null; entry = dir.readSync()) {
        if (++this.#entries > ENTRIES_MAX) throw new NoHash(TOO_LARGE);
        names.push(entry.name);
      }
      yield;
      return names.sort();
    } finally {
      dir.closeSync();
    }
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > BYTES_MAX) throw new NoHash(TOO_LARGE);
  }
}

const TOO_LARGE = 'it is more than 64 MiB or 10,000 names, or too deep';
const CHANGING = 'it changed while it was read';

function statIn(place: number, name: string): Stats | null {
  return lstatSync(inPlace(place, name), { throwIfNoEntry: false }) ?? null;
}

/** Throws unless the open file is the one that was looked at. */
function checkSame(fd: number, stats: Stats): Stats {
  const opened = fstatSync(fd);
  if (opened.ino !== stats.ino || opened.dev !== stats.dev) throw new NoHash(CHANGING);
  return opened;
}

function kindOf(stats: Stats): ContentKind {
  if (stats.isSymbolicLink()) return 'link';
  if (stats.isDirectory()) return 'directory';
  return stats.isFile() ? 'file' : 'other';
}

/** Whether anyone can execute it, and the set-id and sticky bits: the umask of a run must not change a hash. */
function modeOf({ mode }: Stats): string {
  return `${(mode & 0o111) === 0 ? '-' : 'x'}${(mode & 0o7000).toString(8)}`;
}

function inPlace(place: number, name: string): string | Buffer {
  return toSystem(`${fdPath(place)}/${name}`);
}
