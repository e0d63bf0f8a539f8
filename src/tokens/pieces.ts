/** Classes of cl100k's splitting pattern; 0: past the end, or not looked up yet. */
const LETTER = 1;
const DIGIT = 2;
const SPACE = 3;
const NEWLINE = 4;
const OTHER = 5;

const APOSTROPHE = 0x27;
const BLANK = 0x20;
const FIRST_WIDE = 0x80;

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
  /** The same for single bytes; 0 for those of longer characters. */
  readonly #narrow = narrowClasses();
  #bytes: Uint8Array = new Uint8Array(0);
  #stop = 0;

  /** What the next pieces are split from: valid UTF-8, `bytes[0..stop]`. */
  open(bytes: Uint8Array, stop: number): void {
    this.#bytes = bytes;
    this.#stop = stop;
  }

  /** Where the piece that starts at `start` ends. */
  pieceEnd(start: number): number {
    const first = this.#bytes[start];
    const contraction = first === APOSTROPHE ? this.#contractionEnd(start) : 0;
    if (contraction > 0) return contraction;
    const kind = this.#classAt(start);
    const second = start + this.#widthAt(start);
    if (kind === LETTER) return this.#runEnd(second, LETTER);
    if (kind === DIGIT) return this.#digitsEnd(second);
    if (kind === NEWLINE) return this.#spaceEnd(second, start, second);
    const next = this.#classAt(second);
    if (next === LETTER) return this.#runEnd(second + this.#widthAt(second), LETTER);
    if (kind === OTHER || (first === BLANK && next === OTHER)) {
      return this.#runEnd(this.#runEnd(second, OTHER), NEWLINE);
    }
    return next === SPACE || next === NEWLINE ? this.#spaceEnd(second, start, 0) : second;
  }

  #contractionEnd(start: number): number {
    const first = this.#lowerAt(start + 1);
    if (first === 's' || first === 't' || first === 'm' || first === 'd') return start + 2;
    const pair = first + this.#lowerAt(start + 2);
    return pair === 're' || pair === 've' || pair === 'll' ? start + 3 : 0;
  }

  #lowerAt(at: number): string {
    return at >= this.#stop ? '' : String.fromCharCode(this.#bytes[at] ?? 0).toLowerCase();
  }

  #runEnd(from: number, kind: number): number {
    const bytes = this.#bytes;
    const narrow = this.#narrow;
    const stop = this.#stop;
    let at = from;
    for (;;) {
      while (at < stop && narrow[bytes[at] ?? 0] === kind) at++;
      if (at >= stop || (bytes[at] ?? 0) < FIRST_WIDE || this.#wideClass(at) !== kind) return at;
      at += this.#widthAt(at);
    }
  }

  #digitsEnd(second: number): number {
    if (this.#classAt(second) !== DIGIT) return second;
    const third = second + this.#widthAt(second);
    return this.#classAt(third) === DIGIT ? third + this.#widthAt(third) : third;
  }

  /**
   * White space up to its last newline; else, before more text, all but its last character. Looks on from `from`;
   * `previous`: where the character before that starts, `newlineEnd`: where the newline before it ends, if it is one.
   */
  #spaceEnd(from: number, previous: number, newlineEnd: number): number {
    let at = from;
    let last = previous;
    let afterNewline = newlineEnd;
    for (let kind = this.#classAt(at); kind === SPACE || kind === NEWLINE; kind = this.#classAt(at)) {
      last = at;
      at += this.#widthAt(at);
      if (kind === NEWLINE) afterNewline = at;
    }
    if (afterNewline > 0) return afterNewline;
    return at === this.#stop ? at : last;
  }

  /** The class of the character at `at`, 0 past the end. */
  #classAt(at: number): number {
    if (at >= this.#stop) return 0;
    const lead = this.#bytes[at] ?? 0;
    return lead < FIRST_WIDE ? (this.#narrow[lead] ?? 0) : this.#wideClass(at);
  }

  /** Bytes of the character at `at`. */
  #widthAt(at: number): number {
    const lead = this.#bytes[at] ?? 0;
    return lead < FIRST_WIDE ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  }

  #wideClass(at: number): number {
    const width = this.#widthAt(at);
    let codePoint = (this.#bytes[at] ?? 0) & (0xff >> (width + 1));
    for (let i = 1; i < width; i++) codePoint = (codePoint << 6) | ((this.#bytes[at + i] ?? 0) & 0x3f);
    const known = this.#classes[codePoint] ?? 0;
    return known === 0 ? this.#learn(codePoint) : known;
  }

  #learn(codePoint: number): number {
    const kind = classify(String.fromCodePoint(codePoint));
    this.#classes[codePoint] = kind;
    return kind;
  }
}

/**
 * Whether a piece ends between these two UTF-16 units wherever they stand: the left one is an ASCII letter or digit, the
 * right one ASCII of another class. Nothing in the pattern goes on after its letters, nor after its digits.
 */
export function isSeam(left: number, right: number): boolean {
  const kind = SEAM_CLASSES[left] ?? 0;
  return (kind === LETTER || kind === DIGIT) && right < FIRST_WIDE && SEAM_CLASSES[right] !== kind;
}

const SEAM_CLASSES = narrowClasses();

/** The classes of ASCII; 0 for bytes from 0x80. */
function narrowClasses(): Uint8Array {
  const classes = new Uint8Array(256);
  for (let byte = 0; byte < FIRST_WIDE; byte++) classes[byte] = classify(String.fromCharCode(byte));
  return classes;
}

function classify(character: string): number {
  if (/[\r\n]/.test(character)) return NEWLINE;
  if (/\s/u.test(character)) return SPACE;
  if (/\p{L}/u.test(character)) return LETTER;
  return /\p{N}/u.test(character) ? DIGIT : OTHER;
}
