import { isUtf8 } from 'node:buffer';
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
import { fdPath, openPlace } from '../../fs/file-access.ts';
import { nameOf, parentOf, type RawPath, toSystem } from '../../fs/raw-path.ts';
import type { ContentKind } from '../contract/quarantine.ts';

/** How much one hash may cover: bytes of all files, and names. */
export interface HashLimits {
  readonly bytes: number;
  readonly entries: number;
}
const LIMITS: HashLimits = { bytes: 64 * 1024 * 1024, entries: 10_000 };
/** Depth of nested directories that one hash may cover. */
const DEPTH_MAX = 64;
const CHUNK_BYTES = 256 * 1024;
const PREVIEW_LINES_MAX = 40;
const PREVIEW_MAX_BYTES = 8 * 1024;

const TOO_LARGE = 'it is more than 64 MiB or 10,000 names, or too deep';
const CHANGING = 'it changed while it was read';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

export interface Content {
  readonly kind: ContentKind;
  /** Null if they were not counted. */
  readonly sizeBytes: number | null;
  readonly sha256: string | null;
  readonly noHashBecause: string | null;
  readonly preview: string | null;
  /** How many bytes and names were read for the hash. */
  readonly cost: { readonly bytes: number; readonly entries: number };
}

/**
 * SHA-256 of the content at `path`: for a file, its bytes and whether it is executable; for a link, its text; for a
 * directory, its names with the hash of each. Returns null if nothing is there, if it is more than 64 MiB or 10,000 names,
 * or if a file in it has a second name (a hard link), through which it could be changed. Follows no link and reads through
 * descriptors, so that no part of the path can be swapped meanwhile.
 */
export function contentHash(path: RawPath): string | null {
  return examine(path, () => {})?.sha256 ?? null;
}

/**
 * Whether everything in `copy` is in `original` too, under the same name and with the same content; `original` may hold more.
 * A link in a copy may lead to another place than the original's, so a copy may only hold links of which `mayHold` approves:
 * it gets the path of the link in the copy, without the copy's own name, and the text.
 */
export function isPartOf(
  copy: RawPath,
  original: RawPath,
  mayHold: (inside: string, text: string) => boolean,
): boolean {
  const names = new Set<string>();
  const reader = new ContentReader(() => {}, {
    takes: (inside) => names.add(inside).size > 0,
    mayHold,
  });
  const sha256 = hashWith(reader, copy);
  if (sha256 === null) return false;
  // Only what the copy has is read of the original.
  const same = new ContentReader(() => {}, { takes: (inside) => names.has(inside), mayHold: () => true });
  return sha256 === hashWith(same, original);
}

function hashWith(reader: ContentReader, path: RawPath): string | null {
  return examineWith(reader, path)?.sha256 ?? null;
}

/**
 * The content at `path`; null if nothing is there. Calls `pause` after each chunk, so that others need not wait. `limits`:
 * default 64 MiB and 10,000 names.
 */
export function examine(path: RawPath, pause: () => void, limits = LIMITS): Content | null {
  return examineWith(new ContentReader(pause, ALL, limits), path);
}

function examineWith(reader: ContentReader, path: RawPath): Content | null {
  try {
    const place = openPlace(parentOf(path));
    if (place === null) return null;
    try {
      return reader.read(place, nameOf(path));
    } finally {
      closeSync(place);
    }
  } catch (cause) {
    if (isErrno(cause, 'ENOENT')) return null;
    if (!isErrno(cause, 'EACCES', 'EPERM')) throw cause;
    return reader.unhashable('other', 'it cannot be read');
  }
}

/** Thrown with the reason why some content has no hash. */
class NoHash extends Error {}

/** What counts of a directory. Paths are below what is hashed; a link that may not be held leaves no hash. */
interface Selection {
  takes(inside: string): boolean;
  mayHold(inside: string, text: string): boolean;
}
const ALL: Selection = { takes: () => true, mayHold: () => true };

class ContentReader {
  readonly #pause: () => void;
  readonly #selection: Selection;
  readonly #limits: HashLimits;
  readonly #preview = new Preview();
  #bytes = 0;
  #entries = 0;

  constructor(pause: () => void, selection = ALL, limits = LIMITS) {
    this.#pause = pause;
    this.#selection = selection;
    this.#limits = limits;
  }

  read(place: number, name: string): Content | null {
    const stats = statIn(place, name);
    if (stats === null) return null;
    const kind = kindOf(stats);
    try {
      const sha256 = this.#hash(place, name, stats, 0, '');
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

  /** `inside`: the path below what is hashed. */
  #hash(place: number, name: string, stats: Stats, depth: number, inside: string): string {
    switch (kindOf(stats)) {
      case 'link':
        return this.#hashLink(place, name, depth, inside);
      case 'file':
        return this.#hashFile(place, name, stats, depth);
      case 'directory':
        return this.#hashDirectory(place, name, stats, depth, inside);
      case 'other':
        throw new NoHash('it is, or holds, neither a file, a directory nor a link');
    }
  }

  #hashLink(place: number, name: string, depth: number, inside: string): string {
    const text = readlinkSync(inPlace(place, name), 'buffer');
    if (!this.#selection.mayHold(inside, text.toString('latin1'))) throw new NoHash('a link in it leads elsewhere');
    this.#count(text.length);
    if (depth === 0) this.#preview.addLink(text);
    return createHash('sha256').update('link\0').update(text).digest('hex');
  }

  #hashFile(place: number, name: string, stats: Stats, depth: number): string {
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
        this.#pause();
      }
      if (fstatSync(fd).ctimeMs !== before.ctimeMs) throw new NoHash(CHANGING);
      return hash.digest('hex');
    } finally {
      closeSync(fd);
    }
  }

  #hashDirectory(place: number, name: string, stats: Stats, depth: number, inside: string): string {
    if (depth === DEPTH_MAX) throw new NoHash(TOO_LARGE);
    const fd = openSync(inPlace(place, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const hash = createHash('sha256').update(`directory ${modeOf(checkSame(fd, stats))}\0`);
      for (const entry of this.#namesIn(fd)) {
        const path = inside === '' ? entry : `${inside}/${entry}`;
        if (!this.#selection.takes(path)) continue;
        const own = statIn(fd, entry);
        if (own === null) throw new NoHash(CHANGING);
        if (own.dev !== stats.dev) throw new NoHash('something is mounted in it');
        if (depth === 0) this.#preview.addName(entry, own.isDirectory());
        hash.update(entry, 'latin1').update(`\0${this.#hash(fd, entry, own, depth + 1, path)}`);
      }
      return hash.digest('hex');
    } finally {
      closeSync(fd);
    }
  }

  /** Sorted by their bytes. */
  #namesIn(fd: number): string[] {
    const dir = opendirSync(fdPath(fd), { encoding: 'latin1' });
    try {
      const names: string[] = [];
      for (let entry = dir.readSync(); entry !== null; entry = dir.readSync()) {
        if (++this.#entries > this.#limits.entries) throw new NoHash(TOO_LARGE);
        names.push(entry.name);
        this.#pause();
      }
      return names.sort();
    } finally {
      dir.closeSync();
    }
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#limits.bytes) throw new NoHash(TOO_LARGE);
  }
}

function statIn(place: number, name: string): Stats | null {
  return lstatSync(inPlace(place, name), { throwIfNoEntry: false }) ?? null;
}

/** Throws unless the open file is the one that `stats` was taken of. */
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

/** The beginning of some content for a person to read, taken from the same bytes as the hash. */
class Preview {
  readonly #bytes: Buffer[] = [];
  #kept = 0;
  #isCut = false;
  readonly #names: string[] = [];
  #link: string | null = null;

  addBytes(bytes: Buffer): void {
    const part = bytes.subarray(0, PREVIEW_MAX_BYTES - this.#kept);
    if (part.length < bytes.length) this.#isCut = true;
    if (part.length === 0) return;
    this.#bytes.push(Buffer.from(part));
    this.#kept += part.length;
  }

  addName(name: string, isDirectory: boolean): void {
    if (this.#names.length > PREVIEW_LINES_MAX) return;
    this.#names.push(`${Buffer.from(name, 'latin1').toString()}${isDirectory ? '/' : ''}`);
  }

  addLink(text: Buffer): void {
    this.#link = text.toString();
  }

  /** Null if there is nothing, or bytes that are not text. */
  text(): string | null {
    if (this.#link !== null) return `-> ${this.#link}`;
    if (this.#names.length > 0) return firstLines(this.#names, false);
    const bytes = Buffer.concat(this.#bytes);
    const whole = this.#isCut ? withoutTornCharacter(bytes) : bytes;
    if (whole.length === 0 || whole.includes(0) || !isUtf8(whole)) return null;
    return firstLines(whole.toString().replace(/\n$/, '').split('\n'), this.#isCut);
  }
}

function firstLines(lines: readonly string[], isCut: boolean): string {
  const hasMore = isCut || lines.length > PREVIEW_LINES_MAX;
  return [...lines.slice(0, PREVIEW_LINES_MAX), ...(hasMore ? ['…'] : [])].join('\n');
}

/** UTF-8 up to the last complete character. */
function withoutTornCharacter(bytes: Buffer): Buffer {
  for (let end = bytes.length; end > bytes.length - 4 && end > 0; end--) {
    if (isUtf8(bytes.subarray(0, end))) return bytes.subarray(0, end);
  }
  return bytes;
}
