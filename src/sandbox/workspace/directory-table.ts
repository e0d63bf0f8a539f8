import type { RawPath } from './raw-path.ts';

/**
 * The directories of a workspace with what tells whether they changed: about 150 bytes each, most of it the path. A row
 * keeps its number, and rows are walked in circles by number, those of the first walk shallow ones first.
 */
export class DirectoryTable {
  readonly #rows = new Map<RawPath, number>();
  readonly #free: number[] = [];
  readonly #paths: (RawPath | null)[] = [];
  #ctimes = new Float64Array(256);
  #inos = new Float64Array(256);
  #checked = new Float64Array(256);
  #bytes = 0;

  get size(): number {
    return this.#rows.size;
  }

  /** Bytes of all paths. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Numbers of rows are below this. */
  get length(): number {
    return this.#paths.length;
  }

  pathAt(row: number): RawPath | null {
    return this.#paths[row] ?? null;
  }

  rowOf(path: RawPath): number | null {
    return this.#rows.get(path) ?? null;
  }

  /** Whether this very directory, not another under its name, is known. */
  knows(path: RawPath, ino: number): boolean {
    const row = this.#rows.get(path);
    return row !== undefined && this.#inos[row] === ino;
  }

  /** `ctimeMs` NaN: it counts as changed the next time too. */
  set(path: RawPath, ctimeMs: number, ino: number): void {
    const row = this.#rows.get(path) ?? this.#add(path);
    this.#ctimes[row] = ctimeMs;
    this.#inos[row] = ino;
  }

  markAllChanged(): void {
    this.#ctimes.fill(Number.NaN);
  }

  hasChanged(row: number, ctimeMs: number, ino: number): boolean {
    return this.#ctimes[row] !== ctimeMs || this.#inos[row] !== ino;
  }

  /** Which pass looked at the row last. */
  checkedIn(row: number): number {
    return this.#checked[row] ?? 0;
  }

  markChecked(row: number, pass: number): void {
    this.#checked[row] = pass;
  }

  delete(path: RawPath): void {
    const row = this.#rows.get(path);
    if (row === undefined) return;
    this.#rows.delete(path);
    this.#bytes -= path.length;
    this.#paths[row] = null;
    this.#free.push(row);
  }

  #add(path: RawPath): number {
    const row = this.#free.pop() ?? this.#paths.length;
    if (row >= this.#ctimes.length) this.#grow();
    this.#paths[row] = path;
    this.#bytes += path.length;
    this.#checked[row] = 0;
    this.#rows.set(path, row);
    return row;
  }

  #grow(): void {
    this.#ctimes = doubled(this.#ctimes);
    this.#inos = doubled(this.#inos);
    this.#checked = doubled(this.#checked);
  }
}

function doubled(array: Float64Array): Float64Array<ArrayBuffer> {
  const bigger = new Float64Array(array.length * 2);
  bigger.set(array);
  return bigger;
}
