import { hashOf } from './rank-table.ts';

const SLOT_BITS = 13;
const CELL_BYTES = 32;
/** Two bytes of a cell say how long its piece is and how many tokens that makes; the rest is the piece. */
const CELL_HEAD_BYTES = 2;

/** Longer pieces, of which text has few, are not kept. */
export const CACHED_MAX_BYTES = CELL_BYTES - CELL_HEAD_BYTES;

/**
 * The tokens of pieces met lately: words repeat. A table of 256 KB where a piece has one place and takes it from
 * whatever was there; a piece is compared byte by byte, never by its hash alone.
 */
export class PieceCache {
  readonly #cells = new Uint8Array(CELL_BYTES << SLOT_BITS);
  /** The cell of the piece looked for last. */
  #cell = 0;

  /** How many tokens `bytes[start..end]` is; 0: not known. At most CACHED_MAX_BYTES long. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const cells = this.#cells;
    const cell = (hashOf(bytes, start, end) >>> (32 - SLOT_BITS)) * CELL_BYTES;
    this.#cell = cell;
    if (cells[cell] !== end - start) return 0;
    const shift = cell + CELL_HEAD_BYTES - start;
    for (let i = start; i < end; i++) if (cells[shift + i] !== bytes[i]) return 0;
    return cells[cell + 1] ?? 0;
  }

  /** Keeps what the last `find` did not know. */
  keep(bytes: Uint8Array, start: number, end: number, tokens: number): void {
    const cells = this.#cells;
    const cell = this.#cell;
    cells[cell] = end - start;
    cells[cell + 1] = tokens;
    const shift = cell + CELL_HEAD_BYTES - start;
    for (let i = start; i < end; i++) cells[shift + i] = bytes[i] ?? 0;
  }
}
