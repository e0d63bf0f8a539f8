import { firstIndex } from '../../text/binary-search.ts';
import { listedIn } from '../credential-lists.ts';
import { entropyOf } from '../exact/entropy.ts';
import type { Finding } from '../finding.ts';
import { isMadeOfWords } from '../words.ts';
import { collectHits } from './collect-hits.ts';
import { type Decoded, decodeRuns, type InflateAllowance } from './decoded.ts';
import { findExact, findPieces, type GuardHit, type RawHit, SEPARATOR } from './find-hits.ts';
import { type FoldedText, firstAt, foldText } from './folded-text.ts';
import { Budget } from './grams.ts';
import { type KnownForms, KnownValues, keyLines } from './known-values.ts';

export type { GuardHit } from './find-hits.ts';

/** Shorter values would be masked in ordinary text. */
const MIN_CHARS = 8;
/** Most values of one guard. Further values are still masked where a pattern finds them. */
const MAX_VALUES = 8000;
/** Longer values are not searched for as a whole, but the lines of a long key are. */
const MAX_CHARS = 8192;

/**
 * Finds values that are known to be secret: as they are, in every form a program is likely to write them in
 * (exact-forms.ts, forms.ts), in pieces of at least twelve letters and digits, and inside encodings (decoded.ts). The
 * guard does not know whether a value is held for its session or only searched for.
 */
export class Guard {
  readonly #known = new KnownValues();
  readonly #taken = new Map<string, KnownForms>();

  /** Values held; the lines of a long key count one by one. */
  get size(): number {
    return this.#known.size;
  }

  /**
   * Remembers a value, of a list of credentials each one. Short and simple values are ignored; of huge ones only the lines
   * of a key are kept. Returns how many values or lines were not known in these forms.
   */
  add(value: string, rule: string, forms: KnownForms = 'all'): number {
    const listed = listedIn(value);
    if (listed !== null)
      return listed.reduce((added, { start, end }) => added + this.add(value.slice(start, end), rule, forms), 0);
    if (value.length <= MAX_CHARS) return this.#addOne(value, rule, { isLine: false, forms });
    return keyLines(value).reduce((added, line) => added + this.#addOne(line, rule, { isLine: true, forms }), 0);
  }

  /**
   * Returns the known values in a text, in order of place; hits may overlap. SCRUB_FAILED if the text is made to be
   * costly.
   */
  scan(text: string): GuardHit[] {
    return searchAtOnce([this], text);
  }

  #addOne(value: string, rule: string, how: { isLine: boolean; forms: KnownForms }): number {
    const known = this.#taken.get(value);
    if (known === 'all' || known === how.forms || this.#known.size >= MAX_VALUES || !isGuardable(value)) return 0;
    const copy = copyText(value);
    this.#taken.set(copy, how.forms);
    this.#known.add(copy, rule, how);
    return 1;
  }

  /**
   * Searches for the values of several guards at once. Yields every ten milliseconds or so, to let others use the
   * thread.
   */
  static search(guards: readonly Guard[], text: string): Generator<void, GuardHit[], void> {
    return searchText(
      guards.map((guard) => guard.#known),
      text,
    );
  }
}

/** Runs the search without pauses. */
export function searchAtOnce(guards: readonly Guard[], text: string): GuardHit[] {
  const search = Guard.search(guards, text);
  for (;;) {
    const step = search.next();
    if (step.done === true) return step.value;
  }
}

/** Characters. Names are shorter. */
const MAX_NAME_CHARS = 128;
/** A word or a number: masking it wherever it shows would hide ordinary text. */
const PLAIN = /^(?:[A-Z]?[a-z]+|[A-Z]+|\d+)$/;

/** Whether a value can be masked wherever it occurs: not a word, a name, a path or a sentence, not monotonous. */
function isGuardable(value: string): boolean {
  if (value.length < MIN_CHARS || value.length > MAX_CHARS || entropyOf(value) < 2) return false;
  if (value.length <= MAX_NAME_CHARS && isName(value)) return false;
  return value.length >= 20 || !PLAIN.test(value);
}

const PATH = /^(?:\/[a-z_]{2,20}){2,}(?:\.[a-z]{1,5})?$/;

/** Words without a number, identifiers of code and paths of letters: they are masked beside their key only. */
function isName(value: string): boolean {
  if (PATH.test(value)) return true;
  return isMadeOfWords(value) && (!/[0-9]/.test(value) || /^[A-Za-z_$][\w$.]*$/.test(value));
}

/** Returns a text with memory of its own: a slice would keep all of the text it was cut from. */
export function copyText(slice: string): string {
  return Buffer.from(slice, 'utf16le').toString('utf16le');
}

/** Characters searched between two pauses: some ten milliseconds. */
const SLICE_CHARS = 512 * 1024;
/** Characters around a slice that are read to find the ends of what begins in it. */
const MARGIN_CHARS = 32 * 1024;
/** Most encodings inside each other. */
const MAX_DEPTH = 8;
/** Steps a search may take for each character, and for any text. */
const STEPS_PER_CHAR = 16;
const STEPS_FREE = 1_000_000;
/** Steps for each value: its forms may have to be made. */
const STEPS_PER_VALUE = 30_000;
/** Characters that one text may be inflated to in all; what is beyond them is not looked into. */
const MAX_INFLATED_CHARS = 8 * 1024 * 1024;

interface Work {
  budget: Budget;
  allowance: InflateAllowance;
  /** The last view of each depth, to be used again. */
  views: FoldedText[];
}

/**
 * Finds the known values in a text, in order of place; hits may overlap. Yields between slices of a long text, so that
 * others can use the thread. SCRUB_FAILED if the text is made to be costly.
 */
function* searchText(known: readonly KnownValues[], text: string): Generator<void, GuardHit[], void> {
  const filled = known.filter(({ size }) => size > 0);
  if (filled.length === 0) return [];
  const values = filled.reduce((sum, { size }) => sum + size, 0);
  const work: Work = {
    budget: new Budget(STEPS_FREE + STEPS_PER_VALUE * values),
    allowance: { chars: MAX_INFLATED_CHARS },
    views: [],
  };
  const hits: RawHit[] = [];
  work.budget.allow(STEPS_PER_CHAR * text.length);
  for (let from = 0; from < text.length; from += SLICE_CHARS) {
    if (from > 0) yield;
    for (const hit of searchSlice(filled, text, from, 0, work)) hits.push(hit);
  }
  return collectHits(text, hits, work.budget);
}

function searchAll(known: readonly KnownValues[], text: string, depth: number, work: Work): GuardHit[] {
  work.budget.allow(STEPS_PER_CHAR * text.length);
  const hits: RawHit[] = [];
  for (let from = 0; from < text.length; from += SLICE_CHARS)
    for (const hit of searchSlice(known, text, from, depth, work)) hits.push(hit);
  return collectHits(text, hits, work.budget);
}

function* searchSlice(
  known: readonly KnownValues[],
  text: string,
  from: number,
  depth: number,
  work: Work,
): Generator<RawHit> {
  const to = Math.min(text.length, from + SLICE_CHARS);
  const [viewFrom, viewTo] = [Math.max(0, from - MARGIN_CHARS), Math.min(text.length, to + MARGIN_CHARS)];
  const view = foldText(text, viewFrom, viewTo, work.views[depth]);
  work.views[depth] = view;
  const [first, last] = [firstAt(view, from), firstAt(view, to)];
  for (const values of known) {
    yield* findExact(values, text, from, to, work.budget);
    yield* findPieces(values, text, view, first, last, work.budget);
  }
  if (depth < MAX_DEPTH) yield* searchDecoded(known, text, from, to, depth, work);
}

interface Part {
  /** Where it begins in the text that all parts make. */
  at: number;
  decoded: Decoded;
}

/** Decodes everything encoded in a slice into one text, and searches that. */
function* searchDecoded(
  known: readonly KnownValues[],
  text: string,
  from: number,
  to: number,
  depth: number,
  work: Work,
): Generator<RawHit> {
  const parts: Part[] = [];
  let at = 0;
  for (const decoded of decodeRuns(text, from, to, work.allowance)) {
    parts.push({ at, decoded });
    at += decoded.text.length + SEPARATOR.length;
  }
  if (parts.length === 0) return;
  const whole = parts.map(({ decoded }) => decoded.text).join(SEPARATOR);
  for (const hit of searchAll(known, whole, depth + 1, work)) yield* inOriginal(hit, parts, known);
}

/** Maps a hit in the decoded parts to the text they were in; one hit for each part it touches. */
function* inOriginal(hit: GuardHit, parts: readonly Part[], known: readonly KnownValues[]): Generator<RawHit> {
  const [anyKnown] = known;
  if (anyKnown === undefined) return;
  for (let i = firstIndex(1, parts.length, (part) => (parts[part]?.at ?? 0) > hit.start) - 1; i < parts.length; i++) {
    const part = parts[i];
    if (part === undefined || part.at >= hit.end) return;
    const { text, kind, toOriginal } = part.decoded;
    const [start, end] = [Math.max(0, hit.start - part.at), Math.min(text.length, hit.end - part.at)];
    if (start >= end) continue;
    const holds = hit.holds && start === hit.start - part.at && end === hit.end - part.at;
    const shows = kind === 'escape' && hit.shows !== 'trace' ? 'escape' : 'trace';
    const run = kind === 'code' ? 'base64' : null;
    yield {
      ...toOriginal(start, end),
      rule: hit.rule,
      of: hit.of,
      shows,
      holds,
      known: anyKnown,
      owner: 0,
      gaps: [],
      forms: [],
      from: 0,
      to: 1,
      run,
      isDump: false,
    };
  }
}

/** Shorter values would be masked in every word. */
const MIN_PLAIN_CHARS = 3;
/** Hits of one value in one text. */
const MAX_PLAIN_HITS = 10_000;

export interface PlainValue {
  value: string;
  rule: string;
}

/** Returns every place of the values in a text, for the few values that a program of this call received. */
export function findPlain(text: string, values: readonly PlainValue[]): Finding[] {
  return values.filter(({ value }) => value.length >= MIN_PLAIN_CHARS).flatMap((known) => placesOf(text, known));
}

function placesOf(text: string, { value, rule }: PlainValue): Finding[] {
  const found: Finding[] = [];
  let start = text.indexOf(value);
  while (start !== -1 && found.length < MAX_PLAIN_HITS) {
    found.push({ rule, start, end: start + value.length });
    start = text.indexOf(value, start + value.length);
  }
  // A value this frequent is part of ordinary text. The rest is masked as a whole, so that nothing shows.
  if (start !== -1) found.push({ rule, start, end: text.length });
  return found;
}
