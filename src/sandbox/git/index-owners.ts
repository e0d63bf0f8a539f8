import { createHash } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  futimesSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { setImmediate as letOthersRun } from 'node:timers/promises';
import { namesIn } from '../../core/directory-entries.ts';
import { isErrno } from '../../core/errors.ts';
import { exactStatAt, fdPath, openPlace, readOwnFile, readSmallFile } from '../../fs/file-access.ts';
import { nameOf, parentOf, type RawPath } from '../../fs/raw-path.ts';
import { parseGitConfig } from '../../guard/git/config.ts';
import { follow, objectFormatOf } from '../../guard/git/git-dir.ts';
import { type HashBytes, visitEntries } from '../../guard/git/index-file.ts';
import { type Identity, idsInside, idsOutside, OVERFLOW_ID } from '../machine/identity.ts';

const INDEX_MAX_BYTES = 128 * 1024 * 1024;
const CONFIG_MAX_BYTES = 1024 * 1024;
/** Characters of the paths that are remembered for one index. One with more is not corrected. */
const PATHS_MAX_CHARS = 64 * 1024 * 1024;
const WORKTREES_MAX = 64;
/** Files that are looked at before other work of the process has its turn. */
const BATCH = 1_000;
/** Indexes whose state is remembered. */
const KNOWN_MAX = 256;

/** Places in an entry of an index, in bytes (Documentation/gitformat-index.txt). */
const [CTIME, MTIME, INODE, UID, GID, SIZE] = [0, 8, 20, 28, 32, 36];

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;

/**
 * Corrects the owners in indexes that git wrote inside. An index holds the owner of each file as git saw it; if a command
 * sees other ids than the host (root's commands, and files of groups that the namespace does not have), git of the host
 * would take every file that git inside wrote for changed.
 *
 * An entry is corrected only if its inode, size and times are those of the file, so that a change is never hidden.
 */
export class IndexOwners {
  /** Index → its state when nothing in it was to be corrected. */
  readonly #known = new Map<RawPath, string>();

  /** Corrects the indexes of a repository and its worktrees. One that cannot be read or replaced stays as it is. */
  async correct(gitDir: RawPath, identity: Identity): Promise<void> {
    try {
      for (const { index, worktree } of indexesOf(gitDir)) await this.#correct(index, worktree, identity);
    } catch (cause) {
      if (!isErrno(cause)) throw cause;
    }
  }

  async #correct(index: RawPath, worktree: RawPath, identity: Identity): Promise<void> {
    const stats = exactStatAt(index);
    if (stats === null || this.#known.get(index) === stateOf(stats)) return;
    if (!(await correctIndex(index, worktree, identity))) return;
    const after = exactStatAt(index);
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    if (after !== null) this.#known.set(index, stateOf(after));
  }
}

interface Index {
  readonly index: RawPath;
  /** The directory that the paths in it begin from. */
  readonly worktree: RawPath;
}

function indexesOf(gitDir: RawPath): Index[] {
  const main = nameOf(gitDir) === '.git' ? parentOf(gitDir) : configuredWorktree(gitDir);
  const others = namesIn(`${gitDir}/worktrees`)
    .slice(0, WORKTREES_MAX)
    .flatMap((name): Index[] => {
      const dir = `${gitDir}/worktrees/${name}`;
      const link = readSmallFile(`${dir}/gitdir`, CONFIG_MAX_BYTES)?.trimEnd();
      const lead = link === undefined ? null : follow(dir, link);
      return lead === null ? [] : [{ index: `${dir}/index`, worktree: parentOf(lead.target) }];
    });
  return [...(main === null ? [] : [{ index: `${gitDir}/index`, worktree: main }]), ...others];
}

/** The worktree that a submodule's configuration names. */
function configuredWorktree(gitDir: RawPath): RawPath | null {
  const entries = parseGitConfig(readSmallFile(`${gitDir}/config`, CONFIG_MAX_BYTES) ?? '') ?? [];
  const named = entries.findLast(({ key }) => key === 'core.worktree')?.value;
  return typeof named === 'string' ? (follow(gitDir, named)?.target ?? null) : null;
}

function stateOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}

/** Returns false if another git changed the index meanwhile: it has its turn after the next command. */
async function correctIndex(index: RawPath, worktree: RawPath, identity: Identity): Promise<boolean> {
  const before = exactStatAt(index);
  const content = readOwnFile(index, INDEX_MAX_BYTES);
  const corrected = content === null ? null : await withOwners(content, worktree, identity, hashBytesOf(index));
  if (before === null || corrected === null) return true;
  const place = openPlace(parentOf(index));
  if (place === null) return false;
  try {
    return replace(fdPath(place), nameOf(index), before, corrected);
  } finally {
    closeSync(place);
  }
}

function hashBytesOf(index: RawPath): HashBytes {
  return objectFormatOf(parentOf(index)) === 'sha256' ? 32 : 20;
}

/** The index with the owners of the host; null if there is nothing to correct, or git would not accept it. */
async function withOwners(
  content: Buffer,
  worktree: RawPath,
  identity: Identity,
  hashBytes: HashBytes,
): Promise<Buffer | null> {
  const [inside, outside] = [idsInside(identity), idsOutside(identity)];
  const suspects: { readonly at: number; readonly path: string }[] = [];
  let room = PATHS_MAX_CHARS;
  const isSound = visitEntries(content, hashBytes, (at, path) => {
    const [uid, gid] = [content.readUInt32BE(at + UID), content.readUInt32BE(at + GID)];
    if (!isOfInside(uid, inside.uid, outside.uid) && !isOfInside(gid, inside.gid, outside.gid)) return;
    room -= path.length;
    if (room >= 0) suspects.push({ at, path });
  });
  if (!isSound || room < 0 || suspects.length === 0 || !hasValidSum(content, hashBytes)) return null;
  const corrected = Buffer.from(content);
  let isChanged = false;
  for (const [i, { at, path }] of suspects.entries()) {
    if (i % BATCH === BATCH - 1) await letOthersRun();
    const stats = statOrNull(`${worktree}/${path}`);
    if (stats === null || !isRecorded(corrected, at, stats)) continue;
    corrected.writeUInt32BE(toWord(stats.uid), at + UID);
    corrected.writeUInt32BE(toWord(stats.gid), at + GID);
    isChanged = true;
  }
  if (!isChanged || corrected.equals(content)) return null;
  writeSum(corrected, hashBytes);
  return corrected;
}

/** Null also behind a directory that is closed. */
function statOrNull(path: RawPath): BigIntStats | null {
  try {
    return exactStatAt(path);
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}

function isOfInside(id: number, inside: number, outside: number): boolean {
  return id === OVERFLOW_ID || (id === inside && id !== outside);
}

function isRecorded(index: Buffer, at: number, { ctimeNs, mtimeNs, ino, size }: BigIntStats): boolean {
  const hasTime = (place: number, ns: bigint): boolean =>
    index.readUInt32BE(at + place) === toWord(ns / SECOND_NS) &&
    index.readUInt32BE(at + place + 4) === toWord(ns % SECOND_NS);
  const hasNumber = (place: number, value: bigint): boolean => index.readUInt32BE(at + place) === toWord(value);
  return hasTime(CTIME, ctimeNs) && hasTime(MTIME, mtimeNs) && hasNumber(INODE, ino) && hasNumber(SIZE, size);
}

const SECOND_NS = 1_000_000_000n;

/** git stores the last 32 bits. */
function toWord(value: bigint): number {
  return Number(BigInt.asUintN(32, value));
}

/** With `index.skipHash`, zeros are in the place of the sum. */
function hasValidSum(index: Buffer, hashBytes: HashBytes): boolean {
  const sum = index.subarray(-hashBytes);
  return sum.equals(Buffer.alloc(hashBytes)) || sum.equals(sumOf(index, hashBytes));
}

function writeSum(index: Buffer, hashBytes: HashBytes): void {
  const sum = index.subarray(-hashBytes);
  if (!sum.equals(Buffer.alloc(hashBytes))) sumOf(index, hashBytes).copy(sum);
}

function sumOf(index: Buffer, hashBytes: HashBytes): Buffer {
  return createHash(hashBytes === 32 ? 'sha256' : 'sha1')
    .update(index.subarray(0, -hashBytes))
    .digest();
}

/**
 * Replaces the index as git does and returns true, if it is still the one that was read. It keeps its time: git rereads a
 * file that was changed in the second in which the index was written.
 */
function replace(dir: string, name: string, before: BigIntStats, content: Buffer): boolean {
  const lock = `${dir}/${name}.lock`;
  const fd = openSync(lock, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  let isReplaced = false;
  try {
    const now = exactStatAt(`${dir}/${name}`);
    if (now === null || stateOf(now) !== stateOf(before)) return false;
    if (process.getuid?.() === 0) fchownSync(fd, Number(before.uid), Number(before.gid));
    fchmodSync(fd, Number(before.mode) & 0o777);
    if (writeSync(fd, content) !== content.length) return false;
    const seconds = Math.floor(Number(before.mtimeNs / 1_000_000n)) / 1_000;
    futimesSync(fd, seconds, seconds);
    renameSync(lock, `${dir}/${name}`);
    isReplaced = true;
    return true;
  } finally {
    closeSync(fd);
    if (!isReplaced) rmSync(lock, { force: true });
  }
}
