import { cutAfter, cutBefore } from '../../cut-points.ts';
import type { Span } from '../grep/long-line.ts';
import { isSummaryLine } from './error-line.ts';
import { type ErrorLine, endOfLines, errorLines } from './find-errors.ts';

/** Only so much of a text's end is searched, UTF-16 units, in steps. */
const SEARCHED_CHARS = [64 * 1024, 4 * 1024 * 1024];
/** Messages with no more lines between them are one block. */
const GAP_MAX_LINES = 3;
/** A summary so near below what it sums up is shown with it. */
const SUMMARY_GAP_MAX_LINES = 12;

/** Error lines near each other with their messages, from the start of a line to the end of one. */
interface Block extends Span {
  /** The last error line that is more than a summary; else the last one. */
  last: ErrorLine;
  isSummary: boolean;
}

/**
 * The last block of error lines, for the answer of a command that failed: whole lines, UTF-16 offsets, at most `maxChars`
 * long (of a longer line a part). A block that only sums up (`make: *** Error 1`, `Tests 2 failed`) gives way to the one
 * before that says what failed. The last 4 Mi characters are searched. Null when nothing looks like an error.
 */
export function lastErrorBlock(text: string, maxChars: number): { start: number; end: number } | null {
  let summary: Block | null = null;
  for (const chars of SEARCHED_CHARS) {
    const from = text.length <= chars ? 0 : searchStart(text, text.length - chars);
    const block = lastBlock(text, from);
    if (block !== null && !block.isSummary) return fitted(text, block, maxChars);
    summary ??= block;
    if (text.length <= chars) break;
  }
  return summary === null ? null : fitted(text, summary, maxChars);
}

/** Where the first line begins behind `at`; within a line when it is the last one. */
function searchStart(text: string, at: number): number {
  const newline = text.indexOf('\n', at);
  return newline === -1 || newline === text.length - 1 ? cutAfter(text, at) : newline + 1;
}

function lastBlock(text: string, from: number): Block | null {
  let telling: Block | null = null;
  let block: Block | null = null;
  for (const line of errorLines(text, from)) {
    const next = blockOf(text, line, from);
    block = block !== null && isNear(text, block.end, next.start, GAP_MAX_LINES) ? joined(block, next) : next;
    if (!block.isSummary) telling = block;
  }
  if (telling === null || block === null || block === telling) return block;
  return isNear(text, telling.end, block.start, SUMMARY_GAP_MAX_LINES) ? joined(telling, block) : telling;
}

function blockOf(text: string, line: ErrorLine, from: number): Block {
  let start = line.start;
  for (let left = line.before; left > 0 && start > from; left -= 1)
    start = start < 2 ? 0 : text.lastIndexOf('\n', start - 2) + 1;
  const end = Math.min(text.length, endOfLines(text, line, line.after) + 1);
  return { start, end, last: line, isSummary: isSummaryLine(line.body) };
}

function joined(one: Block, next: Block): Block {
  return {
    start: Math.min(one.start, next.start),
    end: Math.max(one.end, next.end),
    last: next.isSummary && !one.isSummary ? one.last : next.last,
    isSummary: one.isSummary && next.isSummary,
  };
}

function isNear(text: string, end: number, start: number, maxLines: number): boolean {
  let at = end;
  for (let lines = 0; at < start && lines < maxLines; lines += 1) {
    const newline = text.indexOf('\n', at);
    at = newline === -1 ? text.length : newline + 1;
  }
  return at >= start;
}

/** The end of a block that is too long, but with its last telling line. */
function fitted(text: string, { start, end, last }: Block, maxChars: number): { start: number; end: number } {
  if (end - start <= maxChars) return { start, end };
  const lineStart = text.indexOf('\n', end - maxChars - 1) + 1;
  if (lineStart > 0 && lineStart <= last.start) return { start: lineStart, end };
  const lastEnd = text.lastIndexOf('\n', last.start + maxChars - 1) + 1;
  if (lastEnd > last.start) return { start: last.start, end: Math.min(end, lastEnd) };
  const partStart = cutBefore(text, Math.max(last.start, last.place - Math.floor(maxChars / 4)));
  return { start: partStart, end: cutBefore(text, Math.min(last.end, partStart + maxChars)) };
}
