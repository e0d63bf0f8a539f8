import { cutAfter, cutBefore } from './cut-points.ts';
import { type Dense, type DensifyStep, densify } from './densify/densify.ts';
import { countPrinted, headEnd, LAST_LOOK, type PrintCounter, tailStart, wellFormed } from './truncate.ts';
import { lastErrorBlock } from './views/errors.ts';

/** Which end of a text stays if it is too long. */
export const CUT_MODES = ['head', 'tail', 'head_tail'] as const;
export type CutMode = (typeof CUT_MODES)[number];

/** A text of an answer, and how it may be shown. */
export interface CutStream {
  /** Key of `data` that takes the text. */
  field: string;
  /** What may be shown of the stream: scrubbed, as it is stored. */
  text: string;
  /** Byte of the artifact at which `text` begins. */
  offset: number;
  cut: CutMode;
  /** Done before anything is cut; empty if every byte counts. */
  densify: readonly DensifyStep[];
  /** Keeps the last error lines whatever the budget, for the output of a command that failed. */
  keepErrors: boolean;
}

/** A part that is shown: `text` stands for the source's `start..end`, in UTF-16 units. */
export interface Piece {
  text: string;
  start: number;
  end: number;
}

/** Tokens that the line in place of omitted text may take. */
const MARKER_TOKENS = 20;
/** The least part of a text, UTF-16 units, that is densified from each end when it can never be shown whole. */
const WINDOW_MIN_CHARS = 128 * 1024;
/** Densified text is seldom shorter than this part of its source. */
const WINDOW_CHARS_PER_TOKEN = 64;
/** The error lines in the middle get a third of the room for a text, or this many tokens if that is more. */
const ERRORS_SHARE = 3;
const ERRORS_MIN_TOKENS = 64;

/**
 * One stream as an answer may show it: densified, cut by its mode to the room there is, every cut traced back to the
 * source. Of a text far beyond the budget only both ends are processed.
 */
export class ShownStream {
  readonly field: string;
  readonly source: string;
  /** Byte of the artifact at which the source begins. */
  readonly offset: number;
  /** Bytes of the source. */
  readonly bytes: number;
  readonly #stream: CutStream;
  readonly #head: Dense;
  readonly #tail: Dense;
  /** Where `#tail` begins in the source; 0 if head and tail are the whole. */
  readonly #tailBase: number;
  #errors: { start: number; end: number } | null | undefined;

  constructor(stream: CutStream, budgetTokens: number) {
    const { text, densify: steps } = stream;
    this.#stream = stream;
    this.field = stream.field;
    this.source = text;
    this.offset = stream.offset;
    this.bytes = Buffer.byteLength(text);
    const window = Math.max(WINDOW_MIN_CHARS, budgetTokens * WINDOW_CHARS_PER_TOKEN);
    if (text.length <= 2 * window) {
      this.#head = densify(text, steps);
      this.#tail = this.#head;
      this.#tailBase = 0;
    } else {
      this.#head = densify(text.slice(0, windowEnd(text, window)), steps, true);
      this.#tailBase = windowStart(text, text.length - window);
      this.#tail = densify(text.slice(this.#tailBase), steps, true);
    }
  }

  /** The whole, densified; null for one far too long to be shown. */
  get whole(): string | null {
    return this.#isWhole ? this.#head.text : null;
  }

  /** What densification changed in what may be shown. */
  get steps(): readonly DensifyStep[] {
    return this.#isWhole ? this.#head.steps : [...new Set([...this.#head.steps, ...this.#tail.steps])];
  }

  /** Tokens of the whole as printed; Infinity above `limit`, or when it is too long to be looked at. */
  tokens(counter: PrintCounter, limit: number): number {
    const { whole } = this;
    if (whole === null || whole.length > limit * LAST_LOOK) return Number.POSITIVE_INFINITY;
    return countPrinted(counter, wellFormed(whole), limit);
  }

  /** The whole as one piece. */
  uncut(): Piece[] {
    return [{ text: this.#head.text, start: 0, end: this.source.length }];
  }

  /** Returns pieces of about `roomTokens` including the lines that mark gaps: in order, not touching. */
  cut(counter: PrintCounter, roomTokens: number): Piece[] {
    const room = roomTokens - MARKER_TOKENS;
    switch (this.#stream.cut) {
      case 'head':
        return present([this.#headPiece(counter, room).piece]);
      case 'tail':
        return present([this.#tailPiece(counter, room, 0)]);
      case 'head_tail':
        return this.#cutMiddle(counter, room);
    }
  }

  /** Bytes of the artifact before `offset` of the source. */
  byteAt(offset: number): number {
    const { source } = this;
    if (offset * 2 < source.length) return this.offset + Buffer.byteLength(source.slice(0, offset));
    return this.offset + this.bytes - Buffer.byteLength(source.slice(offset));
  }

  get #isWhole(): boolean {
    return this.#head === this.#tail;
  }

  #cutMiddle(counter: PrintCounter, room: number): Piece[] {
    const ends = this.#bothEnds(counter, room);
    const errors = this.#hiddenErrors(ends);
    if (errors === null) return present(ends);
    const share = Math.max(Math.floor(room / ERRORS_SHARE), Math.min(room, ERRORS_MIN_TOKENS));
    const kept = this.#lastOf(counter, errors, share);
    const left = room - countPrinted(counter, wellFormed(kept.text)) - MARKER_TOKENS;
    const [head, tail] = this.#bothEnds(counter, Math.max(0, left));
    const start = Math.max(kept.start, head.end);
    const end = Math.min(kept.end, tail.start);
    const isWhole = start === kept.start && end === kept.end;
    const middle = isWhole ? kept : { text: this.source.slice(start, Math.max(start, end)), start, end };
    return present(start < end ? [head, middle, tail] : [head, tail]);
  }

  #bothEnds(counter: PrintCounter, room: number): [Piece, Piece] {
    const { piece, cut } = this.#headPiece(counter, Math.floor(room / 2));
    const left = room - countPrinted(counter, wellFormed(piece.text));
    return [piece, this.#tailPiece(counter, left, this.#isWhole ? cut : 0)];
  }

  /** `cut`: where it ends in the densified text. */
  #headPiece(counter: PrintCounter, room: number): { piece: Piece; cut: number } {
    const cut = this.#head.cutBefore(headEnd(counter, this.#head.text, room));
    return { piece: { text: this.#head.text.slice(0, cut), start: 0, end: this.#head.sourceOf(cut, 'end') }, cut };
  }

  /** `floor`: place of the densified text before which it does not begin. */
  #tailPiece(counter: PrintCounter, room: number, floor: number): Piece {
    const cut = this.#tail.cutAfter(tailStart(counter, this.#tail.text, room, floor));
    const start = this.#tailBase + this.#tail.sourceOf(cut, 'start');
    return { text: this.#tail.text.slice(cut), start, end: this.source.length };
  }

  /** The last block of error lines, if the two ends do not show it. */
  #hiddenErrors([head, tail]: [Piece, Piece]): { start: number; end: number } | null {
    if (!this.#stream.keepErrors) return null;
    if (this.#errors === undefined) this.#errors = lastErrorBlock(this.source, WINDOW_MIN_CHARS);
    const errors = this.#errors;
    return errors === null || errors.end <= head.end || errors.start >= tail.start ? null : errors;
  }

  #lastOf(counter: PrintCounter, { start, end }: { start: number; end: number }, room: number): Piece {
    const dense = densify(this.source.slice(start, end), this.#stream.densify, true);
    const cut = dense.cutAfter(tailStart(counter, dense.text, room, 0));
    return { text: dense.text.slice(cut), start: start + dense.sourceOf(cut, 'start'), end };
  }
}

function present(pieces: readonly Piece[]): Piece[] {
  return pieces.filter(({ start, end }) => start < end);
}

function windowEnd(text: string, at: number): number {
  const lineEnd = text.lastIndexOf('\n', at) + 1;
  return lineEnd * 2 > at ? lineEnd : cutBefore(text, at);
}

function windowStart(text: string, at: number): number {
  const lineStart = text.indexOf('\n', at) + 1;
  const isNear = lineStart > 0 && text.length - lineStart > (text.length - at) / 2;
  return isNear ? lineStart : cutAfter(text, at);
}
