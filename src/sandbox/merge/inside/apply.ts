import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { systemClock } from '../../../core/clock.ts';
import { earliestFileTime } from '../../../fs/file-time.ts';
import { type RawPath, toText } from '../../../fs/raw-path.ts';
import { isUntouched } from '../../contract/merge-listing.ts';
import { type ApplyReply, type Entry, type MergeOp, type Refused, STAGE } from '../../contract/merge-messages.ts';
import type { ObjectStore } from '../../snapshots/inside/object-store.ts';
import { contentOf } from './content.ts';
import { look } from './list.ts';
import { systemPath } from './place.ts';

/** Bytes of a text that is merged. */
const TEXT_MAX_BYTES = 64 * 1024 * 1024;
/** Rights of the owner without which nothing can be put into a directory. */
const WRITABLE = 0o300;

/** Where a merge reads and writes. */
export interface MergePlaces {
  /** What is written. */
  readonly root: RawPath;
  /** The files that the branch wrote, at the same paths. */
  readonly branch: RawPath;
  /** Contents at the opening of the branch; null if none are kept. */
  readonly store: ObjectStore | null;
}

/**
 * Makes the changes of a merge. It compares every path with what the plan saw, then prepares all new files in one directory
 * beside them, and only then changes anything, each file by one rename. Yields after every step. If it is killed in
 * between, the next plan finds what is done equal to the branch.
 */
export function* apply(ops: readonly MergeOp[], places: MergePlaces): Generator<undefined, ApplyReply> {
  const { root } = places;
  const conflicts = conflictsOf(root, ops);
  if (conflicts.length > 0) return { applied: 0, conflicts, failed: [] };
  removeStage(root);
  const stage = new Stage(places);
  try {
    const texts: Refused[] = [];
    for (const [index, op] of ops.entries()) {
      try {
        const why = stage.prepare(index, op);
        if (why !== null) texts.push({ path: op.path, why });
      } catch (cause) {
        return { applied: 0, conflicts: [], failed: [{ path: op.path, why: wordsOf(cause) }] };
      }
      yield;
    }
    if (texts.length > 0) return { applied: 0, conflicts: texts, failed: [] };
    const late = conflictsOf(root, ops);
    if (late.length > 0) return { applied: 0, conflicts: late, failed: [] };
    const failed: Refused[] = [];
    for (const { index, op, isGoing } of inOrder(ops)) {
      try {
        withAccess(root, op.path, () => (isGoing ? remove(root, op) : write(root, op, stage.of(index))));
      } catch (cause) {
        failed.push({ path: op.path, why: wordsOf(cause) });
      }
      yield;
    }
    for (const { path, want } of ops) {
      if (want.do !== 'mkdir' || isWritable(want.mode) || failed.some((one) => one.path === path)) continue;
      chmodSync(systemPath(root, path), want.mode);
      yield;
    }
    return { applied: ops.length - new Set(failed.map(({ path }) => path)).size, conflicts: [], failed };
  } finally {
    removeStage(root);
  }
}

/** New files, ready to be renamed to their places. Made when the first one is. */
class Stage {
  readonly #places: MergePlaces;
  #isMade = false;

  constructor(places: MergePlaces) {
    this.#places = places;
  }

  of(index: number): Buffer {
    return systemPath(this.#places.root, `${STAGE}/${index}`);
  }

  /** Why the file cannot be made of both versions; null if it is ready or needs nothing. Throws if it cannot be written. */
  prepare(index: number, { path, want }: MergeOp): string | null {
    if (want.do !== 'put' && want.do !== 'link' && want.do !== 'text') return null;
    const { root, branch } = this.#places;
    if (!this.#isMade) mkdirSync(systemPath(root, STAGE), { mode: 0o700 });
    this.#isMade = true;
    const behind = linkAbove(branch, path);
    if (behind !== null) throw new Error(`${toText(path)} lies behind a link`);
    const [source, draft] = [systemPath(branch, path), this.of(index)];
    if (want.do === 'link') {
      symlinkSync(readlinkSync(source, { encoding: 'buffer' }), draft);
      return null;
    }
    if (want.do === 'text') return this.#mergeText(path, want, draft);
    if (!lstatSync(source).isFile()) throw new Error(`${toText(path)} is no file of the branch`);
    copyFileSync(source, draft, constants.COPYFILE_FICLONE);
    const { atime, mtime } = lstatSync(source);
    chmodSync(draft, want.mode);
    utimesSync(draft, atime, mtime);
    return null;
  }

  #mergeText(path: RawPath, { open, mode }: { open: string; mode: number }, draft: Buffer): string | null {
    const { root, branch, store } = this.#places;
    if (store === null) return 'its content at the opening of the branch is not kept';
    const opened = systemPath(root, `${STAGE}/opened`);
    writeFileSync(opened, store.read(open), { mode: 0o600 });
    const texts = [systemPath(root, path), opened, systemPath(branch, path)];
    // Names that are no UTF-8 cannot be arguments of a program, so it gets copies.
    const [ours = '', base = '', theirs = ''] = texts.map((text, i) => {
      const copy = `${STAGE}/text-${i}`;
      copyFileSync(text, systemPath(root, copy));
      return toText(`${root}/${copy}`);
    });
    try {
      const args = ['merge-file', '-p', '-q', ours, base, theirs];
      const merged = execFileSync('git', args, { maxBuffer: TEXT_MAX_BYTES, stdio: ['ignore', 'pipe', 'ignore'] });
      writeFileSync(draft, merged, { mode: 0o600 });
      chmodSync(draft, mode);
      return null;
    } catch (cause) {
      const status = cause instanceof Error && 'status' in cause ? Number(cause.status) : Number.NaN;
      if (status > 0 && status < 128) return 'both changed the same lines';
      return 'it is no text that git can merge';
    }
  }
}

/** What is not as the plan saw it. */
function conflictsOf(root: RawPath, ops: readonly MergeOp[]): Refused[] {
  const startedMs = earliestFileTime(systemClock);
  const going = new Set(ops.filter(({ want }) => want.do === 'remove').map(({ path }) => path));
  const emptied = (path: RawPath): string | null => {
    const names = readdirSync(systemPath(root, path), { encoding: 'latin1' });
    const kept = names.find((name) => !going.has(`${path}/${name}`));
    return kept === undefined ? null : `${toText(`${path}/${kept}`)} was made since`;
  };
  return ops.flatMap(({ path, now, want }): Refused[] => {
    const behind = linkAbove(root, path);
    if (behind !== null) return [{ path, why: `${toText(behind)} is a link now` }];
    const found = look(root, path, startedMs)?.of ?? null;
    if (!isAsSeen(root, path, now, found)) return [{ path, why: 'it was changed since' }];
    const why = now?.kind === 'd' && want.do !== 'mkdir' && want.do !== 'chmod' ? emptied(path) : null;
    return why === null ? [] : [{ path, why }];
  });
}

function isAsSeen(root: RawPath, path: RawPath, seen: Entry | null, found: Entry | null): boolean {
  if (seen === null || found === null) return seen === found;
  if (!isUntouched(seen, found)) return false;
  return seen.id === '' || contentOf(root, path) === seen.id;
}

/** What goes, goes first and the deepest first; then what comes, directories before what is in them. */
function inOrder(ops: readonly MergeOp[]): { index: number; op: MergeOp; isGoing: boolean }[] {
  const all = ops.map((op, index) => ({ index, op, isGoing: false }));
  const going = all.filter(({ op }) => isReplaced(op)).map((one) => ({ ...one, isGoing: true }));
  const depth = (path: RawPath): number => path.split('/').length;
  going.sort((a, b) => depth(b.op.path) - depth(a.op.path));
  const coming = all.filter(({ op }) => op.want.do !== 'remove');
  // A directory that loses the right to be written must be complete.
  const rank = ({ op }: { op: MergeOp }): number =>
    op.want.do === 'mkdir' ? 0 : op.now?.kind === 'd' && op.want.do === 'chmod' ? 2 : 1;
  coming.sort((a, b) => rank(a) - rank(b) || depth(a.op.path) - depth(b.op.path));
  return [...going, ...coming];
}

/** Whether the old thing must be removed: a rename replaces a file or link, but no directory. */
function isReplaced({ now, want }: MergeOp): boolean {
  if (want.do === 'remove') return now !== null;
  if (now === null || want.do === 'chmod') return false;
  return (want.do === 'mkdir') !== (now.kind === 'd');
}

function remove(root: RawPath, { path, now }: MergeOp): void {
  checkLast(root, path, now, now?.kind === 'd');
  if (now?.kind === 'd') rmdirSync(systemPath(root, path));
  else unlinkSync(systemPath(root, path));
}

function write(root: RawPath, op: MergeOp, draft: Buffer): void {
  const { path, now, want } = op;
  const target = systemPath(root, path);
  checkLast(root, path, isReplaced(op) ? null : now, now?.kind === 'd');
  switch (want.do) {
    case 'mkdir':
      mkdirSync(target);
      chmodSync(target, want.mode | WRITABLE);
      return;
    case 'chmod':
      chmodSync(target, want.mode);
      return;
    case 'put':
    case 'text':
    case 'link':
      renameSync(draft, target);
      return;
    case 'remove':
  }
}

function isWritable(mode: number): boolean {
  return (mode & WRITABLE) === WRITABLE;
}

/** Does a step, if necessary with more rights to its directory: the branch had them. */
function withAccess(root: RawPath, path: RawPath, step: () => void): void {
  try {
    step();
  } catch (cause) {
    const directory = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    const mode = cause instanceof Error && 'code' in cause && cause.code === 'EACCES' ? modeOf(root, directory) : null;
    if (mode === null || isWritable(mode)) throw cause;
    chmodSync(systemPath(root, directory), mode | WRITABLE);
    try {
      step();
    } finally {
      chmodSync(systemPath(root, directory), mode);
    }
  }
}

/** Null if it is no directory. */
function modeOf(root: RawPath, path: RawPath): number | null {
  const stats = lstatSync(systemPath(root, path), { throwIfNoEntry: false });
  return stats?.isDirectory() ? stats.mode & 0o7777 : null;
}

function wordsOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** Once more, in the last moment. */
function checkLast(root: RawPath, path: RawPath, seen: Entry | null, isDirectory: boolean): void {
  const behind = linkAbove(root, path);
  if (behind !== null) throw new Error(`${toText(behind)} is a link now`);
  const found = look(root, path, 0)?.of ?? null;
  const isSame = seen === null || found === null ? seen === found : isUntouched(seen, found);
  if (!isSame && !(isDirectory && found?.kind === 'd')) throw new Error('it was changed in the last moment');
}

/** The first part of the way that is a link. */
function linkAbove(root: RawPath, path: RawPath): RawPath | null {
  for (let end = path.indexOf('/'); end > 0; end = path.indexOf('/', end + 1)) {
    const above = path.slice(0, end);
    if (look(root, above, 0)?.of.kind === 'l') return above;
  }
  return null;
}

/** Also what a merge left that was killed. A link of this name is not followed. */
function removeStage(root: RawPath): void {
  rmSync(systemPath(root, STAGE), { recursive: true, force: true });
}
