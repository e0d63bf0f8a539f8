/**
 * Patterns of clients, matched with the words of a command joined by blanks. `*` is any text, and a last ` *` may be missing
 * altogether. The words can have holes: text that only the shell knows.
 */

/** A hole that may be any text, several words included. */
export const ANY_HOLE = '\uE000';
/** A hole within one word. */
export const WORD_HOLE = '\uE001';
/** A word that names a stream of another command: `<(…)`. */
export const STREAM_HOLE = '\uE002';
/** A part of an unquoted word: text within it, or a blank that makes two words of it, such as `$IFS`. */
export const SPLIT_HOLE = '\uE003';
/**
 * What a program prints whose words say nothing of it, in place of a word. As a text that the shell reads it is like a script
 * in a file, which is not read.
 */
export const OUTPUT_HOLE = '\uE004';

const HOLES = /[\uE000-\uE004]/g;

/** A pattern as what its characters stand for. `null`: any text. `one`: one character. */
type Token = string | null | { readonly one: true };

export type Pattern = readonly Token[];

const ONE = { one: true } as const;

/** `*` is any text; with `hasQuestion` a `?` is one character. A backslash before `*` or itself takes away its meaning. */
export function compilePattern(text: string, hasQuestion: boolean): Pattern {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    const next = text.charAt(at + 1);
    if (!hasQuestion && char === '\\' && (next === '*' || next === '\\')) {
      tokens.push(next);
      at += 1;
    } else if (char === '*') tokens.push(null);
    else tokens.push(hasQuestion && char === '?' ? ONE : char);
  }
  return tokens;
}

/** `surely`: whatever the holes are. `maybe`: for some content of the holes. */
export type Match = 'surely' | 'maybe' | 'no';

export function matchPattern(pattern: Pattern, text: string): Match {
  const forms = formsOf(pattern);
  if (forms.some((form) => accepts(form, text, false))) return 'surely';
  return hasHole(text) && forms.some((form) => accepts(form, text, true)) ? 'maybe' : 'no';
}

export function hasHole(text: string): boolean {
  return text.search(HOLES) !== -1;
}

/** Constant text. A character that means a hole becomes one, so that no text can pass for a known word by it. */
export function asConstant(text: string): string {
  return text.replaceAll(HOLES, ANY_HOLE);
}

/** The text with its holes as expansions, to be read as shell source. A hole that is no part of a word may be several words. */
export function asSource(text: string): string {
  return text.replaceAll(HOLES, (hole, at: number) => {
    const [before, after] = [text.slice(0, at), text.slice(at + 1)];
    if (hole === OUTPUT_HOLE && /(?:^|[;&|(\n])[ \t]*$/.test(before) && /^[ \t]*(?:$|[;&|)\n])/.test(after)) return ':';
    const isWord = /(?:^|[\s;&|(])$/.test(before) && /^(?:$|[\s;&|)])/.test(after);
    return hole === ANY_HOLE || hole === STREAM_HOLE || isWord ? '$hidden' : '"$hidden"';
  });
}

/** The text for a person. */
export function shownText(text: string): string {
  return text.replaceAll(HOLES, '…');
}

/** A pattern that ends in ` *` also covers the command without arguments. */
function formsOf(pattern: Pattern): Pattern[] {
  const bare = pattern.slice(0, -2);
  return pattern.at(-1) === null && pattern.at(-2) === ' ' ? [pattern, bare] : [pattern];
}

/** What every text that the pattern covers begins with. */
export function literalStart(pattern: Pattern): string {
  const end = pattern.findIndex((token) => typeof token !== 'string');
  return pattern.slice(0, end === -1 ? pattern.length : end).join('');
}

/** Follows all positions in the pattern at once: time is the product of both lengths at most. */
function accepts(pattern: Pattern, text: string, fillsHoles: boolean): boolean {
  let at = closed(pattern, new Set([0]));
  for (const char of text) {
    const after = new Set<number>();
    for (const position of at) for (const next of steps(pattern, position, char, fillsHoles)) after.add(next);
    at = closed(pattern, after);
    if (at.size === 0) return false;
  }
  return at.has(pattern.length);
}

function* steps(pattern: Pattern, from: number, char: string, fillsHoles: boolean): Generator<number> {
  if (char >= ANY_HOLE && char <= OUTPUT_HOLE) {
    if (pattern[from] === null) yield from;
    if (!fillsHoles) return;
    if (char === SPLIT_HOLE && pattern[from] === ' ') yield from + 1;
    for (let to = from; to <= pattern.length; to += 1) {
      yield to;
      if (char !== ANY_HOLE && pattern[to] === ' ') return;
    }
    return;
  }
  const token = pattern[from];
  if (token === null) yield from;
  else if (token === char || typeof token === 'object') yield from + 1;
}

/** `*` may be empty. */
function closed(pattern: Pattern, positions: ReadonlySet<number>): Set<number> {
  const all = new Set(positions);
  for (let position of positions) {
    while (position < pattern.length && pattern[position] === null) {
      position += 1;
      all.add(position);
    }
  }
  return all;
}
