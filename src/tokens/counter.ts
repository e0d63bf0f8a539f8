import { fileURLToPath } from 'node:url';
import { PieceMerger } from './merge.ts';
import { PieceSplitter } from './pieces.ts';
import { NO_RANK, type RankTable, readRankTable } from './rank-table.ts';

/** The longest token of cl100k_base, bytes: a text of more than `tokens` times this never fits in `tokens`. */
export const TOKEN_MAX_BYTES = 128;

/** The packed ranks, written by scripts/build-ranks.ts from js-tiktoken's. */
export const RANK_FILE = fileURLToPath(new URL('cl100k_base.ranks', import.meta.url));

/** cl100k_base, with js-tiktoken's numbers; special-token text such as `<|endoftext|>` is plain text. */
export interface TokenCounter {
  /** Tokens of `text`. Past `limit` (default: none) it stops and gives Infinity. A lone surrogate counts as U+FFFD. */
  count(text: string, limit?: number): number;
  /** The longest prefix of `text` that ends with its first `tokens` tokens or before, in UTF-16 units; never half a character. */
  prefixOf(text: string, tokens: number): number;
}

/**
 * The counter, from a table made at build time: 2 MB used as they are read, in 1 to 2 ms. Parsing js-tiktoken's base64 ranks
 * at start gives the same numbers for 35 ms and 19 MB, too much of a daemon that must be ready in 400 ms.
 * INTERNAL_ERROR when the table is missing: there is no second source.
 */
export function loadCounter(file: string = RANK_FILE): TokenCounter {
  return new Cl100kCounter(readRankTable(file));
}

class Cl100kCounter implements TokenCounter {
  readonly #ranks: RankTable;
  readonly #merger: PieceMerger;
  readonly #splitter = new PieceSplitter();

  constructor(ranks: RankTable) {
    this.#ranks = ranks;
    this.#merger = new PieceMerger(ranks);
  }

  count(text: string, limit = Number.POSITIVE_INFINITY): number {
    const bytes = Buffer.from(text, 'utf8');
    let tokens = 0;
    for (let at = 0; at < bytes.length; ) {
      const end = this.#splitter.pieceEnd(bytes, at);
      if (end - at > (limit - tokens) * TOKEN_MAX_BYTES) return Number.POSITIVE_INFINITY;
      tokens += this.#countPiece(bytes, at, end);
      at = end;
    }
    return tokens > limit ? Number.POSITIVE_INFINITY : tokens;
  }

  prefixOf(text: string, tokens: number): number {
    const bytes = Buffer.from(text, 'utf8');
    let left = tokens;
    for (let at = 0; at < bytes.length; ) {
      const end = this.#splitter.pieceEnd(bytes, at);
      const used = this.#countPiece(bytes, at, end);
      if (used > left) return utf16Length(bytes, used === 1 ? at : this.#merger.endOfToken(left), at);
      left -= used;
      at = end;
    }
    return text.length;
  }

  /** After an answer above 1 the merger holds the piece's tokens. */
  #countPiece(bytes: Uint8Array, start: number, end: number): number {
    if (end - start === 1) return 1;
    if (end - start <= TOKEN_MAX_BYTES && this.#ranks.rank(bytes, start, end) !== NO_RANK) return 1;
    return this.#merger.merge(bytes, start, end);
  }
}

/** UTF-16 units of `bytes[0..end]`, `end` moved back to the start of its character but not before `floor`. */
function utf16Length(bytes: Buffer, end: number, floor: number): number {
  let at = end;
  while (at > floor && ((bytes[at] ?? 0) & 0xc0) === 0x80) at--;
  return bytes.toString('utf8', 0, at).length;
}
