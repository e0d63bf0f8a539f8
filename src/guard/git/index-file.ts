import { isIndexedPath } from './names.ts';

/** git's index format: Documentation/gitformat-index.txt. Sizes in bytes. */
const HEADER = 12;
const STAT_DATA = 40;
const MODE_AT = 24;
const EXTENSION_HEADER = 8;
const EXTENDED = 0x4000;
const NAME_LENGTH = 0x0fff;
const SPARSE_DIRECTORY = 0o40000;
/** Extensions that change what git reads, which begin with a small letter: of a split and of a sparse index. */
const REQUIRED = new Set(['link', 'sdir']);

/**
 * Bytes of all names for each byte of the index. Version 4 shares the beginning of a name with the one before it, so a small
 * index can stand for any amount of text; git's own are a few times longer than their file.
 */
const EXPANSION_MAX = 8;
const EXPANSION_FREE_BYTES = 64 * 1024;

/** Bytes of an object id. */
export type HashBytes = 20 | 32;

/** A part of an index that git would not have written. */
class Unsound extends Error {}

interface Entries {
  /** Where each entry begins. */
  readonly starts: Uint32Array;
  /** Where the extensions begin. */
  readonly end: number;
  /** In a split index, an entry that replaces one of the shared index has no name. */
  readonly hasNameless: boolean;
}

/**
 * Whether an index, or the shared part of a split one, has the form that git writes and holds only paths that git accepts.
 * git checks paths when it adds them but not when it reads an index: with `../x` or `.git/hooks/x` in it, `git checkout .`
 * writes there and `git commit -a` reads there.
 *
 * The offsets at the end, with which git reads a large index in several threads, must lead to the same entries.
 */
export function isSoundIndex(index: Buffer, hashBytes: HashBytes): boolean {
  try {
    const end = index.length - hashBytes;
    const entries = readEntries(index, end, hashBytes);
    const isSplit = checkExtensions(index, end, hashBytes, entries);
    return isSplit || !entries.hasNameless;
  } catch (cause) {
    if (cause instanceof Unsound || cause instanceof RangeError) return false;
    throw cause;
  }
}

/** Calls `visit` with the place and the path of each entry. Returns false if they do not have the form that git writes. */
export function visitEntries(index: Buffer, hashBytes: HashBytes, visit: Visit): boolean {
  try {
    readEntries(index, index.length - hashBytes, hashBytes, visit);
    return true;
  } catch (cause) {
    if (cause instanceof Unsound || cause instanceof RangeError) return false;
    throw cause;
  }
}

/** `path`: one character per byte. */
type Visit = (at: number, path: string) => void;

function readEntries(index: Buffer, end: number, hashBytes: HashBytes, visit: Visit = () => {}): Entries {
  const version = index.readUInt32BE(4);
  const count = index.readUInt32BE(8);
  check(index.toString('latin1', 0, 4) === 'DIRC' && version >= 2 && version <= 4);
  check(HEADER + count * (STAT_DATA + hashBytes) <= end);
  const starts = new Uint32Array(count);
  let at = HEADER;
  let name = '';
  let hasNameless = false;
  let left = EXPANSION_MAX * index.length + EXPANSION_FREE_BYTES;
  for (let i = 0; i < count; i++) {
    starts[i] = at;
    const flags = index.readUInt16BE(at + STAT_DATA + hashBytes);
    const isExtended = (flags & EXTENDED) !== 0;
    check(!isExtended || version >= 3);
    let nameAt = at + STAT_DATA + hashBytes + (isExtended ? 4 : 2);
    let kept = '';
    if (version === 4) {
      const { value, next } = readVarint(index, nameAt);
      check(value <= name.length);
      kept = name.slice(0, name.length - value);
      nameAt = next;
    }
    const nul = index.indexOf(0, nameAt);
    check(nul >= 0 && nul < end);
    left -= kept.length + nul - nameAt;
    check(left >= 0);
    name = kept + index.toString('latin1', nameAt, nul);
    check((flags & NAME_LENGTH) === Math.min(name.length, NAME_LENGTH));
    const mode = index.readUInt32BE(at + MODE_AT);
    const path = mode === SPARSE_DIRECTORY ? name.replace(/\/$/, '') : name;
    hasNameless ||= name === '';
    visit(at, name);
    check(name === '' || isIndexedPath(path));
    // The end of a name is padded with one to eight NULs, except in version 4.
    at = version === 4 ? nul + 1 : at + ((nul - at + 8) & ~7);
    check(at <= end);
  }
  return { starts, end: at, hasNameless };
}

/** Returns whether the index is split. */
function checkExtensions(index: Buffer, end: number, hashBytes: HashBytes, entries: Entries): boolean {
  const found: { readonly name: string; readonly at: number }[] = [];
  let at = entries.end;
  while (at < end) {
    const name = index.toString('latin1', at, at + 4);
    const size = index.readUInt32BE(at + 4);
    check((name >= 'A' && name < '[') || REQUIRED.has(name));
    check(at + EXTENSION_HEADER + size <= end);
    const data = index.subarray(at + EXTENSION_HEADER, at + EXTENSION_HEADER + size);
    if (name === 'IEOT') checkOffsets(data, entries.starts);
    if (name === 'EOIE') check(data.length === 4 + hashBytes && data.readUInt32BE(0) === entries.end);
    found.push({ name, at });
    at += EXTENSION_HEADER + size;
  }
  // git looks for this extension at a fixed distance from the end, whatever it is there.
  const endsAt = end - (EXTENSION_HEADER + 4 + hashBytes);
  const isThere = endsAt >= 0 && index.toString('latin1', endsAt, endsAt + 4) === 'EOIE';
  check(!isThere || found.some(({ name, at }) => name === 'EOIE' && at === endsAt));
  return found.some(({ name }) => name === 'link');
}

/** The blocks that threads read, each an offset and a number of entries, must be the entries in their order. */
function checkOffsets(data: Buffer, starts: Uint32Array): void {
  check(data.readUInt32BE(0) === 1 && (data.length - 4) % 8 === 0);
  let read = 0;
  for (let at = 4; at < data.length; at += 8) {
    check(data.readUInt32BE(at) === starts[read]);
    read += data.readUInt32BE(at + 4);
  }
  check(read === starts.length);
}

/** git's varint.c. */
function readVarint(index: Buffer, at: number): { value: number; next: number } {
  let next = at;
  let byte = index.readUInt8(next++);
  let value = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    byte = index.readUInt8(next++);
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, next };
}

function check(isAsGitWrites: boolean): asserts isAsGitWrites {
  if (!isAsGitWrites) throw new Unsound();
}
