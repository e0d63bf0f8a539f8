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

/** Minimum length: shorter values would be masked in ordinary text. */
const MIN_CHARS = 8;
/** Values per index. The first index holds values in all forms, the others as they are. */
const VALUES_EACH = 8000;
/** Further values are masked only where a pattern finds them, which `refused` counts. */
const MAX_INDEXES = 8;
/** Longer values are not searched for as a whole, but the lines of a long key are. */
const MAX_CHARS = 8192;

interface KnownHow {
  readonly rule: string;
  readonly isLine: boolean;
  readonly forms: KnownForms;
}

/** The values of a guard, as plain data. */
export type GuardState = readonly (readonly [string, KnownHow])[];

/**
 * Finds known secrets: verbatim, in every form in which a program is likely to write them (exact-forms.ts, forms.ts),
 * in pieces of at least twelve letters and digits, and inside encodings (decoded.ts). The guard does not know whether a
 * value belongs to a session or is only searched for.
 */
export class Guard {
  readonly #known = [new KnownValues()];
  readonly #taken = new Map<string, KnownHow>();
  #refused = 0;

  /** Number of values; each line of a long key counts. */
  get size(): number {
    return this.#known.reduce((sum, { size }) => sum + size, 0);
  }

  /** How often a value was not taken because the guard holds as many as it can. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Adds a value; of a list of credentials, each one. Ignores short and simple values, and keeps only the key lines of
   * huge ones. Returns the number of values or lines that were new in these forms.
   */
  add(value: string, rule: string, forms: KnownForms = 'all'): number {
    const listed = listedIn(value);
    if (listed !== null)
      return listed.reduce((added, { start, end }) => added + this.add(value.slice(start, end), rule, forms), 0);
    if (value.length <= MAX_CHARS) return this.#addOne(value, rule, { isLine: false, forms });
    return keyLines(value).reduce((added, line) => added + this.#addOne(line, rule, { isLine: true, forms }), 0);
  }

  /** As plain data. */
  get state(): GuardState {
    return [...this.#taken];
  }

  /** Takes in the values of a guard of another process. */
  restore(state: GuardState): void {
    for (const [value, { rule, ...how }] of state) this.#addOne(value, rule, how);
  }

  /** Returns the known values in a text, in order; hits may overlap. SCRUB_FAILED if the text is crafted to be slow. */
  scan(text: string): GuardHit[] {
    return searchAtOnce([this], text);
  }

  #addOne(value: string, rule: string, how: { isLine: boolean; forms: KnownForms }): number {
    const known = this.#taken.get(value)?.forms;
    if (known === 'all' || known === how.forms || !isGuardable(value)) return 0;
    const index = this.#indexWithRoom();
    const forms = index === this.#known[0] ? how.forms : 'as it is';
    if (known === forms) return 0;
    if (index === null) {
      this.#refused += 1;
      return 0;
    }
    const copy = copyText(value);
    this.#taken.set(copy, { rule, ...how, forms });
    index.add(copy, rule, { ...how, forms });
    return 1;
  }

  /** Null if there is no room in any. */
  #indexWithRoom(): KnownValues | null {
    const last = this.#known.at(-1);
    if (last !== undefined && last.size < VALUES_EACH) return last;
    if (this.#known.length >= MAX_INDEXES) return null;
    const next = new KnownValues();
    this.#known.push(next);
    return next;
  }

  /** Searches for the values of several guards at once. Yields about every ten milliseconds, to free the thread. */
  static search(guards: readonly Guard[], text: string): Generator<void, GuardHit[], void> {
    return searchText(
      guards.flatMap((guard) => guard.#known),
      text,
    );
  }
}

/** Runs the search without yielding. */
export function searchAtOnce(guards: readonly Guard[], text: string): GuardHit[] {
  const search = Guard.search(guards, text);
  for (;;) {
    const step = search.next();
    if (step.done === true) return step.value;
  }
}

/** Maximum length of a name. */
const MAX_NAME_CHARS = 128;
/** A single word or number: masking it everywhere would hide ordinary text. */
const PLAIN = /^(?:[A-Z]?[a-z]+|[A-Z]+|\d+)$/;

/** Whether a value can be masked everywhere: it is not a word, a name, a path or a sentence, and not monotonous. */
function isGuardable(value: string): boolean {
  if (value.length < MIN_CHARS || value.length > MAX_CHARS || entropyOf(value) < 2) return false;
  if (value.length <= MAX_NAME_CHARS && isName(value)) return false;
  return value.length >= 20 || !PLAIN.test(value);
}

const PATH = /^(?:\/[a-z_]{2,20}){2,}(?:\.[a-z]{1,5})?$/;

/** Words without a number, code identifiers, and paths of letters. They are masked only next to their key. */
function isName(value: string): boolean {
  if (PATH.test(value)) return true;
  return isMadeOfWords(value) && (!/[0-9]/.test(value) || /^[A-Za-z_$][\w$.]*$/.test(value));
}

/** Copies a text: a slice would keep the whole original string in memory. */
export function copyText(slice: string): string {
  return Buffer.from(slice, 'utf16le').toString('utf16le');
}

/** Characters searched between two yields: about ten milliseconds. */
const SLICE_CHARS = 512 * 1024;
/** Characters around a slice that are read to complete matches that begin in it. */
const MARGIN_CHARS = 32 * 1024;
/** Maximum number of nested encodings. */
const MAX_DEPTH = 8;
/** Step budget of a search: per character, and a constant. */
const STEPS_PER_CHAR = 16;
const STEPS_FREE = 1_000_000;
/** Step budget per value, whose forms may have to be generated. */
const STEPS_PER_VALUE = 30_000;
/** Maximum total of inflated characters per text. The rest is not searched. */
const MAX_INFLATED_CHARS = 8 * 1024 * 1024;

interface Work {
  budget: Budget;
  allowance: InflateAllowance;
  /** The last view of each depth, for reuse. */
  views: FoldedText[];
}

/**
 * Finds the known values in a text, in order; hits may overlap. Yields between slices of a long text, to free the
 * thread. Throws SCRUB_FAILED if the text is crafted to be expensive.
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
  /** Its start in the concatenation of all parts. */
  at: number;
  decoded: Decoded;
}

/** Decodes all encodings in a slice into one text, and searches that. */
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

/** Maps a hit in the decoded parts back to the original text; one hit for each part that it touches. */
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

/** Minimum length: shorter values would be masked in every word. */
const MIN_PLAIN_CHARS = 3;
/** Maximum number of hits per value and text. */
const MAX_PLAIN_HITS = 10_000;

export interface PlainValue {
  value: string;
  rule: string;
}

/** Returns every occurrence of the values in a text. For the few values that a program of this call received. */
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
  // Such a frequent value is part of ordinary text. The rest of the text is masked as one, so that nothing leaks.
  if (start !== -1) found.push({ rule, start, end: text.length });
  return found;
}
