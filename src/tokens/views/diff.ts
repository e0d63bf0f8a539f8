import { structuredPatch } from 'diff';
import type { Viewed } from './view.ts';

/** Edits that an exact comparison may cost: it takes time and memory with the square of them (0.3 s at 2,000). */
const EDITS_MAX = 2_000;

/**
 * Shows what changed from an earlier output to this one: a unified diff by lines that `patch` applies to the earlier
 * one. Nothing is ignored as noise. Outputs that differ too much are compared as sets: lines that only one of them has,
 * or has more often, each as `-2× line` or `+1× line` in the order of its text, and `facts.exact` is false.
 * `facts.added` and `facts.removed` count lines.
 */
export function viewDiff(text: string, earlier: string, { context }: { context: number }): Viewed {
  if (text === earlier) return { kind: 'text', text: '', facts: { added: 0, removed: 0 }, cut: 'head_tail' };
  return viewExact(text, earlier, context) ?? viewSets(text, earlier);
}

function viewExact(text: string, earlier: string, context: number): Viewed | null {
  const { start, endText, endEarlier } = differing(text, earlier, context);
  const patch = structuredPatch('', '', earlier.slice(start, endEarlier), text.slice(start, endText), '', '', {
    context,
    maxEditLength: EDITS_MAX,
  });
  if (patch === undefined) return null;
  const skipped = countLines(text, start);
  const lines = ['--- earlier', '+++ now'];
  let added = 0;
  let removed = 0;
  for (const hunk of patch.hunks) {
    const old = range(hunk.oldStart + skipped, hunk.oldLines);
    lines.push(`@@ -${old} +${range(hunk.newStart + skipped, hunk.newLines)} @@`);
    for (const line of hunk.lines) {
      lines.push(line);
      if (line.startsWith('+')) added++;
      else if (line.startsWith('-')) removed++;
    }
  }
  const facts = { added, removed, exact: true };
  return { kind: 'text', text: `${lines.join('\n')}\n`, facts, cut: 'head_tail' };
}

/** Of an empty range the line before it is named. */
function range(start: number, lines: number): string {
  return `${lines === 0 ? start - 1 : start},${lines}`;
}

/** The part between common lines at both ends, `context` of which stay in it. UTF-16 offsets at starts of lines. */
function differing(text: string, earlier: string, context: number) {
  const least = Math.min(text.length, earlier.length);
  let start = 0;
  while (start < least && text.charCodeAt(start) === earlier.charCodeAt(start)) start++;
  let tail = 0;
  const last = (from: string) => from.charCodeAt(from.length - 1 - tail);
  while (tail < least - start && last(text) === last(earlier)) tail++;
  const end = afterLines(text, text.length - tail, context);
  return {
    start: beforeLines(text, start, context),
    endText: end,
    endEarlier: earlier.length - (text.length - end),
  };
}

/** Returns the start of the line around `at`, and of `lines` lines before it. */
function beforeLines(text: string, at: number, lines: number): number {
  let start = at;
  for (let i = 0; i <= lines && start > 0; i++) {
    // At the start of a line, the line feed just before it is skipped.
    const from = i === 0 ? start - 1 : start - 2;
    start = from < 0 ? 0 : text.lastIndexOf('\n', from) + 1;
  }
  return start;
}

/** Returns the end of the line around `at`, and of `lines` lines after it. */
function afterLines(text: string, at: number, lines: number): number {
  let end = at;
  for (let i = 0; i <= lines && end < text.length; i++) {
    const next = text.indexOf('\n', end);
    end = next < 0 ? text.length : next + 1;
  }
  return end;
}

function countLines(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

function viewSets(text: string, earlier: string): Viewed {
  const now = countByLine(text);
  const before = countByLine(earlier);
  const removed = surplus(before, now, '-');
  const added = surplus(now, before, '+');
  const lines = [...removed.lines, ...added.lines];
  const facts = {
    added: added.count,
    removed: removed.count,
    exact: false,
    ...(lines.length === 0 ? { reordered: true } : {}),
  };
  return { kind: 'text', text: lines.length === 0 ? '' : `${lines.join('\n')}\n`, facts, cut: 'head_tail' };
}

function countByLine(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (let at = 0; at < text.length; ) {
    const next = text.indexOf('\n', at);
    const end = next < 0 ? text.length : next;
    const line = text.slice(at, end);
    counts.set(line, (counts.get(line) ?? 0) + 1);
    at = end + 1;
  }
  return counts;
}

function surplus(of: ReadonlyMap<string, number>, over: ReadonlyMap<string, number>, sign: '+' | '-') {
  const lines: string[] = [];
  let count = 0;
  for (const [line, times] of of) {
    const more = times - (over.get(line) ?? 0);
    if (more <= 0) continue;
    lines.push(`${sign}${more}× ${line}`);
    count += more;
  }
  return { lines, count };
}
