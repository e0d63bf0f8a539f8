import { firstIndex } from '../../text/binary-search.ts';
import type { Span } from '../../text/offset-map.ts';
import { type Pass, type Segment, segmentsAt } from './decode-pass.ts';
import { FewKeywords, KeywordIndex } from './keyword-index.ts';
import { type Landmarks, type PlacesOf, partsNear, type Reach, surroundings } from './landmarks.ts';
import type { Rule } from './rule.ts';
import type { Slot } from './rule-index.ts';
import { areFew, linesAround, windowsAround } from './windows.ts';

/**
 * The parts of a text that can hold a match of a rule; undefined: all of it. `searched`: the text, or the text and a line
 * end.
 */
export type PartsOf = (rule: Rule, searched: string) => Span[] | undefined;

/** Shorter texts are searched as a whole: it takes less time than to look for their parts. */
const MIN_CHARS = 4096;
/** Characters around decoded text in which the words of a match with it are looked for first. */
const WINDOW_CHARS = 8192;

/**
 * Finds the parts of long texts that the rules must search. Nearly all patterns require a word, so that one pass over the
 * text for the words of all rules replaces most of the passes for each. What is found is the same. Where a text was decoded
 * once more, only matches with what was decoded count, so that only its surroundings are looked at.
 */
export class PartFinder {
  /** Whose words are known. */
  readonly #rules = new Set<Rule>();
  readonly #all = new WordIndex();
  /** The words of rules whose matches may be of any length. */
  readonly #unbounded = new WordIndex();
  /** The words of rules that have more lists of them than are looked for first. */
  readonly #more = new WordIndex();

  in({ text, segments }: Pass, due: readonly Slot[]): PartsOf {
    if (text.length < MIN_CHARS) return () => undefined;
    this.#addAll(due);
    const near = this.#near(text, segments);
    const everywhere = new Map<WordIndex, PlacesOf>();
    const placesBy = (index: WordIndex): PlacesOf => {
      const placesOf = everywhere.get(index) ?? index.placesIn(text);
      everywhere.set(index, placesOf);
      return placesOf;
    };
    const few = new FewKeywords(text);
    return (rule, searched) => {
      const { landmarks } = rule;
      const nearby = near?.of(searched, landmarks);
      if (nearby !== undefined) return nearby;
      // Near decoded text most rules are done: a table of the words of all would be for a few others.
      if (near !== null && landmarks.reach !== null && few.canFind(landmarks.words.flat()))
        return partsNear(searched, landmarks, (words) => words.flatMap((word) => few.placesOf(word)));
      const index = near !== null && landmarks.reach === null ? this.#unbounded : this.#all;
      const parts = partsNear(searched, landmarks, placesBy(index));
      const { words, more } = landmarks;
      if (more.length === 0 || !isMuch(text, parts)) return parts;
      return partsNear(searched, { ...landmarks, words: [...words, ...more] }, placesBy(this.#more));
    };
  }

  /** Null if nothing was decoded, or most of the text is near to what was. */
  #near(text: string, segments: readonly Segment[]): PartsNear | null {
    if (segments.length === 0) return null;
    const decoded = segments.map((segment) => segment.decoded);
    const windows = windowsAround(text, decoded, WINDOW_CHARS);
    return areFew(text, windows) ? new PartsNear(windows, segments, this.#all.placesIn(text, windows)) : null;
  }

  /** Rules are added when a text first needs them, because it takes time to read their patterns. */
  #addAll(due: readonly Slot[]): void {
    for (const { rule } of due) {
      if (this.#rules.has(rule)) continue;
      this.#rules.add(rule);
      const { words, more, head, reach } = rule.landmarks;
      if (more.length > 0) this.#more.add([...words, ...more].flat());
      for (const index of reach === null ? [this.#all, this.#unbounded] : [this.#all])
        index.add([...words, ...(head?.words ?? [])].flat());
    }
  }
}

/** Whether parts of a text are so much of it that it pays to look for more words. */
function isMuch(text: string, parts: readonly Span[] | undefined): boolean {
  if (parts === undefined) return true;
  return parts.reduce((sum, { start, end }) => sum + end - start, 0) > text.length / MUCH_SHARE;
}

const MUCH_SHARE = 2;

/** Finds words, to which more can be added. */
class WordIndex {
  readonly #ids = new Map<string, number>();
  #index: KeywordIndex | undefined;

  add(words: readonly string[]): void {
    for (const word of words) {
      if (this.#ids.has(word)) continue;
      this.#ids.set(word, this.#ids.size);
      this.#index = undefined;
    }
  }

  /** Where the words are; `windows` as `KeywordIndex.findPlaces` has it. */
  placesIn(text: string, windows?: readonly Span[]): PlacesOf {
    this.#index ??= new KeywordIndex([...this.#ids.keys()]);
    const places = this.#index.findPlaces(text, windows);
    return (words) => words.flatMap((word) => places(this.#ids.get(word) ?? -1));
  }
}

/** The parts of a text that can hold a match with decoded text, by the words of windows around it. */
class PartsNear {
  readonly #windows: readonly Span[];
  readonly #segments: readonly Segment[];
  readonly #placesOf: PlacesOf;

  constructor(windows: readonly Span[], segments: readonly Segment[], placesOf: PlacesOf) {
    this.#windows = windows;
    this.#segments = segments;
    this.#placesOf = placesOf;
  }

  /** Undefined if the windows do not show them. */
  of(text: string, landmarks: Landmarks): Span[] | undefined {
    const { reach } = landmarks;
    if (reach === null) return undefined;
    const parts = this.#areWide(text, reach) ? partsNear(text, landmarks, this.#placesOf) : undefined;
    const met = parts?.filter((part) => segmentsAt(this.#segments, part).length > 0);
    if (met?.every((part) => this.#isWhole(text, part, reach))) return met;
    return reach.kind === 'lines' && reach.count === 0 ? this.#lines(text) : undefined;
  }

  /** Whether no match with decoded text contains a word beyond its window. */
  #areWide(text: string, reach: Reach): boolean {
    return this.#windows.every((window) => {
      const { start, end } = this.#reachedFrom(text, window, reach, 1);
      const segments = this.#segments;
      const first =
        segments[firstIndex(0, segments.length, (at) => (segments[at]?.decoded.start ?? 0) >= window.start)];
      const last = segments[firstIndex(0, segments.length, (at) => (segments[at]?.decoded.end ?? 0) > window.end) - 1];
      return first !== undefined && last !== undefined && start < first.decoded.start && end > last.decoded.end;
    });
  }

  /** Whether no word beyond the window of a part would make the part larger. */
  #isWhole(text: string, part: Span, reach: Reach): boolean {
    const windows = this.#windows;
    const window = windows[firstIndex(0, windows.length, (at) => (windows[at]?.end ?? 0) >= part.start)];
    if (window === undefined) return false;
    const { start, end } = this.#reachedFrom(text, window, reach, REACHES);
    return start + 1 < part.start && end > part.end + 1;
  }

  /** How far words beyond a window reach into it, if words in it go on this many times. */
  #reachedFrom(text: string, window: Span, reach: Reach, times: number): Span {
    let { start, end } = window;
    for (let time = 0; time < times; time++) {
      start = surroundings(text, start, reach).end;
      end = surroundings(text, end, reach).start;
    }
    return {
      start: window.start === 0 ? Number.NEGATIVE_INFINITY : start,
      end: window.end >= text.length - 1 ? Number.POSITIVE_INFINITY : end,
    };
  }

  /** The lines of decoded text. */
  #lines(text: string): Span[] {
    return linesAround(
      text,
      this.#segments.map(({ decoded }) => decoded),
    );
  }
}

/** Words between two windows' reaches may be missed at an edge, so that a part counts as whole only far from it. */
const REACHES = 3;
