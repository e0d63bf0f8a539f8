const STRIDE = 64 * 1024;

/** Counts the code points of a text, a lone surrogate as one. */
export class CodePoints {
  readonly total: number;
  readonly #text: string;
  /** Code points before each 65,536th UTF-16 unit. */
  readonly #before: number[] = [];

  constructor(text: string) {
    this.#text = text;
    let count = 0;
    for (let at = 0; at < text.length; at += STRIDE) {
      this.#before.push(count);
      count += this.#count(at, Math.min(at + STRIDE, text.length));
    }
    this.total = count;
  }

  /** Code points before a UTF-16 offset that parts no pair. */
  at(offset: number): number {
    const stride = Math.min(Math.floor(offset / STRIDE), Math.max(0, this.#before.length - 1));
    return (this.#before[stride] ?? 0) + this.#count(stride * STRIDE, offset);
  }

  /** Those that begin in the range. */
  #count(from: number, to: number): number {
    let count = to - from;
    for (let at = from; at < to; at++) {
      const isLow = (this.#text.charCodeAt(at) & 0xfc00) === 0xdc00;
      if (isLow && at > 0 && (this.#text.charCodeAt(at - 1) & 0xfc00) === 0xd800) count--;
    }
    return count;
  }
}
