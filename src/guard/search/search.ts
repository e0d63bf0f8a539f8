import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../core/log.ts';
import { statAt } from '../../fs/file-access.ts';
import { nameOf, type RawPath, toText } from '../../fs/raw-path.ts';
import type { WorkspaceIndex } from '../index/workspace-index.ts';
import { Pace } from './pace.ts';
import type { Scan, Visit } from './scan.ts';
import { Circle, Recheck, VisitQueue } from './search-order.ts';

/** Entries that the first walk reads before a sandbox may start. The rest is read in the background. */
const ENTRIES_MAX = 1_000_000;
/** Changed directories that are looked at first after the next run. */
const RECENT_MAX = 256;
/** Rows at the beginning of the table, where shallow directories are, that are looked at after the recent ones. */
const SHALLOW_ROWS = 256;
/** Size of a root, as lstat reports it in bytes, up to which it is read before a sandbox starts: some 2,000 names. */
const GLANCED_MAX_BYTES = 64 * 1024;
/** New directories directly below a root that are read before a sandbox starts, however slow the machine is at that moment. */
const GLANCED_CHILDREN = 16;
/** Checks between two looks at the clock. */
const CHECKS_PER_LOOK = 8;
export interface SearchParts {
  readonly index: WorkspaceIndex;
  readonly scan: Scan;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Answers the reports that are due. Returns whether others wait: the search goes on without a break until they are due. */
  readonly answerReports: () => boolean;
}

/**
 * Decides what is searched in which order: new directories first; then all known directories, whose ctimes show whether
 * they changed; with them the dangerous paths that no mount protected; last, and without hurry, the files of all
 * directories, because a file that is written in place does not change its directory.
 */
export class Search {
  readonly #parts: SearchParts;
  readonly #visits = new VisitQueue();
  /** Directories that are being read; true if they must be read once more afterwards. */
  readonly #visiting = new Map<RawPath, boolean>();
  /** Directories that changed last, the latest at the end. */
  readonly #recent = new Set<RawPath>();
  /** Raised by every `start`: a directory is checked once in each pass. */
  #pass = 0;
  readonly #circle: Circle;
  readonly #sweep: Circle;
  readonly #recheck: Recheck;
  /** Entries that the walk still reads while somebody waits for it. */
  #entriesLeft = 0;
  #onEnough: () => void = () => {};
  readonly #pace: Pace;
  #isLookingFirst = false;
  #steps = 0;

  constructor(parts: SearchParts) {
    this.#parts = parts;
    this.#circle = new Circle(parts.index.directories);
    this.#sweep = new Circle(parts.index.directories);
    this.#recheck = new Recheck(parts);
    const { clock, answerReports } = parts;
    this.#pace = new Pace({ clock, answerReports, isDone: () => this.isDone, step: () => this.#step() });
  }

  /** Whether nothing is left except the files of directories that did not change. */
  get isSearched(): boolean {
    return this.#visits.isEmpty && this.#circle.isIdle && this.#recheck.isIdle;
  }

  /** Whether nothing at all is left. */
  get isDone(): boolean {
    return this.isSearched && this.#sweep.isIdle;
  }

  /** Whether places that are known to be new or changed have not been searched yet. */
  get hasChangesLeft(): boolean {
    return this.#isLookingFirst || !this.#visits.isEmpty;
  }

  /** Reads a whole tree. Calls `onDone` after it, or in a very large tree earlier; reports are incomplete until its end. */
  walk(root: RawPath, onDone: () => void): void {
    const { index } = this.#parts;
    let isDone = false;
    this.#onEnough = () => {
      if (!isDone) onDone();
      isDone = true;
    };
    this.#entriesLeft = ENTRIES_MAX;
    index.setWalked(false);
    this.#visits.add({ path: root, isFresh: false });
    const onEnough = this.#onEnough;
    this.#visits.addBarrier(() => {
      index.setWalked(true);
      onEnough();
    });
    this.whenDone(() => {});
  }

  /**
   * Finds what is new in a root or directly below it. Beyond the first new directories, what takes longer than `milliseconds`
   * is left for later. A root that is being read is read once more within that read, which may have passed what is new.
   */
  glance(milliseconds: number): void {
    const { clock, index } = this.#parts;
    this.#pace.exclusively(() => {
      for (const root of index.roots) {
        if (!this.#visiting.has(root) && !this.#hasChanged(root)) continue;
        const until = clock.monotonic() + milliseconds;
        if (isLarge(root)) {
          index.setUnread(root, true);
          this.#visits.addUrgent({ path: root, isFresh: false });
        } else this.#visitWithChildren(root, () => clock.monotonic() < until);
      }
    });
    this.#pace.schedule();
  }

  /** Searches everything once more. Calls `onDone` at the end, when the files of all directories have been searched too. */
  start(onDone: () => void): void {
    let left = 2;
    const count = () => {
      if (--left === 0) this.#sweep.start(onDone);
    };
    this.#pass++;
    this.#circle.start(() => this.#visits.addBarrier(count));
    this.#recheck.start(count);
  }

  /**
   * Judges the dangerous names of roots and repositories: a root is read unless it is large. Then checks the directories that changed last and the shallow
   * ones, for at most `milliseconds`: these most likely changed again.
   */
  lookFirst(milliseconds: number): void {
    this.#isLookingFirst = true;
    try {
      this.#pace.exclusively(() => this.#lookFirst(milliseconds));
    } finally {
      this.#isLookingFirst = false;
    }
  }

  #lookFirst(milliseconds: number): void {
    const { clock, index, scan } = this.#parts;
    for (const path of [...index.roots, ...index.gitDirs]) {
      if (!this.#hasChanged(path)) continue;
      if (index.isGitDir(path) || isLarge(path)) scan.judgeNames(path);
      else if (this.#check(index.directories.rowOf(path) ?? -1) !== null) this.#visit({ path, isFresh: false });
    }
    const until = clock.monotonic() + milliseconds;
    const recent = [...this.#recent].reverse().map((path) => index.directories.rowOf(path) ?? -1);
    const shallow = Array.from({ length: Math.min(SHALLOW_ROWS, index.directories.length) }, (_, row) => row);
    for (const row of [...recent, ...shallow]) {
      if (!this.#isDue(row)) continue;
      const path = this.#check(row);
      if (path !== null) this.#visits.addUrgent({ path, isFresh: false });
      if (clock.monotonic() >= until) return;
    }
  }

  /** Searches for at most `milliseconds`, and longer as long as reports wait; then goes on in the background. */
  work(milliseconds: number): void {
    this.#pace.work(milliseconds);
  }

  /** Whether somebody waits for the end of the search. */
  get isAwaited(): boolean {
    return this.#pace.isAwaited;
  }

  /** Calls `onDone` when nothing is left to be searched, and hurries. */
  whenDone(onDone: () => void): void {
    this.#pace.whenDone(onDone);
  }

  /** Stops the background work. */
  close(): void {
    this.#pace.close();
  }

  /** Steps of the search so far: in each, one directory is read, or some are looked at. */
  get steps(): number {
    return this.#steps;
  }

  #step(): void {
    this.#steps += 1;
    try {
      if (this.isSearched) this.#sweepNext();
      else this.#searchNext();
    } catch (cause) {
      const workspace = toText(this.#parts.index.roots[0] ?? '');
      this.#parts.logger.error('workspace.scan.failed', { workspace }, cause);
    }
  }

  /**
   * Reads one directory, and then for the same time checks others: one large directory that changes all the time does not
   * keep the others waiting.
   */
  #searchNext(): void {
    if (this.#visits.isEmpty) {
      this.#checkSome();
      return;
    }
    const { clock } = this.#parts;
    const startedAt = clock.monotonic();
    try {
      this.#visits.takeNext((visit) => this.#visit(visit));
    } finally {
      const readAt = clock.monotonic();
      const until = readAt + (readAt - startedAt);
      do this.#checkSome();
      while (!(this.#recheck.isIdle && this.#circle.isIdle) && clock.monotonic() < until);
    }
  }

  #checkSome(): void {
    for (let i = 0; i < CHECKS_PER_LOOK; i++) {
      this.#recheck.step();
      this.#checkNext();
    }
  }

  #checkNext(): void {
    if (this.#circle.isIdle) return;
    const { row } = this.#circle;
    const path = this.#isDue(row) ? this.#check(row) : null;
    if (path !== null) this.#visits.add({ path, isFresh: false });
    this.#circle.step();
  }

  #sweepNext(): void {
    const path = this.#parts.index.directories.pathAt(this.#sweep.row);
    try {
      if (path !== null) this.#parts.scan.sweep(path);
    } finally {
      this.#sweep.step();
    }
  }

  /** Whether there is a directory in this row that was not checked in this pass. */
  #isDue(row: number): boolean {
    const { directories } = this.#parts.index;
    return directories.pathAt(row) !== null && directories.checkedIn(row) !== this.#pass;
  }

  /** The directory of a row, if it changed. */
  #check(row: number): RawPath | null {
    const { index, scan } = this.#parts;
    const path = index.directories.pathAt(row);
    index.directories.markChecked(row, this.#pass);
    if (path === null || !scan.hasChanged(row, path)) return null;
    this.#recent.delete(path);
    this.#recent.add(path);
    const [oldest] = this.#recent;
    if (this.#recent.size > RECENT_MAX && oldest !== undefined) this.#recent.delete(oldest);
    return path;
  }

  #hasChanged(path: RawPath): boolean {
    const row = this.#parts.index.directories.rowOf(path);
    return row !== null && this.#parts.scan.hasChanged(row, path);
  }

  /** A directory is read once at a time. The next read sees what changes meanwhile. */
  #visit(visit: Visit): void {
    if (this.#visiting.has(visit.path)) this.#visiting.set(visit.path, true);
    else this.#visitWith(visit, (found) => this.#visits.add(found));
  }

  #visitWith(visit: Visit, onNew: (visit: Visit) => void): void {
    const isWithinAnother = this.#visiting.has(visit.path);
    if (!isWithinAnother) this.#visiting.set(visit.path, false);
    try {
      this.#entriesLeft -= this.#parts.scan.visit(visit, onNew);
      if (this.#entriesLeft < 0) this.#onEnough();
    } finally {
      if (!isWithinAnother) {
        if (this.#visiting.get(visit.path) === true) this.#visits.add(visit);
        this.#visiting.delete(visit.path);
      }
    }
  }

  #visitWithChildren(path: RawPath, hasTime: () => boolean): void {
    const children: Visit[] = [];
    this.#visitWith({ path, isFresh: false }, (found) => children.push(found));
    for (const [position, child] of children.entries()) {
      if (position >= GLANCED_CHILDREN && !hasTime()) {
        this.#visits.addUrgent(child);
        continue;
      }
      this.#visitWith(child, (found) => {
        if (nameOf(found.path) === '.git') children.push(found);
        else this.#visits.add(found);
      });
    }
  }
}

function isLarge(root: RawPath): boolean {
  return (statAt(root)?.size ?? 0) > GLANCED_MAX_BYTES;
}
