import { firstIndex } from '../text/binary-search.ts';
import type { Finding } from './finding.ts';

/** Stands for a secret while the rest is scanned again, so that a rule sees what the final text will look like. */
export const PLACEHOLDER = '[SECRET_0]';

/**
 * Returns the union of overlapping findings, in order of place. A union has the rule and the known value of its longest
 * part, and what is encoded in its parts if something is in each of them. It is known by its place if its longest part is.
 */
export function mergeFindings(findings: readonly Finding[]): Finding[] {
  const sorted = findings.filter(({ start, end }) => start < end).sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: Finding[] = [];
  let longest = 0;
  for (const finding of sorted) {
    const last = merged.at(-1);
    const length = finding.end - finding.start;
    if (last === undefined || finding.start >= last.end) {
      merged.push({ ...finding });
      longest = length;
      continue;
    }
    last.end = Math.max(last.end, finding.end);
    last.inner = last.inner && finding.inner && [...new Set([...last.inner, ...finding.inner])];
    if (length > longest || (length === longest && last.of === undefined)) {
      last.rule = finding.rule;
      last.of = finding.of;
      last.byPlace = finding.byPlace;
      longest = length;
    }
  }
  return merged;
}

/** The parts of `findings` that no span of `taken` covers. Both in order of place and free of overlaps. */
export function subtractSpans(findings: readonly Finding[], taken: readonly Finding[]): Finding[] {
  const rest: Finding[] = [];
  let next = 0;
  for (const { rule, start, end } of findings) {
    let from = start;
    while ((taken[next]?.end ?? Number.POSITIVE_INFINITY) <= from) next++;
    for (let i = next; i < taken.length && from < end; i++) {
      const span = taken[i];
      if (span === undefined || span.start >= end) break;
      if (span.start > from) rest.push({ rule, start: from, end: span.start });
      from = Math.max(from, span.end);
    }
    if (from < end) rest.push({ rule, start: from, end });
  }
  return rest;
}

/** How many of `findings` have a part that no span of `taken` covers. Both in order of place and free of overlaps. */
export function countUncovered(findings: readonly Finding[], taken: readonly Finding[]): number {
  const rest = subtractSpans(findings, taken);
  return findings.filter(({ start, end }) => {
    const next = rest[firstIndex(0, rest.length, (i) => (rest[i]?.start ?? 0) >= start)];
    return next !== undefined && next.start < end;
  }).length;
}

/** Whether one of `spans` (in order of place, free of overlaps) contains the whole finding. */
export function isCovered(finding: Finding, spans: readonly Finding[]): boolean {
  const holder = spans[firstIndex(0, spans.length, (i) => (spans[i]?.start ?? 0) > finding.start) - 1];
  return holder !== undefined && finding.end <= holder.end;
}

/** A text with placeholders in place of spans, and the way back to the original's offsets. */
export interface MaskedView {
  text: string;
  /** Where in `text` the placeholders stand, in order. */
  placeholders: readonly { start: number; end: number }[];
  /**
   * Maps a finding in the view to the original. A finding that touches a placeholder includes everything it stands for.
   */
  toOriginal(finding: Finding): Finding;
}

export function maskView(text: string, spans: readonly Finding[]): MaskedView {
  const places: { at: number; start: number; end: number }[] = [];
  let view = '';
  let from = 0;
  for (const { start, end } of spans) {
    view += text.slice(from, start);
    places.push({ at: view.length, start, end });
    view += PLACEHOLDER;
    from = end;
  }
  const original = (offset: number, edge: 'start' | 'end'): number => {
    const after = offset + (edge === 'start' ? 1 : 0);
    const place = places[firstIndex(0, places.length, (i) => (places[i]?.at ?? 0) >= after) - 1];
    if (place === undefined) return offset;
    const beyond = offset - (place.at + PLACEHOLDER.length);
    return beyond < 0 ? place[edge] : place.end + beyond;
  };
  return {
    text: view + text.slice(from),
    placeholders: places.map(({ at }) => ({ start: at, end: at + PLACEHOLDER.length })),
    toOriginal: ({ rule, start, end, byPlace }) => ({
      ...{ rule, byPlace },
      ...{ start: original(start, 'start'), end: original(end, 'end') },
    }),
  };
}
