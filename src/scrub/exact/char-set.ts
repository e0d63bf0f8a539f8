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
  const pairs: [number, number][] = [];
  for (let at = 0; at + 1 < set.length; at += 2) pairs.push([set[at] ?? 0, set[at + 1] ?? 0]);
  return pairs;
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
  const [low = 0, high = 0] = set;
  // Most sets are one letter of a keyword.
  if (set.length === 2 && low === high && high <= 0x7f) return FOLDED_ASCII[high] ?? null;
  const cases: number[] = [];
  for (const [low, high] of pairsOf(set)) {
    if (high > 0x7f && !isCaseless(Math.max(low, 0x80), high)) return null;
    if (low <= 0x7f) addCases(cases, low, Math.min(high, 0x7f));
  }
  for (const [odd, plain] of [KELVIN, LONG_S]) if (contains(set, odd)) cases.push(...(FOLDED_ASCII[plain] ?? []));
  return unite(set, cases);
}

/** Adds the other cases of the ASCII characters from `low` to `high`. */
function addCases(cases: number[], low: number, high: number): void {
  for (const [first, last, step] of [
    [0x41, 0x5a, CASE_STEP],
    [0x61, 0x7a, -CASE_STEP],
  ] as const) {
    const [from, to] = [Math.max(low, first), Math.min(high, last)];
    if (from > to) continue;
    cases.push(from + step, to + step);
    for (const [odd, plain] of [KELVIN, LONG_S])
      if ((from | CASE_STEP) <= plain && plain <= (to | CASE_STEP)) cases.push(odd, odd);
  }
}

/** An ASCII character → it and its other cases. */
const FOLDED_ASCII: readonly CharSet[] = Array.from({ length: 0x80 }, (_, char) => {
  const cases: number[] = [];
  addCases(cases, char, char);
  return unite([char, char], cases);
});

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
