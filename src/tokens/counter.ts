import { fileURLToPath } from 'node:url';
import { builtFile } from '../core/own-program.ts';
import { LongMerger } from './bpe.ts';
import { isSeam, PieceSplitter } from './pieces.ts';
import { hashOf, NO_RANK, type RankTable, readRankTable } from './rank-table.ts';

/** Bytes of the longest token of cl100k_base: a text of more than `tokens` times this never fits in `tokens`. */
export const TOKEN_MAX_BYTES = 128;

/** The packed ranks, written by scripts/build-ranks.ts from js-tiktoken's. */
export const RANK_FILE = fileURLToPath(builtFile(new URL('cl100k_base.ranks', import.meta.url)));

/** UTF-16 units encoded at once, if the text has a seam there. */
const WINDOW_UNITS = 16_384;
const WINDOW_BYTES = 3 * WINDOW_UNITS;

/** Texts up to this many UTF-16 units are counted, not estimated. */
const ESTIMATE_ABOVE_UNITS = 4096;
const SAMPLES = 16;
const SAMPLE_UNITS = 160;
const GOLDEN_RATIO = 0.618;

/** cl100k_base, with the same counts as js-tiktoken. Special-token text such as `<|endoftext|>` is plain text. */
export interface TokenCounter {
  /** Returns the token count, or Infinity above `limit` (default: none). A lone surrogate counts as U+FFFD. */
  count(text: string, limit?: number): number;
  /** Length in UTF-16 units of the longest prefix within the first `tokens` tokens; never splits a character. */
  prefixOf(text: string, tokens: number): number;
  /** Estimates the token count from a few samples: deterministic, in constant time. Exact up to 4,096 UTF-16 units. */
  estimate(text: string): number;
}

/**
 * Loads the counter from a table made at build time, which is used without parsing. Measured in
 * docs/decisions/0014-counting.md. Throws INTERNAL_ERROR if the table is missing.
 */
export function loadCounter(file: string = RANK_FILE): TokenCounter {
  return new Cl100kCounter(readRankTable(file));
}

class Cl100kCounter implements TokenCounter {
  readonly #ranks: RankTable;
  readonly #merger: LongMerger;
  readonly #splitter = new PieceSplitter();
  readonly #cache = new PieceCache();
  readonly #window = Buffer.alloc(WINDOW_BYTES);
  #bytes: Buffer = this.#window;

  constructor(ranks: RankTable) {
    this.#ranks = ranks;
    this.#merger = new LongMerger(ranks);
  }

  count(text: string, limit = Number.POSITIVE_INFINITY): number {
    if (text.length > limit * TOKEN_MAX_BYTES) return Number.POSITIVE_INFINITY;
    let tokens = 0;
    for (let from = 0; from < text.length && tokens <= limit; ) {
      const to = windowEnd(text, from);
      tokens += this.#countWindow(this.#open(text, from, to), limit - tokens);
      from = to;
    }
    return tokens > limit ? Number.POSITIVE_INFINITY : tokens;
  }

  prefixOf(text: string, tokens: number): number {
    let left = tokens;
    for (let from = 0; from < text.length; ) {
      const to = windowEnd(text, from);
      const stop = this.#open(text, from, to);
      for (let at = 0; at < stop; ) {
        const end = this.#splitter.pieceEnd(at);
        const isShort = end - at <= CACHED_MAX_BYTES;
        const used = isShort ? this.#countShort(at, end) : this.#encodePiece(at, end, left);
        if (used > left) return from + this.#utf16Length(this.#cutOf(at, end, left), at);
        left -= used;
        at = end;
      }
      from = to;
    }
    return text.length;
  }

  estimate(text: string): number {
    if (text.length <= ESTIMATE_ABOVE_UNITS) return this.count(text);
    let units = 0;
    let tokens = 0;
    let last = { sample: '', tokens: 0 };
    for (let i = 0; i < SAMPLES; i++) {
      const sample = sampleOf(text, i);
      // Runs of one character are the slowest to count, and all their samples are equal.
      if (sample !== last.sample) last = { sample, tokens: this.count(sample) };
      units += sample.length;
      tokens += last.tokens;
    }
    return Math.round((tokens / units) * text.length);
  }

  /** Encodes a window of the text; returns its length in bytes. */
  #open(text: string, from: number, to: number): number {
    const part = from === 0 && to === text.length ? text : text.slice(from, to);
    const fits = 3 * part.length <= WINDOW_BYTES;
    this.#bytes = fits ? this.#window : Buffer.from(part, 'utf8');
    const stop = fits ? this.#window.write(part, 'utf8') : this.#bytes.length;
    this.#splitter.open(this.#bytes, stop);
    return stop;
  }

  /** Token count of the window; stops somewhere past `limit`. */
  #countWindow(stop: number, limit: number): number {
    let tokens = 0;
    for (let at = 0; at < stop && tokens <= limit; ) {
      const end = this.#splitter.pieceEnd(at);
      const isShort = end - at <= CACHED_MAX_BYTES;
      tokens += isShort ? this.#countShort(at, end) : this.#encodePiece(at, end, limit - tokens);
      at = end;
    }
    return tokens;
  }

  /** Token count of a piece of at most CACHED_MAX_BYTES. */
  #countShort(start: number, end: number): number {
    const length = end - start;
    if (length === 1 || (length <= 3 && this.#isNumber(start, end))) return 1;
    const known = this.#cache.find(this.#bytes, start, end);
    if (known > 0) return known;
    const tokens = this.#encodePiece(start, end, Number.POSITIVE_INFINITY);
    this.#cache.keep(this.#bytes, start, end, tokens);
    return tokens;
  }

  /** Up to three ASCII digits are always one token. A piece that starts with a digit contains only digits. */
  #isNumber(start: number, end: number): boolean {
    const first = this.#bytes[start] ?? 0;
    return first >= 0x30 && first <= 0x39 && (this.#bytes[end - 1] ?? 0) <= 0x39;
  }

  /** Infinity for more than `limit`, except for a single token. */
  #encodePiece(start: number, end: number, limit: number): number {
    if (end - start <= TOKEN_MAX_BYTES && this.#ranks.rank(this.#bytes, start, end) !== NO_RANK) return 1;
    return this.#merger.merge(this.#bytes, start, end, limit);
  }

  /** End of the first `tokens` tokens of a piece that has more. */
  #cutOf(start: number, end: number, tokens: number): number {
    if (tokens === 0) return start;
    this.#merger.merge(this.#bytes, start, end, tokens);
    return this.#merger.cut;
  }

  /** UTF-16 length of the window up to `end`, moved back to a character boundary but not before `floor`. */
  #utf16Length(end: number, floor: number): number {
    let at = end;
    while (at > floor && ((this.#bytes[at] ?? 0) & 0xc0) === 0x80) at--;
    return this.#bytes.toString('utf8', 0, at).length;
  }
}

/** End of the window that starts at `from`: a seam, so that its pieces are pieces of the text, or the text's end. */
function windowEnd(text: string, from: number): number {
  for (let units = WINDOW_UNITS; from + units < text.length; units *= 2) {
    for (let at = from + units; at > from + units / 2; at--) {
      if (isSeam(text.charCodeAt(at - 1), text.charCodeAt(at))) return at;
    }
  }
  return text.length;
}

/**
 * Returns sample `i` of a long text. Samples are spread unevenly, so that they do not align with lines of equal length.
 * If the text has seams, they consist of whole pieces.
 */
function sampleOf(text: string, i: number): string {
  const stride = text.length / SAMPLES;
  const at = Math.floor(i * stride + ((i * GOLDEN_RATIO) % 1) * (stride - SAMPLE_UNITS));
  const sample = text.slice(at, at + SAMPLE_UNITS);
  let start = 1;
  let end = sample.length - 1;
  while (start < end && !isSeam(sample.charCodeAt(start - 1), sample.charCodeAt(start))) start++;
  while (end > start && !isSeam(sample.charCodeAt(end - 1), sample.charCodeAt(end))) end--;
  return start < end ? sample.slice(start, end) : sample;
}

const SLOT_BITS = 13;
const CELL_BYTES = 32;
/** Header of a cell: the length of its piece and its token count, one byte each. The rest is the piece. */
const CELL_HEAD_BYTES = 2;

/** Longer pieces are rare and are not cached. */
const CACHED_MAX_BYTES = CELL_BYTES - CELL_HEAD_BYTES;

/**
 * Memoizes token counts of recent pieces, because words repeat. A direct-mapped table of 256 KB, in which a piece
 * overwrites its slot. Pieces are compared byte by byte, never by hash alone.
 */
class PieceCache {
  readonly #cells = new Uint8Array(CELL_BYTES << SLOT_BITS);
  /** The cell of the last lookup. */
  #cell = 0;

  /** Token count of `bytes[start..end]`; 0 if not cached. At most CACHED_MAX_BYTES long. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const cells = this.#cells;
    const cell = (hashOf(bytes, start, end) >>> (32 - SLOT_BITS)) * CELL_BYTES;
    this.#cell = cell;
    if (cells[cell] !== end - start) return 0;
    const shift = cell + CELL_HEAD_BYTES - start;
    for (let i = start; i < end; i++) if (cells[shift + i] !== bytes[i]) return 0;
    return cells[cell + 1] ?? 0;
  }

  /** Caches the piece that the last `find` missed. */
  keep(bytes: Uint8Array, start: number, end: number, tokens: number): void {
    const cells = this.#cells;
    const cell = this.#cell;
    cells[cell] = end - start;
    cells[cell + 1] = tokens;
    const shift = cell + CELL_HEAD_BYTES - start;
    for (let i = start; i < end; i++) cells[shift + i] = bytes[i] ?? 0;
  }
}
