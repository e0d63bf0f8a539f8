import type { Logger } from '../../core/log.ts';
import { type RawPath, toText } from '../../fs/raw-path.ts';
import type { DirectoryTable } from '../index/directory-table.ts';
import type { KnownDanger, WorkspaceIndex } from '../index/workspace-index.ts';
import type { DangerKind } from '../table/protected-names.ts';
import type { Scan, Visit } from './scan.ts';

interface Queued {
  readonly visit: Visit;
  readonly generation: number;
}

/** Directories to be read: first in, first out, urgent ones before the others. */
export class VisitQueue {
  readonly #urgent: Queued[] = [];
  #queue: Queued[] = [];
  #head = 0;
  /** Of the visit that goes on; null between visits. */
  #current: number | null = null;
  /** Raised by every barrier. A visit that another visit adds belongs to the generation of that visit. */
  #generation = 0;
  /** How many visits of each generation are queued or go on. */
  readonly #unfinished = new Map<number, number>();
  readonly #barriers: { readonly generation: number; readonly onPassed: () => void }[] = [];

  /** Whether no visit is queued or goes on. */
  get isEmpty(): boolean {
    return this.#unfinished.size === 0;
  }

  add(visit: Visit): void {
    this.#queue.push(this.#count(visit));
  }

  addUrgent(visit: Visit): void {
    this.#urgent.push(this.#count(visit));
  }

  /** Calls `onPassed` when all visits that were added until now are done, with all that they add. */
  addBarrier(onPassed: () => void): void {
    this.#barriers.push({ generation: this.#generation++, onPassed });
    this.#passBarriers();
  }

  /** Calls `work` with the next visit, if there is one. A visit counts as done if `work` throws. */
  takeNext(work: (visit: Visit) => void): void {
    const next = this.#urgent.shift() ?? this.#takeFirst();
    if (next === null) return;
    this.#current = next.generation;
    try {
      work(next.visit);
    } finally {
      this.#current = null;
      this.#finish(next.generation);
    }
  }

  #count(visit: Visit): Queued {
    const generation = this.#current ?? this.#generation;
    this.#unfinished.set(generation, (this.#unfinished.get(generation) ?? 0) + 1);
    return { visit, generation };
  }

  #finish(generation: number): void {
    const left = (this.#unfinished.get(generation) ?? 1) - 1;
    if (left > 0) this.#unfinished.set(generation, left);
    else this.#unfinished.delete(generation);
    this.#passBarriers();
  }

  #passBarriers(): void {
    for (let first = this.#barriers[0]; first !== undefined; first = this.#barriers[0]) {
      const { generation, onPassed } = first;
      if ([...this.#unfinished.keys()].some((one) => one <= generation)) return;
      this.#barriers.shift();
      onPassed();
    }
  }

  #takeFirst(): Queued | null {
    const next = this.#queue[this.#head];
    if (next === undefined) return null;
    this.#head++;
    if (this.#head > 1024 && this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    return next;
  }
}

/** Goes round the rows of a table and continues where it stopped. Idle when every `start` was followed by a whole round. */
export class Circle {
  readonly #table: DirectoryTable;
  readonly #marks: { readonly lap: number; readonly row: number; readonly onPassed: () => void }[] = [];
  #lap = 0;
  #row = 0;

  constructor(table: DirectoryTable) {
    this.#table = table;
  }

  get isIdle(): boolean {
    return this.#marks.length === 0;
  }

  /** The row whose turn it is. It may be empty. */
  get row(): number {
    return this.#row;
  }

  /** Calls `onPassed` when every row has had its turn from now on. */
  start(onPassed: () => void): void {
    this.#marks.push({ lap: this.#lap + 1, row: this.#row, onPassed });
  }

  step(): void {
    this.#row++;
    if (this.#row >= this.#table.length) {
      this.#row = 0;
      this.#lap++;
    }
    for (let first = this.#marks[0]; first !== undefined && this.#hasPassed(first); first = this.#marks[0]) {
      this.#marks.shift();
      first.onPassed();
    }
  }

  #hasPassed({ lap, row }: { readonly lap: number; readonly row: number }): boolean {
    return this.#lap > lap || (this.#lap === lap && this.#row >= row);
  }
}

/** Kinds of files that lead git elsewhere. */
const LEADING: ReadonlySet<DangerKind> = new Set(['pointer', 'commondir', 'config', 'alternates', 'exit']);

interface RecheckParts {
  readonly index: WorkspaceIndex;
  readonly scan: Scan;
  readonly logger: Logger;
}

/**
 * Looks at every known dangerous path that some mounts did not protect: a file that is changed in place does not change its
 * directory. A path that leads git elsewhere is looked at in any case: a link on its way may have changed. So is a file
 * whose content decides: a person may have made it harmless.
 */
export class Recheck {
  readonly #parts: RecheckParts;
  #left: Iterator<readonly [RawPath, KnownDanger]> | null = null;
  /** To be called after the round that goes on, and after the next one. */
  #onDone: (() => void)[] = [];
  #onNextDone: (() => void)[] = [];

  constructor(parts: RecheckParts) {
    this.#parts = parts;
  }

  get isIdle(): boolean {
    return this.#left === null && this.#onNextDone.length === 0;
  }

  /** Calls `onDone` after a round that began after this call. */
  start(onDone: () => void): void {
    this.#onNextDone.push(onDone);
  }

  step(): void {
    if (this.isIdle) return;
    const { index, scan, logger } = this.#parts;
    if (this.#left === null) this.#onDone = this.#onNextDone.splice(0);
    this.#left ??= index.dangers.entries();
    const next = this.#left.next();
    if (next.done === true) {
      this.#left = null;
      for (const onDone of this.#onDone.splice(0)) onDone();
      return;
    }
    const [path, { kind }] = next.value;
    try {
      const leadsElsewhere = LEADING.has(kind);
      if (leadsElsewhere || kind === 'checked' || scan.judge.isOpen(path)) scan.judge.decide(path, kind, false);
    } catch (cause) {
      logger.error('workspace.scan.failed', { path: toText(path) }, cause);
    }
  }
}
