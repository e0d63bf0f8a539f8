import { type CharSet, pairsOf } from './char-set.ts';
import type { GoNode } from './go-tree.ts';
import { lowerCase } from './keyword-index.ts';

/** Most texts that a part of a pattern may match to be listed. */
const MAX_LISTED = 512;
/** Most words of a pattern. */
const MAX_WORDS = 2048;
/** Most characters of a word: more make it no rarer. */
const MAX_WORD_CHARS = 16;
/** A larger set of characters is not listed. */
const MAX_LETTERS = 4;
const MAX_ASCII = 0x7f;

/** What is known of the texts that a part of a pattern matches. */
interface Matched {
  /** All of them, in lower case. Null: too many. */
  all: Words | null;
  /** Each of them contains one of these. Null: unknown. */
  some: Words | null;
}

type Words = ReadonlySet<string>;

const NOTHING: Words = new Set(['']);

/**
 * Returns words of which every match of a pattern contains at least one, in lower case: as long and as few as possible. An
 * ſ in a match counts as an s, and K (U+212A) as a k. Null if it need not contain any word.
 */
export function requiredWords(pattern: GoNode): readonly string[] | null {
  const { all, some } = matchedBy(pattern);
  const words = better(all, some);
  return words === null ? null : shortest(words);
}

function matchedBy(node: GoNode): Matched {
  switch (node.kind) {
    case 'chars':
      return { all: lettersOf(node.set), some: null };
    case 'assertion':
      return { all: NOTHING, some: null };
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
  let some: Words | null = null;
  let isListed = true;
  for (const part of parts) {
    const longer = part.all === null ? null : joined(run, part.all);
    if (longer !== null) {
      run = longer;
      continue;
    }
    isListed = false;
    some = better(better(some, run), part.some);
    run = part.all ?? NOTHING;
  }
  return { all: isListed ? run : null, some: better(some, run) };
}

function inChoice(options: readonly Matched[]): Matched {
  const all = united(options.map((option) => option.all));
  return { all, some: all ?? united(options.map((option) => better(option.all, option.some))) };
}

function inRepeat({ all, some }: Matched, min: number, max: number): Matched {
  if (min === 0) return { all: max === 1 ? united([all, NOTHING]) : null, some: null };
  let turns: Words | null = all;
  for (let turn = 1; turn < min && turns !== null && all !== null; turn++) turns = joined(turns, all);
  const once = better(turns, better(all, some));
  return { all: min === max ? turns : null, some: once };
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

/** The list that fewer texts hold a word of. The empty word is in every text. */
function better(one: Words | null, other: Words | null): Words | null {
  const [ofOne, ofOther] = [rarityOf(one), rarityOf(other)];
  if (Math.max(ofOne, ofOther) === 0) return null;
  return ofOther > ofOne ? other : one;
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

/** The characters of a small set of ASCII characters, as the keyword index compares them. */
function lettersOf(set: CharSet): Words | null {
  const letters = new Set<string>();
  for (const [low, high] of pairsOf(set)) {
    if (high - low >= MAX_LETTERS) return null;
    for (let code = low; code <= high; code++) {
      const letter = code === LONG_S ? 's' : lowerCase(String.fromCodePoint(code));
      if (letter === '\0' || letter.charCodeAt(0) > MAX_ASCII) return null;
      letters.add(letter);
    }
  }
  return letters.size > MAX_LETTERS ? null : letters;
}

const LONG_S = 0x17f;
