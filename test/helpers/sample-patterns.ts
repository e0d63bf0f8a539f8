/**
 * Samples are patterns: literal text, `[class]`, `{n}` or `{n,m}` after a class, `\` before a literal character,
 * `«»` around what must be masked. Nothing here looks like a real secret; the texts are generated at run time from
 * a seed.
 */
export interface RuleSamples {
  /** Each has one part between « and » that the rule must find exactly. */
  match: readonly string[];
  /** The rule must find nothing in these, even if they contain its keywords. */
  clean: readonly string[];
}

export const B64 = '[A-Za-z0-9+/]';
export const URL64 = '[A-Za-z0-9_-]';
export const ALNUM = '[A-Za-z0-9]';
export const HEX = '[0-9a-f]';
export const UUID = `${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}`;
/** Letters and digits that do not begin like a word and contain at least one digit. */
export const MIXED = '[a-z]{3}[0-9]{2}[A-Z]{3}[a-z0-9]{6}[0-9]{2}';

/** Makes a generator of numbers from 0 up to 1 (mulberry32); the same seed gives the same numbers. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Makes a text from a pattern; « and » stay in it. */
export function generate(pattern: string, random: () => number): string {
  let text = '';
  for (const part of pattern.matchAll(/\\([\s\S])|\[((?:\\.|[^\]])+)\]\{(\d+)(?:,(\d+))?\}|([\s\S])/gu)) {
    const [, literal, members, low, high, character] = part;
    if (members === undefined) text += literal ?? character ?? '';
    else text += pick(expand(members), between(Number(low), Number(high ?? low), random), random);
  }
  return text;
}

export interface Sample {
  text: string;
  /** The part that must be masked, and where it begins in `text`. */
  secret: string;
  start: number;
}

/** Makes a text from a pattern with one «secret» in it. */
export function generateSample(pattern: string, random: () => number): Sample {
  const marked = generate(pattern, random);
  const start = marked.indexOf('«');
  const end = marked.indexOf('»');
  if (start === -1 || end < start) throw new Error(`the sample ${pattern} marks no secret`);
  return { text: marked.replace(/[«»]/g, ''), secret: marked.slice(start + 1, end), start };
}

function expand(members: string): string {
  return members.replace(/(.)-(.)/g, (_range, from: string, to: string) => {
    const first = from.charCodeAt(0);
    return String.fromCharCode(...Array.from({ length: to.charCodeAt(0) - first + 1 }, (_, i) => first + i));
  });
}

function pick(characters: string, count: number, random: () => number): string {
  return Array.from({ length: count }, () => characters[Math.floor(random() * characters.length)]).join('');
}

function between(low: number, high: number, random: () => number): number {
  return low + Math.floor(random() * (high - low + 1));
}
