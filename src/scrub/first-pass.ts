import type { Finding } from './finding.ts';
import { countUncovered, mergeFindings, subtractSpans } from './spans.ts';

/** The rule of a span that only a tool's process reported: the names it reports are not trusted. */
const FIRST_PASS_RULE = 'first-pass';
/** Characters. A longer span that the daemon's own scan does not confirm is ignored. */
const MAX_CLAIM_CHARS = 512;
/** Unconfirmed spans of one answer. */
const MAX_CLAIMS = 1000;

export interface FirstPassReport {
  /** Per leaf: what to mask beside the daemon's own spans. */
  extra: Finding[][];
  /** Findings of the daemon's patterns that the first pass did not cover. */
  missed: number;
}

/** What is known of one leaf. Both lists in order of place, free of overlaps. */
export interface ScannedLeaf {
  text: string;
  /** What the daemon's patterns found. */
  found: readonly Finding[];
  /** What they found and a person allowed. */
  allowed: readonly Finding[];
  /** What the patterns found and what the guard knows, without what is allowed. */
  spans: readonly Finding[];
}

/**
 * Weighs what a tool's process reported against what the daemon found; a hostile process may report anything. A report
 * can only add masks: a span outside its text is dropped, a place that the daemon masks keeps the daemon's extent, and
 * other spans count up to 512 characters and 1000 times. These spans are masked once and not remembered by the guard,
 * so a tool cannot have ordinary words masked in the output of others.
 */
export function weighFirstPass(
  leaves: readonly ScannedLeaf[],
  reported: readonly (readonly Finding[])[],
): FirstPassReport {
  const report: FirstPassReport = { extra: [], missed: 0 };
  let claims = 0;
  for (const [position, { text, found, allowed, spans }] of leaves.entries()) {
    const claimed = reported[position];
    if (claimed === undefined) break;
    const valid = cutApart(claimed.filter((claim) => isInside(claim, text.length)));
    report.missed += countUncovered(found, valid);
    const believed = valid.filter(({ start, end }) => end - start <= MAX_CLAIM_CHARS);
    const extra = subtractSpans(believed, mergeFindings([...spans, ...allowed])).slice(0, MAX_CLAIMS - claims);
    claims += extra.length;
    report.extra.push(extra);
  }
  return report;
}

function isInside({ start, end }: Finding, length: number): boolean {
  return Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start < end && end <= length;
}

/** In order of place. Overlaps are cut off, not united: a chain of short spans must not grow into a long one. */
function cutApart(spans: readonly Finding[]): Finding[] {
  const result: Finding[] = [];
  let taken = 0;
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (end > taken) result.push({ rule: FIRST_PASS_RULE, start: Math.max(start, taken), end });
    taken = Math.max(taken, end);
  }
  return result;
}
