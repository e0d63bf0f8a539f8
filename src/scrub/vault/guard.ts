import { ContextdError } from '../../core/errors.ts';
import { entropyOf } from '../exact/entropy.ts';
import type { Finding } from '../finding.ts';

/** Values shorter than this would be masked all over the place. */
const MIN_CHARS = 8;
/** Values of one session; those beyond are still masked wherever a pattern finds them. */
const MAX_VALUES = 8000;
/** Longer values are not looked for as a whole; the lines of a long key are. */
const MAX_CHARS = 8192;
/** A value is looked for by one window of it, of this many characters. */
const WINDOW = 8;
/** Only the first windows of a value are considered. */
const WINDOWS_LOOKED_AT = 512;
const FILTER_BITS = 17;
const HASH_BASE = 0x01000193;

interface Anchor {
  value: string;
  /** Where in the value its window begins. */
  offset: number;
}

/** Finds values that are known to be secret, by exact match, in one pass however many they are. */
export class Guard {
  readonly #rules = new Map<string, string>();
  readonly #anchors = new Map<string, Anchor[]>();
  /** One byte per hash of a window; allocated with the first value. */
  #filter = new Uint8Array(0);

  get size(): number {
    return this.#rules.size;
  }

  /** Remembers a value, and the lines of a private key one by one. Short, huge and simple values are not taken. */
  add(value: string, rule: string): void {
    if (this.#rules.has(value)) return;
    this.#addOne(value, rule);
    if (!value.includes('\n')) return;
    for (const line of value.split('\n')) if (KEY_LINE.test(line.trim())) this.#addOne(line.trim(), rule);
  }

  /**
   * The known values that begin to show between `from` and `to`, UTF-16 offsets, in no particular order. To go
   * through a text in slices, let the slices touch. SCRUB_FAILED when a text is made to be costly.
   */
  scan(text: string, from = 0, to = text.length): Finding[] {
    const found: Finding[] = [];
    if (this.#rules.size === 0) return found;
    const lastWindow = Math.min(to, text.length - WINDOW + 1);
    let work = 16 * (to - from) + 1_000_000;
    let hash = hashOf(text, from);
    for (let at = from; at < lastWindow; at++) {
      if (this.#filter[slotOf(hash)] === 1)
        for (const { value, offset } of this.#anchors.get(text.slice(at, at + WINDOW)) ?? []) {
          work -= 1 + value.length / 16;
          if (work < 0) throw tooCostly();
          const start = at - offset;
          if (start >= 0 && text.startsWith(value, start))
            found.push({ rule: this.#rules.get(value) ?? '', start, end: start + value.length });
        }
      hash = (Math.imul(hash - Math.imul(text.charCodeAt(at), LEADING), HASH_BASE) + text.charCodeAt(at + WINDOW)) | 0;
    }
    return found;
  }

  #addOne(slice: string, rule: string): void {
    if (!isGuardable(slice) || this.#rules.has(slice) || this.#rules.size >= MAX_VALUES) return;
    const value = copyText(slice);
    this.#rules.set(value, rule);
    const offset = this.#rarestWindow(value);
    const window = value.slice(offset, offset + WINDOW);
    const anchors = this.#anchors.get(window);
    if (anchors === undefined) this.#anchors.set(window, [{ value, offset }]);
    else anchors.push({ value, offset });
    if (this.#filter.length === 0) this.#filter = new Uint8Array(1 << FILTER_BITS);
    this.#filter[slotOf(hashOf(window, 0))] = 1;
  }

  /** The window that fewest other values use, and among those the one with the most different characters. */
  #rarestWindow(value: string): number {
    let best = 0;
    let bestScore = -1;
    for (let offset = 0; offset <= Math.min(value.length - WINDOW, WINDOWS_LOOKED_AT); offset++) {
      const window = value.slice(offset, offset + WINDOW);
      const score = new Set(window).size - (this.#anchors.get(window)?.length ?? 0);
      if (score <= bestScore) continue;
      best = offset;
      bestScore = score;
    }
    return best;
  }
}

/** A line of base64 in a key: long enough to be looked for by itself. */
const KEY_LINE = /^[A-Za-z0-9+/=]{24,}$/;
/** A word or a number: masking it wherever it shows would hide ordinary text. */
const PLAIN = /^(?:[A-Z]?[a-z]+|[A-Z]+|\d+)$/;

/** True for values that can be masked wherever they show: not a short word, not monotonous. */
function isGuardable(value: string): boolean {
  if (value.length < MIN_CHARS || value.length > MAX_CHARS || entropyOf(value) < 2) return false;
  return value.length >= 20 || !PLAIN.test(value);
}

const LEADING = power(HASH_BASE, WINDOW - 1);

function power(base: number, exponent: number): number {
  let result = 1;
  for (let i = 0; i < exponent; i++) result = Math.imul(result, base);
  return result;
}

/** Rolling hash of the window at an offset; a window that sticks out of the text hashes to anything. */
function hashOf(text: string, at: number): number {
  let hash = 0;
  for (let i = 0; i < WINDOW; i++) hash = (Math.imul(hash, HASH_BASE) + text.charCodeAt(at + i)) | 0;
  return hash;
}

function slotOf(hash: number): number {
  return Math.imul(hash, 0x9e3779b1) >>> (32 - FILTER_BITS);
}

/** A text with memory of its own: a slice would keep all of the text it was cut from. */
export function copyText(slice: string): string {
  return Buffer.from(slice, 'utf16le').toString('utf16le');
}

function tooCostly(): ContextdError {
  return new ContextdError('SCRUB_FAILED', 'the text repeats parts of known secrets too often to be searched in time', {
    remedy: 'Ask for less output.',
  });
}
