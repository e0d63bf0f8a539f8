import type { JsonObject } from '../../core/json.ts';
import { cutAfter, cutBefore } from '../cut-points.ts';
import { isReasonAlone, isSummaryLine } from './errors/error-line.ts';
import { type ErrorLine, endOfLines, errorLines } from './errors/find-errors.ts';
import { type Line, NumberedLines, type Span } from './grep/numbered-lines.ts';
import { LineNumbers } from './line-numbers.ts';
import { lastLines } from './ranges.ts';
import type { Viewed } from './view.ts';

/** How often the same error is shown, and the same reason, whatever its names, if nothing calls it an error. */
const REPEATS_SHOWN = 3;
const REASONS_SHOWN = 10;
/** Names, which differ from one message to the next. */
const NAMES = /"[^"]*"|'[^']*'|`[^`']*['`]|\S*[/\\]\S*|\d+/g;
/** How much of an error is compared, UTF-16 units, and how many different ones are remembered. */
const KEY_MAX_CHARS = 300;
const KEYS_MAX = 5_000;
/** Lines shown of a text without any error. */
const LAST_LINES = 20;

/**
 * Shows what a person looks for in a failed build or test: the lines that report errors, `12:text`, with their messages
 * and `context` lines around, `13-text`, and `--` between groups; in the order of the text. A repeated error (the same
 * except for digits) is shown three times, a reason that nothing calls an error (`File 'a' does not exist`, the same
 * except for names) ten times. Without any error the last 20 lines. Facts: `lines` of the text, `errors` (lines that
 * report one), `repeats` (those not shown), and those of viewGrep. Time is linear in the text.
 */
export function viewErrors(
  text: string,
  { context }: { context: number },
  numbers = new LineNumbers(text, undefined),
): Viewed {
  const out = new NumberedLines(text, { separated: true, numbers });
  const count = new LineCount(text);
  const repeats = new Repeats();
  let errors = 0;
  for (const found of errorLines(text, 0)) {
    errors += 1;
    if (repeats.isRepeat(found.body)) continue;
    const { heading, start, place } = found;
    if (heading !== null) out.add(count.numbered(heading), { before: 0, after: 0 }, () => [], '-');
    const around = { before: found.before + context, after: found.after + context };
    out.add(count.numbered(found), around, () => [{ start: place - start, end: place - start }]);
  }
  if (errors === 0) showEnd(text, out, count);
  const shown = out.finish();
  const facts: JsonObject = {
    lines: numbers.of(count.all()),
    errors,
    ...(repeats.count > 0 && { repeats: repeats.count }),
    ...(out.shortened > 0 && { shortened_lines: out.shortened }),
    ...(out.leftOut > 0 && { matches_left_out: out.leftOut }),
  };
  return { kind: 'text', text: shown, facts, cut: 'head_tail' };
}

function showEnd(text: string, out: NumberedLines, count: LineCount): void {
  const { start, end } = lastLines(text, LAST_LINES);
  if (start < end) out.add(count.numbered({ start, end }), { before: 0, after: LAST_LINES - 1 }, () => [], '-');
}

/** Knows which errors were shown often enough. */
class Repeats {
  readonly #seen = new Map<string, number>();
  /** How many were left out. */
  count = 0;

  isRepeat(body: string): boolean {
    const isReason = isReasonAlone(body);
    const key = body.slice(0, KEY_MAX_CHARS).replace(isReason ? NAMES : /\d+/g, '0');
    const times = (this.#seen.get(key) ?? 0) + 1;
    if (times > 1 || this.#seen.size < KEYS_MAX) this.#seen.set(key, times);
    const isShownOften = times > (isReason ? REASONS_SHOWN : REPEATS_SHOWN);
    if (isShownOften) this.count += 1;
    return isShownOften;
  }
}

/** Numbers lines, which must come in their order. */
class LineCount {
  readonly #text: string;
  #number = 1;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  numbered({ start, end }: Span): Line {
    // A heading of one error may stand before the error that came last.
    if (start < this.#at) return { number: 0, start, end };
    this.#countTo(start);
    return { number: this.#number, start, end };
  }

  /** How many lines there are in all: a line end that closes the text begins no further one. */
  all(): number {
    this.#countTo(this.#text.length);
    return this.#at === this.#text.length ? this.#number - 1 : this.#number;
  }

  #countTo(place: number): void {
    for (let at = this.#text.indexOf('\n', this.#at); at !== -1 && at < place; at = this.#text.indexOf('\n', at + 1)) {
      this.#number += 1;
      this.#at = at + 1;
    }
  }
}

/** Only so much of a text's end is searched, UTF-16 units, in steps. */
const SEARCHED_CHARS = [64 * 1024, 4 * 1024 * 1024];
/** Messages with no more lines between them are one block. */
const GAP_MAX_LINES = 3;
/** Lines between a summary and what it sums up if both are shown. */
const SUMMARY_GAP_MAX_LINES = 12;

/** Error lines near each other with their messages, from the start of a line to the end of one. */
interface Block extends Span {
  /** The last error line that is more than a summary; else the last one. */
  last: ErrorLine;
  isSummary: boolean;
}

/**
 * Returns the last block of error lines, for the answer of a command that failed: whole lines, UTF-16 offsets, at most
 * `maxChars` long (a part of a longer line). If the block only sums up (`make: *** Error 1`, `Tests 2 failed`), the
 * block before that says what failed is returned. The last 4 Mi characters are searched. Null if nothing looks like an
 * error.
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
