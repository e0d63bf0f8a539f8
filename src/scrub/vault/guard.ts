import { entropyOf } from '../exact/entropy.ts';
import { KnownValues, keyLines } from './known-values.ts';
import { searchText } from './search.ts';
import type { GuardHit } from './sight.ts';

export type { GuardHit } from './sight.ts';

/** Values shorter than this would be masked all over the place. */
const MIN_CHARS = 8;
/** Values of one guard; those beyond are still masked wherever a pattern finds them. */
const MAX_VALUES = 8000;
/** Longer values are not looked for as a whole; the lines of a long key are. */
const MAX_CHARS = 8192;

/**
 * Finds values that are known to be secret, however many there are: as they are, in every form a program is likely to
 * write them in (exact-forms.ts, forms.ts), in pieces from twelve letters and digits on, and within encodings
 * (decoded.ts). A value can be held for its session or only be looked for: the guard does not know the difference.
 */
export class Guard {
  readonly #known = new KnownValues();
  readonly #taken = new Set<string>();

  /** Values held; the lines of a long key count one by one. */
  get size(): number {
    return this.#known.size;
  }

  /** Remembers a value. Short and simple values are not taken, of huge ones only the lines of a key. */
  add(value: string, rule: string): void {
    if (value.length > MAX_CHARS) for (const line of keyLines(value)) this.#addOne(line, rule, true);
    else this.#addOne(value, rule, false);
  }

  /** The known values in a text, in order of place; hits may overlap. SCRUB_FAILED when a text is made to be costly. */
  scan(text: string): GuardHit[] {
    return searchAtOnce([this], text);
  }

  #addOne(value: string, rule: string, isLine: boolean): void {
    if (!isGuardable(value) || this.#taken.has(value) || this.#known.size >= MAX_VALUES) return;
    const copy = copyText(value);
    this.#taken.add(copy);
    this.#known.add(copy, rule, isLine);
  }

  /** Searches for the values of several guards at once. Yields every ten milliseconds or so: let others have the thread. */
  static search(guards: readonly Guard[], text: string): Generator<void, GuardHit[], void> {
    return searchText(
      guards.map((guard) => guard.#known),
      text,
    );
  }
}

/** The same in one go. */
export function searchAtOnce(guards: readonly Guard[], text: string): GuardHit[] {
  const search = Guard.search(guards, text);
  for (;;) {
    const step = search.next();
    if (step.done === true) return step.value;
  }
}

/** A word or a number: masking it wherever it shows would hide ordinary text. */
const PLAIN = /^(?:[A-Z]?[a-z]+|[A-Z]+|\d+)$/;

/** True for values that can be masked wherever they show: not a short word, not monotonous. */
function isGuardable(value: string): boolean {
  if (value.length < MIN_CHARS || value.length > MAX_CHARS || entropyOf(value) < 2) return false;
  return value.length >= 20 || !PLAIN.test(value);
}

/** A text with memory of its own: a slice would keep all of the text it was cut from. */
export function copyText(slice: string): string {
  return Buffer.from(slice, 'utf16le').toString('utf16le');
}
