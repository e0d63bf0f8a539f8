import type { RawPath } from '../../fs/raw-path.ts';

/**
 * The directories of a workspace and what is needed to see that they changed: about 150 bytes each, most of it the path. A
 * row keeps its number. The search goes through the rows by number; the first walk adds shallow directories first.
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

  /** Row numbers are smaller than this. */
  get length(): number {
    return this.#paths.length;
  }

  pathAt(row: number): RawPath | null {
    return this.#paths[row] ?? null;
  }

  rowOf(path: RawPath): number | null {
    return this.#rows.get(path) ?? null;
  }

  /** Whether this directory is known, and not only another one of the same name. */
  knows(path: RawPath, ino: number): boolean {
    const row = this.#rows.get(path);
    return row !== undefined && this.#inos[row] === ino;
  }

  /** With NaN for `ctimeMs`, the directory counts as changed the next time too. */
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

  /** The last pass that checked the row. */
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
