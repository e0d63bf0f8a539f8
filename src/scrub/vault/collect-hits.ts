import { type GuardHit, type RawHit, SEPARATOR } from './find-hits.ts';
import { foldText, stringOf } from './folded-text.ts';
import { FORM_KINDS, type RunClass } from './forms.ts';
import type { Budget } from './grams.ts';

/**
 * Most characters between two pieces of one value that are masked with them; also how far around a piece smaller ones
 * are searched.
 */
const MAX_GAP = 80;
/** Letters and digits of the smallest piece that counts next to a larger one. */
const SMALL_PIECE = 6;
/** How often a hit may grow at either end. */
const MAX_GROWTH = 64;
/** Characters by which the next piece may begin further back in the form, because pieces overlap at their ends. */
const SLACK = 2;
const DUMP_SLACK = 24;

/**
 * Returns what must be masked, in order of place: pieces with what lies between and around them, encoded runs as a
 * whole.
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
  const traces = joinPieces(text, pieces);
  growAll(text, traces, whole, budget);
  const all = [...whole, ...outside(wholeRuns(text, traces), whole)];
  return all
    .sort((a, b) => a.start - b.start)
    .map(({ rule, start, end, of, shows }) => ({ rule, start, end, of, shows }));
}

/** Joins pieces of one value that overlap or follow each other. */
function joinPieces(text: string, traces: readonly RawHit[]): RawHit[] {
  const joined: RawHit[] = [];
  const lastOf = new Map<string, RawHit>();
  for (const trace of traces) {
    const last = lastOf.get(trace.of);
    if (last !== undefined && (trace.start < last.end || isContinuation(text, last, trace))) {
      last.end = Math.max(last.end, trace.end);
      last.from = Math.min(last.from, trace.from);
      last.to = Math.max(last.to, trace.to);
      last.forms = [...new Set([...last.forms, ...trace.forms])];
      last.isDump ||= trace.isDump;
      last.run ??= trace.run;
      continue;
    }
    const copy = { ...trace };
    joined.push(copy);
    lastOf.set(trace.of, copy);
  }
  return joined;
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

/** Searches for small pieces up to the next whole value on either side. */
function growAll(text: string, traces: readonly RawHit[], whole: readonly RawHit[], budget: Budget): void {
  let next = 0;
  let before = 0;
  for (const trace of traces) {
    for (; next < whole.length && (whole[next]?.start ?? 0) < trace.end; next++)
      before = Math.max(before, whole[next]?.end ?? 0);
    if (trace.forms.length === 0 || isWhole(trace)) continue;
    const after = whole[next]?.start ?? text.length;
    for (let i = 0; i < MAX_GROWTH && growEnd(text, trace, after, budget); i++);
    for (let i = 0; i < MAX_GROWTH && growStart(text, trace, before, budget); i++);
  }
}

/** Forms whose small pieces may be around a hit, and the range of the form they may come from. */
function* smallPieces(
  { known, owner, forms, isDump, from, to }: RawHit,
  budget: Budget,
): Generator<{ form: string; chars: number; after: number; before: number }> {
  for (const position of isDump ? new Set([...forms, 0]) : forms) {
    const form = known.form(owner, position, budget);
    const kind = FORM_KINDS[position];
    if (kind === undefined) continue;
    const slack = isDump ? DUMP_SLACK : SLACK;
    yield {
      form,
      chars: Math.max(SMALL_PIECE, kind.least >>> 1),
      after: Math.max(0, Math.floor((isDump && position === 0 ? from : to) * form.length) - slack),
      before: Math.ceil((isDump && position === 0 ? to : from) * form.length) + slack,
    };
  }
}

function growEnd(text: string, hit: RawHit, limit: number, budget: Budget): boolean {
  const around = text.slice(hit.end, Math.min(limit, hit.end + MAX_GAP));
  const broken = around.indexOf(SEPARATOR);
  const view = foldText(text, hit.end, hit.end + (broken === -1 ? around.length : broken));
  const near = stringOf(view);
  let reach = 0;
  let to = hit.to;
  for (const { form, chars, after } of smallPieces(hit, budget))
    for (let at = near.length - chars; at >= 0 && at + chars > reach; at--) {
      budget.spend(form.length / 16);
      const found = form.indexOf(near.slice(at, at + chars), after);
      if (found === -1) continue;
      reach = at + chars;
      to = Math.max(to, (found + chars) / form.length);
    }
  if (reach === 0) return false;
  hit.end = (view.places[reach - 1] ?? 0) + 1;
  hit.to = to;
  return true;
}

function growStart(text: string, hit: RawHit, limit: number, budget: Budget): boolean {
  const around = text.slice(Math.max(limit, hit.start - MAX_GAP), Math.max(limit, hit.start));
  const view = foldText(text, hit.start - (around.length - around.lastIndexOf(SEPARATOR) - 1), hit.start);
  const near = stringOf(view);
  let reach = near.length;
  let from = hit.from;
  for (const { form, chars, before } of smallPieces(hit, budget))
    for (let at = 0; at + chars <= near.length && at < reach; at++) {
      budget.spend(form.length / 16);
      const found = form.lastIndexOf(near.slice(at, at + chars), before - chars);
      if (found === -1 || before < chars) continue;
      reach = at;
      from = Math.min(from, found / form.length);
    }
  if (reach === near.length) return false;
  hit.start = view.places[reach] ?? 0;
  hit.from = from;
  return true;
}

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
