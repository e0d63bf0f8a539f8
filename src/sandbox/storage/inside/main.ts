import {
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs';
import type { KeeperReply, KeeperRequest } from '../keeper.ts';

/*
 * Measures, trims and empties the storage of a project or session. It runs in a sandbox as the user who wrote the files,
 * with nothing else mounted, so that no name, link or race in them can lead it anywhere. It is one file without imports
 * of ours. Paths are in latin1: one character for each byte of any name.
 */

/** What the kernel uses for a file besides its content: an inode and a directory entry. */
const ENTRY_BYTES = 1024;
const BLOCK_BYTES = 512;
/** Below the system's limit on the bytes of a path, with room for one more name. */
const PATH_MAX_BYTES = process.platform === 'linux' ? 3_500 : 700;
/** How far below its maximum a storage is trimmed, so that not every call trims. */
const TRIM_TO = 0.8;

interface Sum {
  bytes: number;
  /** Milliseconds since the epoch at which the newest file was written or read. */
  usedMs: number;
}

function main(): void {
  const [place = '', json = '{}'] = process.argv.slice(2);
  const root = Buffer.from(place).toString('latin1');
  const request: KeeperRequest = JSON.parse(json);
  // It has begun: see KeeperFailure.
  writeSync(1, '\n');
  writeSync(1, JSON.stringify(carryOut(root, request)));
}

function carryOut(root: string, request: KeeperRequest): KeeperReply {
  switch (request.do) {
    case 'measure':
      return { bytes: measure(root).bytes, dropped: [] };
    case 'empty':
      makeUsable(root);
      for (const name of namesIn(root)) empty(root, join(root, name), request.keep.includes(name));
      return { bytes: measure(root).bytes, dropped: [] };
    case 'trim':
      return trim(root, request);
  }
}

/** A directory that is kept is a mount point or the target of a link. */
function empty(root: string, path: string, isKept: boolean): void {
  const isEmptied = isKept && isDirectory(path);
  if (isEmptied) makeUsable(path);
  for (const one of isEmptied ? namesIn(path).map((name) => join(path, name)) : [path]) remove(root, one);
}

interface Candidate extends Sum {
  readonly path: string;
  readonly isDirectory: boolean;
}

/** Drops what was not used for longest until the rest is well below the maximum. */
function trim(root: string, { maxBytes, shared, loose }: KeeperRequest & { do: 'trim' }): KeeperReply {
  const total = measure(root).bytes;
  if (total <= maxBytes) return { bytes: total, dropped: [] };
  makeUsable(root);
  const own = (path: string): string => path.slice(root.length + 1);
  const spread = (path: string): Candidate[] => {
    if (isDirectory(path) && loose.includes(own(path))) return filesBelow(path);
    if (isDirectory(path) && shared.includes(own(path)))
      return namesIn(path).flatMap((name) => spread(join(path, name)));
    return [{ ...measure(path), path, isDirectory: isDirectory(path) }];
  };
  const candidates = namesIn(root).flatMap((name) => spread(join(root, name)));
  const dropped = new Set<string>();
  let left = total;
  for (const { path, bytes, isDirectory } of candidates.sort((a, b) => a.usedMs - b.usedMs)) {
    if (left <= maxBytes * TRIM_TO) break;
    makeUsable(dirname(path));
    if (isDirectory) drop(root, path);
    else remove(root, path);
    left -= bytes;
    dropped.add(own(path).split('/').slice(0, 2).join('/'));
  }
  return { bytes: measure(root).bytes, dropped: [...dropped].slice(0, 20) };
}

/** In one step for every other process: what uses the directory meanwhile finds it empty, not half there. */
function drop(root: string, path: string): void {
  const aside = setAside(root, path);
  makeDirectory(path);
  remove(root, aside);
}

let lastAside = 0;

/** Moves a directory to the root. Needs write permission on it, because its `..` changes. */
function setAside(root: string, path: string): string {
  makeUsable(path);
  for (;;) {
    lastAside += 1;
    const aside = join(root, `.dropped-${process.pid}-${lastAside}`);
    try {
      renameSync(raw(path), raw(aside));
      return aside;
    } catch (cause) {
      if (codeOf(cause) !== 'ENOTEMPTY' && codeOf(cause) !== 'EEXIST') throw cause;
    }
  }
}

/** Removes anything. A directory too deep for a path is first moved to the root. */
function remove(root: string, path: string): void {
  const stack = [path];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    if (!isDirectory(top)) {
      tolerate(() => unlinkSync(raw(top)), 'ENOENT');
      stack.pop();
    } else if (tryRemove(top)) {
      stack.pop();
    } else {
      makeUsable(top);
      for (const name of namesIn(top)) stack.push(shortened(root, join(top, name)));
    }
  }
}

function shortened(root: string, path: string): string {
  return path.length > PATH_MAX_BYTES && isDirectory(path) ? setAside(root, path) : path;
}

/** False if the directory is not empty. */
function tryRemove(path: string): boolean {
  try {
    rmdirSync(raw(path));
    return true;
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return true;
    if (codeOf(cause) === 'ENOTEMPTY' || codeOf(cause) === 'EEXIST') return false;
    throw cause;
  }
}

/** Everything at and below a path. A file with several names counts once. */
function measure(path: string): Sum {
  const seen = new Set<number>();
  const sum: Sum = { bytes: 0, usedMs: 0 };
  walk(path, (_, stats) => {
    if (stats.nlink > 1 && !stats.isDirectory()) {
      if (seen.has(stats.ino)) return;
      seen.add(stats.ino);
    }
    sum.bytes += sizeOf(stats);
    if (!stats.isDirectory()) sum.usedMs = Math.max(sum.usedMs, lastUseOf(stats));
  });
  return sum;
}

/** Files deeper than a path can be long are left out. */
function filesBelow(path: string): Candidate[] {
  const files: Candidate[] = [];
  walk(path, (file, stats) => {
    const isOwn = file.startsWith(`${path}/`);
    if (!isOwn || stats.isDirectory()) return;
    files.push({ path: file, isDirectory: false, bytes: sizeOf(stats), usedMs: lastUseOf(stats) });
  });
  return files;
}

/**
 * Visits a path and everything below it. A directory whose path becomes too long is opened, and its descriptor's path
 * continues in place of its own.
 */
function walk(path: string, visit: (path: string, stats: Stats) => void): void {
  const root = statOf(path);
  if (root === null) return;
  visit(path, root);
  if (!root.isDirectory()) return;
  const stack = [enter(path, root)];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const name = top.names.pop();
    if (name === undefined) {
      leave(top);
      stack.pop();
      continue;
    }
    const child = join(top.path, name);
    const stats = statOf(child);
    if (stats === null) continue;
    visit(child, stats);
    if (stats.isDirectory()) stack.push(enter(child, stats));
  }
}

interface Entered {
  readonly path: string;
  readonly names: string[];
  readonly fd: number | null;
  /** The mode that it gets back; null if it was open. */
  readonly closedMode: number | null;
}

function enter(path: string, { mode }: Stats): Entered {
  const names = namesIn(path);
  const closedMode = (mode & SEARCH) === SEARCH ? null : mode & 0o777;
  if (path.length <= PATH_MAX_BYTES) return { path, names, fd: null, closedMode };
  if (process.platform !== 'linux') throw new Error('a directory lies too deep');
  const fd = openSync(raw(path), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  return { path: `/proc/self/fd/${fd}`, names, fd, closedMode };
}

function leave({ path, fd, closedMode }: Entered): void {
  if (closedMode !== null) tolerate(() => chmodSync(raw(path), closedMode), 'ENOENT');
  if (fd !== null) closeSync(fd);
}

/** What the owner needs to list a directory, and to change it. */
const SEARCH = 0o500;
const CHANGE = 0o700;
/** How often a directory is opened again that a command closes again and again. */
const OPENING_MAX = 1_000;

/** Empty if the directory is gone. */
function namesIn(dir: string): string[] {
  return opening(dir, () => (grant(dir, SEARCH) ? readdirSync(raw(dir), 'latin1') : [])) ?? [];
}

/**
 * Does the work, for which a directory is opened again if a command closes it meanwhile. Null if something is gone, or no directory
 * any more.
 */
function opening<T>(dir: string, work: () => T): T | null {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return work();
    } catch (cause) {
      if (codeOf(cause) === 'ENOENT' || codeOf(cause) === 'ENOTDIR') return null;
      if (codeOf(cause) !== 'EACCES' || attempt === OPENING_MAX) throw cause;
      tolerate(() => chmodSync(raw(dir), CHANGE), 'ENOENT');
    }
  }
}

/** So that entries can be removed from it and it can be moved. */
function makeUsable(dir: string): void {
  grant(dir, CHANGE);
}

/** Opens a directory that its owner had closed. False if it is not a directory. */
function grant(dir: string, bits: number): boolean {
  const stats = statOf(dir);
  if (!stats?.isDirectory()) return false;
  if ((stats.mode & bits) !== bits) tolerate(() => chmodSync(raw(dir), (stats.mode & 0o777) | bits), 'ENOENT');
  return true;
}

function makeDirectory(path: string): void {
  tolerate(() => mkdirSync(raw(path), { mode: 0o700 }), 'EEXIST');
}

/** Null if it is gone. */
function statOf(path: string): Stats | null {
  return opening(dirname(path), () => lstatSync(raw(path)));
}

function isDirectory(path: string): boolean {
  return statOf(path)?.isDirectory() === true;
}

function sizeOf({ blocks }: Stats): number {
  return blocks * BLOCK_BYTES + ENTRY_BYTES;
}

function lastUseOf({ mtimeMs, atimeMs }: Stats): number {
  return Math.max(mtimeMs, atimeMs);
}

function tolerate(work: () => void, code: string): void {
  try {
    work();
  } catch (cause) {
    if (codeOf(cause) !== code) throw cause;
  }
}

function codeOf(cause: unknown): unknown {
  return cause instanceof Error && 'code' in cause ? cause.code : undefined;
}

function dirname(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

function join(dir: string, name: string): string {
  return `${dir}/${name}`;
}

function raw(path: string): Buffer {
  return Buffer.from(path, 'latin1');
}

main();
