import { Circle } from './circle.ts';
import type { DirectoryTable } from './directory-table.ts';

/** Changed directories that are looked at first after the next run. */
const RECENT_MAX = 256;
/** Rows at the table's beginning, the shallow directories, that are looked at after those. */
const SHALLOW_ROWS = 256;

/**
 * In which order the known directories are looked at: those that changed last, shallow ones, then all of them in a circle
 * that goes on where it stopped. So even when run follows run, each with little time for its scan, every directory has
 * its turn; a run is done with when the circle has come round once since its end.
 */
export class Rounds {
  readonly #table: DirectoryTable;
  readonly #recent = new Set<string>();
  readonly #circle: Circle;
  #pass = 0;

  constructor(table: DirectoryTable) {
    this.#table = table;
    this.#circle = new Circle(table);
  }

  get isIdle(): boolean {
    return this.#circle.isIdle;
  }

  /** From now on no directory counts as looked at; `onPassed` is called when all of them were. */
  start(onPassed: () => void): void {
    this.#pass++;
    this.#circle.start(onPassed);
  }

  /** The rows to look at first. */
  *urgent(): Generator<number> {
    for (const path of [...this.#recent].reverse()) {
      const row = this.#table.rowOf(path);
      if (row !== null && this.#isDue(row)) yield row;
    }
    for (let row = 0; row < Math.min(SHALLOW_ROWS, this.#table.length); row++) if (this.#isDue(row)) yield row;
  }

  /** The next row of the circle that was not looked at since the last `start`; null when there is none in this step. */
  next(): number | null {
    const { row } = this.#circle;
    return row < this.#table.length && this.#isDue(row) ? row : null;
  }

  /** After `next`, when its row was dealt with. */
  step(): void {
    this.#circle.step();
  }

  markChecked(row: number): void {
    this.#table.markChecked(row, this.#pass);
  }

  markChanged(path: string): void {
    this.#recent.delete(path);
    this.#recent.add(path);
    const [oldest] = this.#recent;
    if (this.#recent.size > RECENT_MAX && oldest !== undefined) this.#recent.delete(oldest);
  }

  #isDue(row: number): boolean {
    return this.#table.pathAt(row) !== null && this.#table.checkedIn(row) !== this.#pass;
  }
}
