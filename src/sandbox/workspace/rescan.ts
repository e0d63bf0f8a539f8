import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../core/log.ts';
import { Circle } from './circle.ts';
import { nameOf, type RawPath, toText } from './raw-path.ts';
import { Recheck } from './recheck.ts';
import { Rounds } from './rounds.ts';
import type { Scan, Visit } from './scan.ts';
import { drive, Slices } from './slices.ts';
import { TaskQueue } from './task-queue.ts';
import type { WorkspaceIndex } from './workspace-index.ts';

/** Entries of a workspace that the first walk reads before a sandbox may start; it reads the others meanwhile. */
const ENTRIES_MAX = 1_000_000;

/** Milliseconds between two looks at whether changed directories still wait. */
const CHANGED_SLICE_MS = 2;

export interface RescanParts {
  readonly index: WorkspaceIndex;
  readonly scan: Scan;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * When what is looked at: new directories first, then known ones in rounds, and what no mount covers beside them; last,
 * and in no hurry, the files of all directories, since a file that is written in place does not change its directory.
 */
export class Rescan {
  readonly #parts: RescanParts;
  readonly #rounds: Rounds;
  readonly #recheck: Recheck;
  readonly #sweep: Circle;
  #sweeping: Generator<void, void> | null = null;
  readonly #slices: Slices;
  readonly #tasks = new TaskQueue();
  /** Directories being read; true when they are to be looked at once more afterwards. */
  readonly #visiting = new Map<RawPath, boolean>();
  /** Left for the walk until nobody waits for it any more. */
  #entriesLeft = 0;
  #onEnough: () => void = () => {};

  constructor(parts: RescanParts) {
    this.#parts = parts;
    this.#rounds = new Rounds(parts.index.directories);
    this.#recheck = new Recheck(parts.index, parts.scan, parts.logger);
    this.#sweep = new Circle(parts.index.directories);
    this.#slices = new Slices(parts.clock, () => this.#work());
  }

  /** Reads a whole tree. Of a very large one the rest is read in the background, and reports are incomplete until then. */
  async walk(root: RawPath): Promise<void> {
    const { index } = this.#parts;
    const hasEnough = new Promise<void>((resolve) => {
      this.#onEnough = resolve;
    });
    this.#entriesLeft = ENTRIES_MAX;
    index.setWalked(false);
    this.#tasks.add(() => this.#visit({ path: root, isFresh: false }));
    this.#tasks.addBarrier(() => index.setWalked(true));
    await Promise.race([this.#slices.wait(), hasEnough]);
  }

  /** Looks at what is new in a root or directly below it, for about `milliseconds`. */
  glance(milliseconds: number): void {
    for (const root of this.#parts.index.roots) {
      if (this.#visiting.has(root) || !this.#hasChanged(root)) continue;
      this.#driveOrQueue(this.#visitWithChildren(root), milliseconds);
    }
  }

  /** Looks at everything once more; `onDone` is called when that is done. */
  start(onDone: () => void): void {
    let left = 2;
    const count = () => {
      if (--left === 0) this.#sweep.start(onDone);
    };
    this.#rounds.start(() => this.#tasks.addBarrier(count));
    this.#recheck.start(count);
  }

  /** Looks at roots and repositories, at what changed last and at shallow directories, for about `milliseconds`. */
  lookFirst(milliseconds: number): void {
    const { clock, index, scan } = this.#parts;
    const until = clock.monotonic() + milliseconds;
    for (const path of [...index.roots, ...index.gitDirs]) {
      if (this.#hasChanged(path)) this.#driveOrQueue(scan.judgeNames(path), until - clock.monotonic());
      if (clock.monotonic() >= until) return;
    }
    for (const row of this.#rounds.urgent()) {
      const path = this.#check(row);
      if (path !== null) this.#driveOrQueue(this.#visit({ path, isFresh: false }), until - clock.monotonic());
      if (clock.monotonic() >= until) return;
    }
  }

  /**
   * Goes on for about `milliseconds`, for `changedMs` more while directories wait that changed, then in the background.
   * True when nothing is left but the files that were not made, moved or linked: one of those is of no use to anyone until
   * something else leads to it, and that is seen.
   */
  goOn(milliseconds: number, changedMs: number): boolean {
    const { clock } = this.#parts;
    const until = clock.monotonic() + Math.max(milliseconds, 0) + changedMs;
    let isDone = this.#slices.runFor(milliseconds);
    while (!isDone && !this.#tasks.isEmpty && clock.monotonic() < until) isDone = this.#slices.runFor(CHANGED_SLICE_MS);
    if (!isDone) this.#slices.goOn();
    return isDone || this.#isSearched;
  }

  get #isSearched(): boolean {
    return this.#tasks.isEmpty && this.#rounds.isIdle && this.#recheck.isIdle;
  }

  /** Resolves when nothing is left to do, which is hurried. */
  wait(): Promise<void> {
    return this.#slices.wait();
  }

  close(): void {
    this.#slices.close();
  }

  #driveOrQueue(work: Generator<void, void>, milliseconds: number): void {
    if (!drive(work, this.#parts.clock, milliseconds)) this.#tasks.addUrgent(() => work);
  }

  *#work(): Generator<void, void> {
    while (!this.#isSearched || !this.#sweep.isIdle) {
      try {
        if (this.#isSearched) this.#sweepStep();
        else this.#step();
      } catch (cause) {
        const workspace = toText(this.#parts.index.roots[0] ?? '');
        this.#parts.logger.error('workspace.scan.failed', { workspace }, cause);
      }
      yield;
    }
  }

  /** A bit of each, so that one large directory which changes all the time does not keep the rest from its turn. */
  #step(): void {
    this.#tasks.step();
    this.#recheck.step();
    if (this.#rounds.isIdle) return;
    const row = this.#rounds.next();
    const path = row === null ? null : this.#check(row);
    if (path !== null) this.#tasks.add(() => this.#visit({ path, isFresh: false }));
    this.#rounds.step();
  }

  #sweepStep(): void {
    const path = this.#parts.index.directories.pathAt(this.#sweep.row);
    if (path !== null) this.#sweeping ??= this.#parts.scan.sweep(path);
    let isDone = true;
    try {
      isDone = this.#sweeping?.next().done !== false;
    } finally {
      if (isDone) {
        this.#sweeping = null;
        this.#sweep.step();
      }
    }
  }

  /** The row's directory, if it changed. */
  #check(row: number): RawPath | null {
    const { index, scan } = this.#parts;
    const path = index.directories.pathAt(row);
    this.#rounds.markChecked(row);
    if (path === null || !scan.hasChanged(row, path)) return null;
    this.#rounds.markChanged(path);
    return path;
  }

  /** One read of a directory at a time: what changes meanwhile is seen by the next. */
  *#visit(visit: Visit): Generator<void, void> {
    if (this.#visiting.has(visit.path)) {
      this.#visiting.set(visit.path, true);
      return;
    }
    yield* this.#visitWith(visit, (found) => this.#tasks.add(() => this.#visit(found)));
  }

  *#visitWith(visit: Visit, onNew: (visit: Visit) => void): Generator<void, void> {
    this.#visiting.set(visit.path, false);
    try {
      this.#count(yield* this.#parts.scan.visit(visit, onNew));
    } finally {
      if (this.#visiting.get(visit.path) === true) this.#tasks.add(() => this.#visit(visit));
      this.#visiting.delete(visit.path);
    }
  }

  *#visitWithChildren(path: RawPath): Generator<void, void> {
    const children: Visit[] = [];
    yield* this.#visitWith({ path, isFresh: false }, (found) => children.push(found));
    for (const child of children) {
      yield* this.#visitWith(child, (found) => {
        if (nameOf(found.path) === '.git') children.push(found);
        else this.#tasks.add(() => this.#visit(found));
      });
    }
  }

  #hasChanged(path: RawPath): boolean {
    const row = this.#parts.index.directories.rowOf(path);
    return row !== null && this.#parts.scan.hasChanged(row, path);
  }

  #count(entries: number): void {
    this.#entriesLeft -= entries;
    if (this.#entriesLeft < 0) this.#onEnough();
  }
}
