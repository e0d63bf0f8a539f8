/** Code points as sorted, disjoint, inclusive ranges in pairs: `[0x30, 0x39, 0x41, 0x46]`. */
export type CharSet = readonly number[];

export const MAX_CODE_POINT = 0x10ffff;
export const EVERY_CHAR: CharSet = [0, MAX_CODE_POINT];

const DIGITS: CharSet = [0x30, 0x39];
const WORD: CharSet = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];
/** Without \v. */
const SPACE: CharSet = [0x09, 0x0a, 0x0c, 0x0d, 0x20, 0x20];

/** The characters of `\d`, `\s` and `\w`, by letter. Upper case means all other characters. */
export const PERL_SETS: Readonly<Record<string, CharSet>> = { d: DIGITS, s: SPACE, w: WORD };

/** The characters of `[:name:]` inside a class. */
export const POSIX_SETS: Readonly<Record<string, CharSet>> = {
  alnum: [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a],
  alpha: [0x41, 0x5a, 0x61, 0x7a],
  ascii: [0x00, 0x7f],
  blank: [0x09, 0x09, 0x20, 0x20],
  cntrl: [0x00, 0x1f, 0x7f, 0x7f],
  digit: DIGITS,
  graph: [0x21, 0x7e],
  lower: [0x61, 0x7a],
  print: [0x20, 0x7e],
  punct: [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e],
  space: [0x09, 0x0d, 0x20, 0x20],
  upper: [0x41, 0x5a],
  word: WORD,
  xdigit: [0x30, 0x39, 0x41, 0x46, 0x61, 0x66],
};

/** Returns the union of any ranges, in any order. */
export function unite(...sets: readonly CharSet[]): CharSet {
  const pairs = sets.flatMap(pairsOf).sort(([a], [b]) => a - b);
  const united: number[] = [];
  for (const [low, high] of pairs) {
    const last = united.at(-1);
    if (last !== undefined && low <= last + 1) united[united.length - 1] = Math.max(last, high);
    else united.push(low, high);
  }
  return united;
}

export function invert(set: CharSet): CharSet {
  const rest: number[] = [];
  let from = 0;
  for (const [low, high] of pairsOf(set)) {
    if (low > from) rest.push(from, low - 1);
    from = high + 1;
  }
  if (from <= MAX_CODE_POINT) rest.push(from, MAX_CODE_POINT);
  return rest;
}

export function contains(set: CharSet, char: number): boolean {
  for (let at = 0; at + 1 < set.length; at += 2) if (char >= (set[at] ?? 0) && char <= (set[at + 1] ?? -1)) return true;
  return false;
}

export function pairsOf(set: CharSet): [low: number, high: number][] {
  return Array.from({ length: set.length >> 1 }, (_, pair) => [set[2 * pair] ?? 0, set[2 * pair + 1] ?? 0]);
}

/** Larger ranges beyond ASCII are not searched for letters. */
const MAX_LOOKED_THROUGH = 64;
const CASE_STEP = 0x20;
/** Letters beyond ASCII that fold to an ASCII letter, and that letter. */
const KELVIN = [0x212a, 0x6b] as const;
const LONG_S = [0x17f, 0x73] as const;

/**
 * Adds the other cases of the members of a set, as Go folds: K (U+212A) is a k, ſ (U+017F) is an s. Returns null if the
 * set holds letters beyond ASCII whose cases are not known here.
 */
export function fold(set: CharSet): CharSet | null {
  const added: number[] = [];
  for (const [low, high] of pairsOf(set)) {
    if (high > 0x7f && !isCaseless(Math.max(low, 0x80), high)) return null;
    for (let char = low; char <= Math.min(high, 0x7f); char++) added.push(...casesOf(char).flatMap((it) => [it, it]));
  }
  for (const [odd, plain] of [KELVIN, LONG_S])
    if (contains(set, odd)) added.push(...casesOf(plain).flatMap((it) => [it, it]), plain, plain);
  return unite(set, added);
}

function casesOf(char: number): number[] {
  const lower = char | CASE_STEP;
  if (char > 0x7f || lower < 0x61 || lower > 0x7a) return [];
  const odd = [KELVIN, LONG_S].find(([, plain]) => plain === lower)?.[0];
  return [char ^ CASE_STEP, ...(odd === undefined ? [] : [odd])];
}

function isCaseless(low: number, high: number): boolean {
  if (high - low > MAX_LOOKED_THROUGH) return false;
  for (let char = low; char <= high; char++)
    if (char !== KELVIN[0] && char !== LONG_S[0] && hasCase(char)) return false;
  return true;
}

function hasCase(char: number): boolean {
  const text = String.fromCodePoint(char);
  return /\p{L}|\p{M}|\p{N}|\p{So}/u.test(text);
}
