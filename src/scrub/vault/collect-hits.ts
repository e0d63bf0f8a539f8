import { type GuardHit, type RawHit, SEPARATOR } from './find-hits.ts';
import { type FoldedText, foldText, stringOf } from './folded-text.ts';
import { FORM_KINDS, type RunClass } from './forms.ts';
import { gapsBetween, joinsPieces, SMALL_PIECE, type Span, withoutChance, withoutGaps } from './gaps.ts';
import type { Budget } from './grams.ts';

/**
 * Most characters between two pieces of one value that are masked with them; also how far around a piece smaller ones
 * are searched.
 */
const MAX_GAP = 80;
/** How often a hit may grow at either end. */
const MAX_GROWTH = 64;
/** Characters by which the next piece may begin further back in the form, because pieces overlap at their ends. */
const SLACK = 2;
const DUMP_SLACK = 24;

/** Pieces of one value that belong together. */
interface Trace extends RawHit {
  /** What is masked of the text between `start` and `end`; may overlap and need not be in order of place. */
  parts: Span[];
}

/**
 * Returns what must be masked, in order of place: pieces with what a wrap or an encoder put between them, encoded runs as
 * a whole.
 */
export function collectHits(text: string, hits: readonly RawHit[], budget: Budget): GuardHit[] {
  const sorted = hits.toSorted((a, b) => a.start - b.start || b.end - a.end);
  const values = sorted.filter(({ shows }) => shows === 'value');
  const escapes = outside(unequal(sorted.filter(({ shows }) => shows === 'escape')), values);
  const whole = [...values, ...escapes].sort((a, b) => a.start - b.start);
  const pieces = outside(
    sorted.filter(({ shows }) => shows === 'trace'),
    whole,
  );
  const traces = joinPieces(text, pieces, new Set(whole.flatMap(({ start, end }) => [start, end])));
  growAll(text, traces, whole, budget);
  const shown = traces.flatMap(shownParts).sort((a, b) => a.start - b.start || b.end - a.end);
  const all = [...whole, ...outside(wholeRuns(text, outside(shown, whole)), whole)];
  return all
    .sort((a, b) => a.start - b.start)
    .map(({ rule, start, end, of, shows, holds }) => ({ rule, start, end, of, shows, holds }));
}

/** One hit for each part of a trace. */
function shownParts(trace: Trace): RawHit[] {
  const parts = united(trace.parts);
  const holds = parts.length === 1 && (trace.holds || isEncoded(trace));
  return parts.map(({ start, end }) => ({ ...trace, start, end, holds }));
}

/** Whether the pieces are the whole value in an encoding. */
function isEncoded({ from, to, forms }: Trace): boolean {
  const areCodes = forms.every((form) => FORM_KINDS[form]?.isDump === true || FORM_KINDS[form]?.run !== null);
  return from === 0 && to === 1 && forms.length > 0 && areCodes;
}

/** In order of place; those that touch are one. */
function united(parts: readonly Span[]): Span[] {
  const all: Span[] = [];
  for (const { start, end } of parts.toSorted((a, b) => a.start - b.start)) {
    const last = all.at(-1);
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
    else all.push({ start, end });
  }
  return all;
}

/** Joins pieces of one value that overlap or follow each other. `ends`: where whole values begin and end. */
function joinPieces(text: string, pieces: readonly RawHit[], ends: ReadonlySet<number>): Trace[] {
  const joined: Trace[] = [];
  const lastOf = new Map<string, Trace>();
  for (const piece of pieces) {
    const last = lastOf.get(piece.of);
    const parts = withoutGaps(text, piece, ends);
    if (last !== undefined && (piece.start < last.end || isContinuation(text, last, piece))) {
      if (piece.start > last.end && isJoined(text, last, piece)) last.parts.push({ start: last.end, end: piece.start });
      last.parts.push(...parts);
      last.end = Math.max(last.end, piece.end);
      last.from = Math.min(last.from, piece.from);
      last.to = Math.max(last.to, piece.to);
      last.forms = [...new Set([...last.forms, ...piece.forms])];
      last.isDump ||= piece.isDump;
      last.run ??= piece.run;
      last.holds ||= piece.holds;
      continue;
    }
    const trace = { ...piece, parts };
    joined.push(trace);
    lastOf.set(piece.of, trace);
  }
  return joined;
}

/** Whether the text between two pieces is masked with them. */
function isJoined(text: string, last: RawHit, next: RawHit): boolean {
  const hole = Math.round((next.from - last.to) * last.of.length);
  return joinsPieces(text, { start: last.end, end: next.start }, { isDump: last.isDump || next.isDump, hole });
}

/** Whether a piece continues another one, or shows the same bytes in the other column of a dump. */
function isContinuation(text: string, last: RawHit, next: RawHit): boolean {
  if (next.start - last.end >= MAX_GAP || isWhole(last) || isWhole(next)) return false;
  if (text.slice(last.end, next.start).includes(SEPARATOR)) return false;
  const isOtherColumn = last.isDump !== next.isDump || (last.isDump && last.forms.length > 1);
  return isOtherColumn || next.from >= last.to - 0.02;
}

function isWhole({ from, to, isDump }: RawHit): boolean {
  return from === 0 && to === 1 && !isDump;
}

/** Searches for small pieces up to the next whole value, or other piece of this value, on either side. */
function growAll(text: string, traces: readonly Trace[], whole: readonly RawHit[], budget: Budget): void {
  const nextOf = nextStarts(traces);
  const reachOf = new Map<string, number>();
  let next = 0;
  let before = 0;
  for (const trace of traces) {
    for (; next < whole.length && (whole[next]?.start ?? 0) < trace.end; next++)
      before = Math.max(before, whole[next]?.end ?? 0);
    if (trace.forms.length > 0 && !isWhole(trace)) {
      const after = Math.min(whole[next]?.start ?? text.length, nextOf.get(trace) ?? text.length);
      const from = Math.max(before, reachOf.get(trace.of) ?? 0);
      for (let i = 0; i < MAX_GROWTH && growEnd(text, trace, after, budget); i++);
      for (let i = 0; i < MAX_GROWTH && growStart(text, trace, from, budget); i++);
    }
    reachOf.set(trace.of, Math.max(trace.end, reachOf.get(trace.of) ?? 0));
  }
}

/** Where the next trace of the same value begins behind each trace. */
function nextStarts(traces: readonly Trace[]): Map<Trace, number> {
  const starts = new Map<Trace, number>();
  const following = new Map<string, number>();
  for (const trace of traces.toReversed()) {
    const next = following.get(trace.of);
    if (next !== undefined && next >= trace.end) starts.set(trace, next);
    following.set(trace.of, trace.start);
  }
  return starts;
}

/** Forms whose small pieces may be around a hit, and the range of the form they may come from. */
function* smallPieces(
  { known, owner, forms, isDump, from, to }: RawHit,
  budget: Budget,
): Generator<{ form: string; chars: number; after: number; before: number; isText: boolean }> {
  for (const position of isDump ? new Set([...forms, 0]) : forms) {
    const form = known.form(owner, position, budget);
    const kind = FORM_KINDS[position];
    if (kind === undefined) continue;
    const slack = isDump ? DUMP_SLACK : SLACK;
    yield {
      form,
      isText: !kind.isDump && kind.run === null,
      chars: Math.max(SMALL_PIECE, kind.least >>> 1),
      after: Math.max(0, Math.floor((isDump && position === 0 ? from : to) * form.length) - slack),
      before: Math.ceil((isDump && position === 0 ? to : from) * form.length) + slack,
    };
  }
}

/** Small pieces by positions in a view: of the value's own characters, and of an encoder's digits. */
interface Found {
  text: Span[];
  code: Span[];
}

function growEnd(text: string, hit: Trace, limit: number, budget: Budget): boolean {
  const around = text.slice(hit.end, Math.min(limit, hit.end + MAX_GAP));
  const broken = around.indexOf(SEPARATOR);
  const view = foldText(text, hit.end, hit.end + (broken === -1 ? around.length : broken));
  const near = stringOf(view);
  const found: Found = { text: [], code: [] };
  let to = hit.to;
  for (const { form, chars, after, isText } of smallPieces(hit, budget))
    for (let at = near.length - chars; at >= 0; at--) {
      budget.spend(form.length / 16);
      const formAt = form.indexOf(near.slice(at, at + chars), after);
      if (formAt === -1) continue;
      (isText ? found.text : found.code).push({ start: at, end: at + chars });
      to = Math.max(to, (formAt + chars) / form.length);
    }
  const last = addSmall(text, hit, view, found).at(-1);
  if (last === undefined) return false;
  hit.end = last.end;
  hit.to = to;
  return true;
}

function growStart(text: string, hit: Trace, limit: number, budget: Budget): boolean {
  const around = text.slice(Math.max(limit, hit.start - MAX_GAP), Math.max(limit, hit.start));
  const view = foldText(text, hit.start - (around.length - around.lastIndexOf(SEPARATOR) - 1), hit.start);
  const near = stringOf(view);
  const found: Found = { text: [], code: [] };
  let from = hit.from;
  for (const { form, chars, before, isText } of smallPieces(hit, budget))
    for (let at = 0; at + chars <= near.length; at++) {
      budget.spend(form.length / 16);
      const formAt = before < chars ? -1 : form.lastIndexOf(near.slice(at, at + chars), before - chars);
      if (formAt === -1) continue;
      (isText ? found.text : found.code).push({ start: at, end: at + chars });
      from = Math.min(from, formAt / form.length);
    }
  const [first] = addSmall(text, hit, view, found);
  if (first === undefined) return false;
  hit.start = first.start;
  hit.from = from;
  return true;
}

/** Adds small pieces to a hit, with what joins them. Returns their places, in order. */
function addSmall(text: string, hit: Trace, view: FoldedText, { text: own, code }: Found): Span[] {
  const small = [...placesOf(text, view, own, ''), ...placesOf(text, view, code, null)].sort(
    (a, b) => a.start - b.start,
  );
  const row = united([...small, hit]);
  for (const [position, { end }] of row.entries()) {
    const gap = { start: end, end: row[position + 1]?.start ?? end };
    if (gap.start < gap.end && joinsPieces(text, gap, { isDump: hit.isDump, hole: 1 })) hit.parts.push(gap);
  }
  for (const piece of small) hit.parts.push(...withoutGaps(text, piece, NO_ENDS));
  return united(small);
}

/** The places of small pieces. `own`: what the value has between their characters. */
function placesOf(text: string, view: FoldedText, found: readonly Span[], own: string | null) {
  return united(found).map((piece) => {
    const gaps = gapsBetween(text, view, piece, () => own);
    const { start, end } = withoutChance(piece, gaps);
    return {
      start: view.places[start] ?? 0,
      end: (view.places[end - 1] ?? 0) + 1,
      gaps: gaps.filter(({ at }) => at >= start && at + 1 < end),
    };
  });
}

const NO_ENDS: ReadonlySet<number> = new Set();

/** A hit in an encoded run covers the whole run. */
function wholeRuns(text: string, traces: readonly RawHit[]): RawHit[] {
  const last = { base64: { start: 0, end: 0 }, hex: { start: 0, end: 0 } };
  return traces.map((trace) => {
    const { run } = trace;
    if (run === null) return trace;
    const from =
      trace.start < last[run].end ? Math.min(trace.start, last[run].start) : runStart(text, trace.start, run);
    const to = trace.end <= last[run].end ? last[run].end : runEnd(text, trace.end, run);
    last[run] = { start: from, end: to };
    return { ...trace, start: from, end: to };
  });
}

const RUN: Readonly<Record<Exclude<RunClass, null>, RegExp>> = { base64: /[\w+/-]/, hex: /[0-9A-Fa-f]/ };
const MAX_PADDING = 2;

function runStart(text: string, at: number, run: Exclude<RunClass, null>): number {
  let start = at;
  while (start > 0 && RUN[run].test(text[start - 1] ?? '')) start--;
  return start;
}

function runEnd(text: string, at: number, run: Exclude<RunClass, null>): number {
  let end = at;
  while (end < text.length && RUN[run].test(text[end] ?? '')) end++;
  if (run === 'base64') for (let i = 0; i < MAX_PADDING && text[end] === '='; i++) end++;
  return end;
}

/** Drops a second hit at the same place. */
function unequal(hits: readonly RawHit[]): RawHit[] {
  return hits.filter(({ start, end }, i) => start !== hits[i - 1]?.start || end !== hits[i - 1]?.end);
}

/** Returns the hits that no one of `covers` (in order of start) contains as a whole. */
function outside(hits: readonly RawHit[], covers: readonly RawHit[]): RawHit[] {
  let next = 0;
  let reach = -1;
  const sorted = hits.toSorted((a, b) => a.start - b.start);
  return sorted.filter(({ start, end }) => {
    for (; next < covers.length && (covers[next]?.start ?? 0) <= start; next++)
      reach = Math.max(reach, covers[next]?.end ?? 0);
    return end > reach;
  });
}
