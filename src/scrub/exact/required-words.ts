import { type CharSet, pairsOf } from './char-set.ts';
import type { GoNode } from './go-tree.ts';
import { lowerCase } from './keyword-index.ts';

/** Most texts that a part of a pattern may match to be listed. */
const MAX_LISTED = 512;
/** Most words of a list. */
const MAX_WORDS = 2048;
/** Most lists of a pattern. */
const MAX_LISTS = 4;
/** Most characters of a word: more make it no rarer. */
const MAX_WORD_CHARS = 16;
/** A larger set of characters is not listed. */
const MAX_LETTERS = 4;

/** What is known of the texts that a part of a pattern matches. */
interface Matched {
  /** All of them, in lower case. Null: too many. */
  all: Words | null;
  /** Of each of these lists they contain a word; the rarest words first. */
  some: readonly Words[];
}

type Words = ReadonlySet<string>;

const NOTHING: Words = new Set(['']);

/**
 * Returns lists of words, in lower case: every match of a pattern contains a word of each list. An ſ in a match counts as
 * an s, and K (U+212A) as a k. The best list comes first: its words are as long and as few as possible. Empty if a match
 * need not contain any word.
 */
export function requiredWords(pattern: GoNode): readonly (readonly string[])[] {
  const { all, some } = matchedBy(pattern);
  return rarestFirst([all, ...some]).map(shortest);
}

function matchedBy(node: GoNode): Matched {
  switch (node.kind) {
    case 'chars':
      return { all: lettersOf(node.set), some: [] };
    case 'assertion':
      return { all: NOTHING, some: [] };
    case 'group':
      return matchedBy(node.of);
    case 'sequence':
      return inSequence(node.parts.map(matchedBy));
    case 'choice':
      return inChoice(node.options.map(matchedBy));
    case 'repeat':
      return inRepeat(matchedBy(node.of), node.min, node.max);
  }
}

function inSequence(parts: readonly Matched[]): Matched {
  let run: Words = NOTHING;
  const some: (Words | null)[] = [];
  let isListed = true;
  for (const part of parts) {
    const longer = part.all === null ? null : joined(run, part.all);
    if (longer !== null) {
      run = longer;
      continue;
    }
    isListed = false;
    some.push(run, ...part.some);
    run = part.all ?? NOTHING;
  }
  return { all: isListed ? run : null, some: rarestFirst([...some, run]) };
}

function inChoice(options: readonly Matched[]): Matched {
  const all = united(options.map((option) => option.all));
  if (all !== null) return { all, some: rarestFirst([all]) };
  const [first = [], ...others] = options.map((option) => rarestFirst([option.all, ...option.some]));
  // With each list of the first option goes the one of every other option that adds the fewest words.
  const lists = first.map((words) => united([words, ...others.map((lists) => closest(lists, words))]));
  return { all, some: rarestFirst([united([first[0] ?? null, ...others.map(([best]) => best ?? null)]), ...lists]) };
}

function closest(lists: readonly Words[], to: Words): Words | null {
  const added = (words: Words): number => [...words].filter((word) => !to.has(word)).length;
  return lists.reduce<Words | null>((best, one) => (best === null || added(one) < added(best) ? one : best), null);
}

function inRepeat({ all, some }: Matched, min: number, max: number): Matched {
  if (min === 0) return { all: max === 1 ? united([all, NOTHING]) : null, some: [] };
  let turns: Words | null = all;
  for (let turn = 1; turn < min && turns !== null && all !== null; turn++) turns = joined(turns, all);
  return { all: min === max ? turns : null, some: rarestFirst([turns ?? all, ...some]) };
}

/** Every text of one list followed by every text of the other. Null if they are too many. */
function joined(first: Words, second: Words): Words | null {
  if (first.size * second.size > MAX_LISTED) return null;
  const both = new Set<string>();
  for (const one of first) for (const other of second) both.add(one + other);
  return both;
}

function united(lists: readonly (Words | null)[]): Words | null {
  const words = new Set<string>();
  for (const list of lists) {
    if (list === null) return null;
    for (const word of list) words.add(word);
  }
  return words.size > MAX_WORDS ? null : words;
}

/** The lists that are of use, each once. The empty word is in every text. */
function rarestFirst(lists: readonly (Words | null)[]): Words[] {
  const kept: Words[] = [];
  const useful = lists.filter((words) => words !== null && rarityOf(words) > 0);
  for (const words of useful.sort((one, other) => rarityOf(other) - rarityOf(one)))
    if (words !== null && kept.length < MAX_LISTS && !kept.some((known) => isSame(known, words))) kept.push(words);
  return kept;
}

function isSame(one: Words, other: Words): boolean {
  return one.size === other.size && [...one].every((word) => other.has(word));
}

/** Whether the words of a list are more than a sign each. */
export function areRare(words: readonly string[]): boolean {
  return words.every((word) => rarityOfWord(word) > 1);
}

/** 0: no use. A word is the rarer the longer it is; single letters are everywhere. */
function rarityOf(words: Words | null): number {
  if (words === null) return 0;
  let least = Number.POSITIVE_INFINITY;
  for (const word of words) least = Math.min(least, rarityOfWord(word));
  return least / (1 + words.size / MAX_WORDS);
}

function rarityOfWord(word: string): number {
  if (SINGLE_LETTER.test(word)) return 0;
  let rarity = 0;
  for (const letter of word.slice(0, MAX_WORD_CHARS)) rarity += COMMON_SIGNS.includes(letter) ? 0.5 : 1;
  return rarity;
}

const SINGLE_LETTER = /^[a-z0-9]$/;
const COMMON_SIGNS = ' \t\r\n.,:;=-_"\'`()/';

/** Without the words that contain another one of the list. */
function shortest(words: Words): string[] {
  const kept: string[] = [];
  const cut = [...words].map((word) => word.slice(0, MAX_WORD_CHARS));
  for (const word of cut.sort((a, b) => a.length - b.length))
    if (!kept.some((short) => word.includes(short))) kept.push(word);
  return kept;
}

/** The characters of a small set, as the keyword index compares them. */
function lettersOf(set: CharSet): Words | null {
  const letters = new Set<string>();
  for (const [low, high] of pairsOf(set)) {
    if (high - low >= MAX_LETTERS) return null;
    for (let code = low; code <= high; code++) {
      const letter = code === LONG_S ? 's' : lowerCase(String.fromCodePoint(code));
      if (letter === '\0') return null;
      letters.add(letter);
    }
  }
  return letters.size > MAX_LETTERS ? null : letters;
}

const LONG_S = 0x17f;
