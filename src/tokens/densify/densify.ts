import { compose, Edit, type Edited, isRewritten, type PartMap, partBefore, sameText } from '../../text/edited-text.ts';
import { CR, withoutSequences } from '../../text/terminal.ts';
import { cutAfter, cutBefore } from '../cut-points.ts';
import { dropStyles } from './ansi.ts';
import { compactJson } from './json-text.ts';
import { collapseProgress } from './progress.ts';
import { foldRepeats } from './repeats.ts';

/** Steps that leave out parts of an output without changing what it says. */
export const DENSIFY_STEPS = ['ansi', 'progress', 'repeats', 'json', 'trailing_spaces'] as const;
export type DensifyStep = (typeof DENSIFY_STEPS)[number];

/** A shorter text that says the same as its source. Offsets are UTF-16 units. */
export interface Dense {
  text: string;
  /** Steps that changed something, in the order of DENSIFY_STEPS; none: `text` is the source itself. */
  steps: readonly DensifyStep[];
  /**
   * Maps a cut at `offset` of `text` to the source. `side` 'end': of a head that ends there, 'start': of a tail that
   * begins there. Monotone, 0 → 0, the text's length → the source's. What was left out at the cut belongs to the tail.
   * The sides differ only within a unit, where no cut is allowed.
   */
  sourceOf(offset: number, side: 'end' | 'start'): number;
  /**
   * Returns the last place at or before `offset` where the text may be cut without splitting a unit, here or in the
   * source.
   */
  cutBefore(offset: number): number;
  /** The first such place at or after `offset`. */
  cutAfter(offset: number): number;
}

/**
 * In the order in which they run: colours are removed before JSON is recognised, and padding before lines are compared.
 */
const MAKERS: readonly [DensifyStep, (source: string, isPart: boolean) => Edited | null][] = [
  ['ansi', dropStyles],
  ['progress', collapseProgress],
  ['json', compactJson],
  ['trailing_spaces', dropTrailingSpaces],
  ['repeats', foldRepeats],
];

/**
 * Takes `steps`, each only if its result is smaller. Linear in the length of `source`. `isPart`: the source is a part of
 * a longer text, see collapseProgress.
 */
export function densify(source: string, steps: readonly DensifyStep[], isPart = false): Dense {
  let text = source;
  let map: PartMap | null = null;
  const done = new Set<DensifyStep>();
  for (const [step, make] of MAKERS) {
    const edited = steps.includes(step) ? make(text, isPart) : null;
    if (edited === null || edited.text.length >= text.length) continue;
    done.add(step);
    text = edited.text;
    map = map === null ? edited.map : compose(map, edited.map);
  }
  return new MappedText(
    text,
    DENSIFY_STEPS.filter((step) => done.has(step)),
    map ?? sameText(source.length),
  );
}

/**
 * Returns a text for views that search: without terminal sequences and progress. All line ends of `source` stay in
 * place.
 */
export function plainLines(source: string): string {
  const plain = dropStyles(source)?.text ?? source;
  return withoutSequences(collapseProgress(plain, false)?.text ?? plain);
}

class MappedText implements Dense {
  readonly text: string;
  readonly steps: readonly DensifyStep[];
  readonly #map: PartMap;

  constructor(text: string, steps: readonly DensifyStep[], map: PartMap) {
    this.text = text;
    this.steps = steps;
    this.#map = map;
  }

  sourceOf(offset: number, side: 'end' | 'start'): number {
    const { text, source } = this.#map;
    if (offset >= this.text.length) return source.at(-1) ?? 0;
    if (offset <= 0) return 0;
    const part = partBefore(this.#map, offset);
    const [begin = 0, end = 0] = [source[part], source[part + 1]];
    const [from = 0, to = 0] = [text[part], text[part + 1]];
    if (offset === to) return end;
    if (isRewritten(this.#map, part)) return side === 'end' ? begin : end;
    return begin + (offset - from);
  }

  cutBefore(offset: number): number {
    let cut = offset;
    for (let last = -1; cut !== last; ) {
      last = cut;
      cut = this.#unitEdge(cutBefore(this.text, cut), 0);
    }
    return cut;
  }

  cutAfter(offset: number): number {
    let cut = offset;
    for (let last = -1; cut !== last; ) {
      last = cut;
      cut = this.#unitEdge(cutAfter(this.text, cut), 1);
    }
    return cut;
  }

  /** Returns `cut`, or the edge (0: first, 1: last) of the unit that it would split. */
  #unitEdge(cut: number, edge: 0 | 1): number {
    const part = partBefore(this.#map, cut);
    const [from = 0, to = 0] = [this.#map.text[part], this.#map.text[part + 1]];
    const isWithin = cut > from && cut < to && isRewritten(this.#map, part);
    return isWithin ? (edge === 0 ? from : to) : cut;
  }
}

const [TAB, SPACE] = [0x09, 0x20];
/** After this line, blanks at line ends are content: a unified diff, coloured or not. */
const PATCH = new RegExp(`^(?:${String.fromCharCode(0x1b)}\\[[\\d;]*m)*(?:diff --git |@@+ -)`, 'm');
/** A line that is quoted from a file: by its number, or its place. */
const QUOTED = /^(?:\s*\d+[:\t\u2192|-]|\s*\d+ |[^\s:][^:]*:\d+[:-])/;
/** Blanks in a line with these may overwrite something. */
const WRITTEN_OVER = ['\r', '\b', '\u001b', '\u009b'] as const;
/** Characters at the start of a line that may name a place. */
const QUOTED_MAX_CHARS = 512;

/** Drops blanks before line ends if they are padding. Null: nothing was dropped. */
function dropTrailingSpaces(source: string): Edited | null {
  let edit: Edit | null = null;
  let patch = -1;
  let start = 0;
  for (let lineEnd = source.indexOf('\n'); lineEnd >= 0; lineEnd = source.indexOf('\n', start)) {
    const end = source.charCodeAt(lineEnd - 1) === CR && lineEnd > start ? lineEnd - 1 : lineEnd;
    if (end > start && isBlank(source.charCodeAt(end - 1))) {
      edit ??= new Edit(source);
      if (patch < 0) patch = startOfPatch(source);
      if (start >= patch) break;
      const from = textEnd(source, start, end);
      if (isPadding(source, start, from, end)) edit.drop(from, end);
    }
    start = lineEnd + 1;
  }
  return edit?.finish() ?? null;
}

function startOfPatch(source: string): number {
  const found = source.search(PATCH);
  return found < 0 ? source.length : found;
}

function textEnd(source: string, start: number, end: number): number {
  let from = end;
  while (from > start && isBlank(source.charCodeAt(from - 1))) from--;
  return from;
}

/**
 * Whether the blanks [from, end) of the line that begins at `start` mean nothing. They do mean something as a hard
 * break of Markdown (two), above a signature ("-- "), after a backslash, and as empty fields at the end of a row (tabs
 * after tabs).
 */
function isPadding(source: string, start: number, from: number, end: number): boolean {
  if (from === start) return true;
  const blanks = source.slice(from, end);
  const text = source.slice(start, from);
  if (blanks === '  ' || text === '--' || text.endsWith('\\')) return false;
  if (WRITTEN_OVER.some((control) => text.includes(control))) return false;
  if (blanks.includes('\t') && text.includes('\t')) return false;
  return !QUOTED.test(text.slice(0, QUOTED_MAX_CHARS));
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}
