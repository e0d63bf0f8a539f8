/** Classes of cl100k's splitting pattern; 0 means not looked up yet. */
const LETTER = 1;
const DIGIT = 2;
const SPACE = 3;
const NEWLINE = 4;
const OTHER = 5;

const APOSTROPHE = 0x27;
const BLANK = 0x20;

/**
 * Splits UTF-8 as cl100k's pattern splits text, in one pass without backtracking:
 *
 *     's|'t|'re|'ve|'m|'ll|'d (either case) | [^\r\n\p{L}\p{N}]?\p{L}+ | \p{N}{1,3} | ?[^\s\p{L}\p{N}]+[\r\n]*
 *     | \s*[\r\n]+ | \s+(?!\S) | \s+
 *
 * `\s`, `\p{L}` and `\p{N}` are the runtime's own, as they are in js-tiktoken. A lone surrogate arrives here as
 * U+FFFD and is of the same class.
 */
export class PieceSplitter {
  /** One byte per code point, filled as code points are met: untouched pages cost no memory. */
  readonly #classes = new Uint8Array(0x110000);
  #bytes: Uint8Array = new Uint8Array(0);
  /** Bytes of the character that `#classAt` looked at last. */
  #width = 1;

  /** Where the piece that starts at `start` ends. `bytes` must be valid UTF-8 and `start` below its length. */
  pieceEnd(bytes: Uint8Array, start: number): number {
    this.#bytes = bytes;
    const first = bytes[start];
    const contraction = first === APOSTROPHE ? this.#contractionEnd(start) : 0;
    if (contraction > 0) return contraction;
    const kind = this.#classAt(start);
    const second = start + this.#width;
    if (kind === LETTER) return this.#runEnd(second, LETTER);
    if (kind === DIGIT) return this.#digitsEnd(second);
    if (kind === NEWLINE) return this.#spaceEnd(start);
    const next = this.#classAt(second);
    if (next === LETTER) return this.#runEnd(second, LETTER);
    if (kind === OTHER || (first === BLANK && next === OTHER)) {
      return this.#runEnd(this.#runEnd(second, OTHER), NEWLINE);
    }
    return this.#spaceEnd(start);
  }

  #contractionEnd(start: number): number {
    const first = lower(this.#bytes[start + 1]);
    if (first === 's' || first === 't' || first === 'm' || first === 'd') return start + 2;
    const pair = first + lower(this.#bytes[start + 2]);
    return pair === 're' || pair === 've' || pair === 'll' ? start + 3 : 0;
  }

  #runEnd(from: number, kind: number): number {
    let at = from;
    while (this.#classAt(at) === kind) at += this.#width;
    return at;
  }

  #digitsEnd(second: number): number {
    if (this.#classAt(second) !== DIGIT) return second;
    const third = second + this.#width;
    return this.#classAt(third) === DIGIT ? third + this.#width : third;
  }

  /** White space up to its last newline; else, before more text, all but its last character. */
  #spaceEnd(start: number): number {
    let at = start;
    let last = start;
    let afterNewline = 0;
    for (let kind = this.#classAt(at); kind === SPACE || kind === NEWLINE; kind = this.#classAt(at)) {
      last = at;
      at += this.#width;
      if (kind === NEWLINE) afterNewline = at;
    }
    if (afterNewline > 0) return afterNewline;
    return at === this.#bytes.length || last === start ? at : last;
  }

  /** The class of the character at `at`, 0 past the end. */
  #classAt(at: number): number {
    if (at >= this.#bytes.length) return 0;
    const lead = this.#bytes[at] ?? 0;
    this.#width = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    const codePoint = lead < 0x80 ? lead : this.#codePointAt(at, lead);
    const known = this.#classes[codePoint] ?? 0;
    return known === 0 ? this.#learn(codePoint) : known;
  }

  #codePointAt(at: number, lead: number): number {
    let codePoint = lead & (0xff >> (this.#width + 1));
    for (let i = 1; i < this.#width; i++) codePoint = (codePoint << 6) | ((this.#bytes[at + i] ?? 0) & 0x3f);
    return codePoint;
  }

  #learn(codePoint: number): number {
    const kind = classify(String.fromCodePoint(codePoint));
    this.#classes[codePoint] = kind;
    return kind;
  }
}

function classify(character: string): number {
  if (/[\r\n]/.test(character)) return NEWLINE;
  if (/\s/u.test(character)) return SPACE;
  if (/\p{L}/u.test(character)) return LETTER;
  return /\p{N}/u.test(character) ? DIGIT : OTHER;
}

function lower(byte: number | undefined): string {
  return byte === undefined ? '' : String.fromCharCode(byte).toLowerCase();
}
