import { ContextdError } from '../core/errors.ts';

/** How many patterns one pattern with braces may expand to. */
const EXPANSIONS_MAX = 1000;

/** `name`: the pattern depends only on the last name, so it matches wherever the directory is moved. */
export type GlobMatch = 'name' | 'path';

export interface GlobSet {
  readonly isEmpty: boolean;
  /** `path` is relative and its names are separated by slashes. */
  match(path: string, isDirectory: boolean): GlobMatch | null;
}

/**
 * Compiles deny globs. As in .gitignore: a pattern without a slash matches at any depth, a pattern with a slash from the
 * workspace's root; `*` and `?` stay within a name and match leading dots; `**` matches any number of directories, and at
 * the end everything inside; a slash at the end means directories only; `[a-z]` and `[!a-z]` match one character; `\`
 * escapes the next character. In addition to .gitignore: `{a,b}`. There is no negation: a denied path stays denied. A match
 * takes time in proportion to the lengths of pattern and path. Throws SCHEMA_INVALID.
 */
export function compileGlobs(patterns: readonly string[]): GlobSet {
  const globs = patterns.flatMap((pattern) => expandBraces(pattern).map((one) => new Glob(one, pattern)));
  return {
    isEmpty: globs.length === 0,
    match(path, isDirectory) {
      const last = path.slice(path.lastIndexOf('/') + 1);
      let names: string[] | null = null;
      for (const glob of globs) {
        if (!glob.mayEndWith(last, isDirectory)) continue;
        names ??= path.split('/');
        if (glob.matches(names)) return glob.kind;
      }
      return null;
    },
  };
}

type Segment = '**' | ((name: string) => boolean);

class Glob {
  readonly kind: GlobMatch;
  readonly #segments: readonly Segment[];
  readonly #last: Segment;
  readonly #directoriesOnly: boolean;

  constructor(pattern: string, given: string) {
    const parts = pattern.split('/').filter((part, i) => part !== '.' && (part !== '' || i === 0));
    if (parts.length === 0 || parts[0] === '' || parts.includes('..') || pattern.startsWith('!')) throw invalid(given);
    this.#directoriesOnly = pattern.endsWith('/');
    const rooted = pattern.replace(/\/$/, '').includes('/');
    const segments = parts.map((part): Segment => (part === '**' ? '**' : compileSegment(part, given)));
    if (!rooted) segments.unshift('**');
    if (segments.at(-1) === '**') segments.push(() => true);
    this.#segments = segments;
    this.#last = segments.at(-1) ?? '**';
    this.kind = segments.length === 2 && segments[0] === '**' ? 'name' : 'path';
  }

  mayEndWith(name: string, isDirectory: boolean): boolean {
    return (isDirectory || !this.#directoriesOnly) && (this.#last === '**' || this.#last(name));
  }

  matches(names: readonly string[]): boolean {
    return matchSequence(
      this.#segments,
      names,
      (segment) => segment === '**',
      (segment, name) => segment !== '**' && segment(name),
    );
  }
}

/**
 * Whether `pattern` matches all of `items`; a star in it matches any number of items. After a mismatch only the last star
 * takes one more item: an earlier star could not do better.
 */
function matchSequence<P, T>(
  pattern: readonly P[],
  items: readonly T[],
  isStar: (part: P) => boolean,
  fits: (part: P, item: T) => boolean,
): boolean {
  let [p, i, starAt, resumeAt] = [0, 0, -1, 0];
  while (i < items.length) {
    const [part, item] = [pattern[p], items[i]];
    if (part !== undefined && isStar(part)) {
      [starAt, resumeAt] = [p++, i];
    } else if (part !== undefined && item !== undefined && fits(part, item)) {
      p++;
      i++;
    } else {
      if (starAt < 0) return false;
      [p, i] = [starAt + 1, ++resumeAt];
    }
  }
  return pattern.slice(p).every(isStar);
}

/** A part of a name: any characters, any one character, this character, or one of a set. */
type Token =
  | '*'
  | '?'
  | { readonly is: string }
  | { readonly set: ReadonlyArray<readonly [string, string]>; readonly negated: boolean };

function compileSegment(text: string, given: string): (name: string) => boolean {
  const tokens = tokenize(text, given);
  const tail = literalOf(tokens.slice(1));
  const whole = literalOf(tokens);
  if (whole !== null) return (name) => name === whole;
  if (tokens[0] === '*' && tail !== null) return (name) => name.endsWith(tail);
  return (name) => matchSequence(tokens, [...name], (token) => token === '*', fitsToken);
}

function literalOf(tokens: readonly Token[]): string | null {
  const texts = tokens.map((token) => (typeof token === 'object' && 'is' in token ? token.is : null));
  return texts.includes(null) ? null : texts.join('');
}

function fitsToken(token: Token, char: string): boolean {
  if (token === '?') return true;
  if (token === '*') return false;
  if ('is' in token) return token.is === char;
  return token.set.some(([from, to]) => codeOf(from) <= codeOf(char) && codeOf(char) <= codeOf(to)) !== token.negated;
}

function codeOf(char: string): number {
  return char.codePointAt(0) ?? 0;
}

function tokenize(text: string, given: string): Token[] {
  const chars = [...text];
  const tokens: Token[] = [];
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i] ?? '';
    if (char === '*') {
      if (tokens.at(-1) !== '*') tokens.push('*');
    } else if (char === '?') tokens.push('?');
    else if (char === '[') {
      const set = readSet(chars, i);
      tokens.push(set?.token ?? { is: char });
      i = set?.end ?? i;
    } else if (char === '\\') {
      const next = chars[++i];
      if (next === undefined) throw invalid(given);
      tokens.push({ is: next });
    } else tokens.push({ is: char });
  }
  return tokens;
}

/** Reads `[…]` at `start`; null if it is not closed, because `[` then means itself. */
function readSet(chars: readonly string[], start: number): { token: Token; end: number } | null {
  let i = start + 1;
  const negated = chars[i] === '!' || chars[i] === '^';
  if (negated) i++;
  const set: [string, string][] = [];
  for (let first = true; ; first = false) {
    const from = chars[i];
    if (from === undefined) return null;
    if (from === ']' && !first) return { token: { set, negated }, end: i };
    const to = chars[i + 1] === '-' && chars[i + 2] !== ']' ? chars[i + 2] : undefined;
    set.push([from, to ?? from]);
    i += to === undefined ? 1 : 3;
  }
}

/** Expands `a{b,c}d` to `abd` and `acd`. Braces without a comma mean themselves. Throws SCHEMA_INVALID for too many. */
export function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const braces = findBraces(next);
    if (braces === null) done.push(next);
    else
      for (const choice of braces.choices) open.push(next.slice(0, braces.start) + choice + next.slice(braces.end + 1));
    if (done.length + open.length > EXPANSIONS_MAX) throw invalid(pattern);
  }
  return done;
}

function findBraces(pattern: string): { start: number; end: number; choices: string[] } | null {
  for (let start = 0; start < pattern.length; start++) {
    if (pattern[start] === '\\') start++;
    else if (pattern[start] === '{') {
      const found = readBraces(pattern, start);
      if (found !== null) return { start, ...found };
    }
  }
  return null;
}

function readBraces(pattern: string, start: number): { end: number; choices: string[] } | null {
  const choices: string[] = [];
  let [depth, from] = [0, start + 1];
  for (let i = start + 1; i < pattern.length; i++) {
    const char = pattern[i];
    if (char === '\\') i++;
    else if (char === '{') depth++;
    else if (char === ',' && depth === 0) {
      choices.push(pattern.slice(from, i));
      from = i + 1;
    } else if (char === '}' && depth-- === 0) {
      choices.push(pattern.slice(from, i));
      return choices.length > 1 ? { end: i, choices } : null;
    }
  }
  return null;
}

function invalid(pattern: string): ContextdError {
  return new ContextdError('SCHEMA_INVALID', `${JSON.stringify(pattern)} is not a valid deny glob`, {
    remedy: 'Write it relative to the project, without "..", "!" or a slash at the start, such as **/*.pem.',
  });
}
