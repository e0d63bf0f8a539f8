/** Words of a catalogue that a query may have misspelt or joined. Pure. */

const PART_CHARS = 3;
const WORD_MIN_CHARS = 4;
/** From this share of common parts on (Dice's coefficient), two words count as spellings of each other. */
const SIMILAR_FROM = 0.6;
const SIMILAR_MOST = 4;

/** Finds stems by the runs of three characters that they have. */
export class Spellings {
  readonly #words: string[] = [];
  readonly #parts = new Map<string, number[]>();

  constructor(words: Iterable<string>) {
    for (const word of words) {
      if (!isComparable(word)) continue;
      for (const part of partsOf(word)) {
        const list = this.#parts.get(part);
        if (list === undefined) this.#parts.set(part, [this.#words.length]);
        else list.push(this.#words.length);
      }
      this.#words.push(word);
    }
  }

  /** The most similar words and how similar they are, from 0 to 1. Ties in the order of the alphabet. */
  similar(word: string): [word: string, likeness: number][] {
    if (!isComparable(word)) return [];
    const parts = partsOf(word);
    const common = new Map<number, number>();
    for (const part of parts)
      for (const number of this.#parts.get(part) ?? []) common.set(number, (common.get(number) ?? 0) + 1);
    return [...common]
      .map(([number, count]): [string, number] => {
        const known = this.#words[number] ?? '';
        return [known, (2 * count) / (parts.size + partsOf(known).size)];
      })
      .filter(([, likeness]) => likeness >= SIMILAR_FROM)
      .sort(([a, likenessA], [b, likenessB]) => likenessB - likenessA || (a < b ? -1 : 1))
      .slice(0, SIMILAR_MOST);
  }
}

/** Numbers and short words are near too many others. */
function isComparable(word: string): boolean {
  return word.length >= WORD_MIN_CHARS && !/\d/.test(word);
}

function partsOf(word: string): Set<string> {
  const marked = `^${word}$`;
  const parts = new Set<string>();
  for (let at = 0; at + PART_CHARS <= marked.length; at++) parts.add(marked.slice(at, at + PART_CHARS));
  return parts;
}
