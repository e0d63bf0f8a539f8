import type { DirectoryTable } from './directory-table.ts';

interface Mark {
  readonly lap: number;
  readonly row: number;
  readonly onPassed: () => void;
}

/** Goes round the rows of a table, on from where it stopped. It is idle when every start was followed by a whole round. */
export class Circle {
  readonly #table: DirectoryTable;
  readonly #marks: Mark[] = [];
  #lap = 0;
  #row = 0;

  constructor(table: DirectoryTable) {
    this.#table = table;
  }

  get isIdle(): boolean {
    return this.#marks.length === 0;
  }

  /** The row whose turn it is; there may be nothing in it. */
  get row(): number {
    return this.#row;
  }

  /** `onPassed` is called when every row has had its turn from now on. */
  start(onPassed: () => void): void {
    this.#marks.push({ lap: this.#lap + 1, row: this.#row, onPassed });
  }

  step(): void {
    this.#row++;
    if (this.#row >= this.#table.length) {
      this.#row = 0;
      this.#lap++;
    }
    for (let mark = this.#marks[0]; mark !== undefined && this.#hasPassed(mark); mark = this.#marks[0]) {
      this.#marks.shift();
      mark.onPassed();
    }
  }

  #hasPassed(mark: Mark): boolean {
    return this.#lap > mark.lap || (this.#lap === mark.lap && this.#row >= mark.row);
  }
}
