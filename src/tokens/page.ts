import type { Envelope } from '../core/envelope.ts';
import { assertBudget } from './budget.ts';
import { cutAfter, cutBefore, SEQUENCE_MAX_CHARS } from './cut-points.ts';
import { addRange } from './cut-streams.ts';
import { type BudgetOutput, fitLayout, type Layout, TOKENS_PER_BYTE } from './fit.ts';
import type { ByteRange } from './line.ts';
import { countPrinted, headEnd, type PrintCounter, reachFromStart } from './truncate.ts';

/** Bytes read ahead for each token of a page's budget. Text of longer tokens only makes shorter pages. */
const BYTES_PER_TOKEN = 16;
/** Bytes read beyond, so that what is around a cut is seen even where a character takes four. */
const LOOKAHEAD_BYTES = 4 * SEQUENCE_MAX_CHARS;
/** Tokens a page keeps for text: the longest thing that stays whole in any case is a `[SECRET_n]`. */
const MIN_ROOM_TOKENS = 48;

/** A stream of an artifact. */
export interface PagePart {
  field: string;
  bytes: number;
}

/** Bytes of the artifact to be read for a page; they lie within one part and one range. */
export interface PageRead extends ByteRange {
  field: string;
  /** The part and the range go on after `end`. */
  hasMore: boolean;
}

export interface PageSegment extends PageRead {
  /** The artifact's bytes `start..end`: UTF-8, of which only a character at the end may be cut. */
  bytes: Buffer;
}

export interface PageInput {
  /** The text goes to `data[field]` of the part it lies in. */
  envelope: Envelope;
  /** What the cursor holds: all that is still to be read, in order. */
  ranges: readonly ByteRange[];
  /** What `planPage` asked for, read. */
  segments: readonly PageSegment[];
  /** Tokens of the whole line; at least BUDGET_MIN_TOKENS. */
  budgetTokens: number;
  cursorFor(ranges: readonly ByteRange[]): string;
}

/** What to read for the next page: enough for the budget, however long the ranges are. */
export function planPage(parts: readonly PagePart[], ranges: readonly ByteRange[], budgetTokens: number): PageRead[] {
  const reads: PageRead[] = [];
  let left = budgetTokens * BYTES_PER_TOKEN + LOOKAHEAD_BYTES;
  for (const { field, start, end } of splitByParts(parts, ranges)) {
    if (left === 0 || reads.some((read) => read.field === field)) break;
    const take = Math.min(left, end - start);
    reads.push({ field, start, end: start + take, hasMore: take < end - start });
    left -= take;
  }
  return reads;
}

/**
 * Returns the next page: as much of the following text as fits, without a marker, so that pages join to the omitted
 * bytes. Every page shows at least one character. The last one has neither cursor nor `has_more`.
 */
export function fitPage(counter: PrintCounter, input: PageInput): BudgetOutput {
  assertBudget(input.budgetTokens);
  return fitLayout(counter, {
    ...input,
    archive: null,
    everything: input.ranges,
    fields: input.segments.map(({ field }) => field),
    minRoomTokens: input.segments.length === 0 ? 0 : MIN_ROOM_TOKENS,
    layoutFor: (roomTokens) => layPage(counter, input, roomTokens),
  });
}

/** The next page, in about `roomTokens`: as much of the following text as fits. */
export function layPage(
  counter: PrintCounter,
  { ranges, segments }: Pick<PageInput, 'ranges' | 'segments'>,
  roomTokens: number,
): Layout {
  const texts = segments.map(({ bytes }) => bytes.toString('utf8'));
  const shown = new Map<string, string>();
  const read: ByteRange[] = [];
  let left = roomTokens;
  for (const [index, segment] of segments.entries()) {
    const text = texts[index] ?? '';
    const end = segmentEnd(counter, segment, text, left) || (index === 0 ? smallestStep(counter, text, left) : 0);
    const visible = text.slice(0, end);
    if (end > 0) shown.set(segment.field, visible);
    addRange(read, { start: segment.start, end: segment.start + Buffer.byteLength(visible) });
    if (end < text.length) break;
    left -= countPrinted(counter, visible);
  }
  return {
    texts: shown,
    omitted: subtract(ranges, read),
    cut: [],
    densified: [],
    tokensPerByte: TOKENS_PER_BYTE,
  };
}

/** Where a segment read up to a limit is cut, everything around a cut must have been read too. */
function segmentEnd(counter: PrintCounter, segment: PageSegment, text: string, roomTokens: number): number {
  const limit = segment.hasMore ? Math.max(0, text.length - SEQUENCE_MAX_CHARS) : text.length;
  return headEnd(counter, text, roomTokens, limit);
}

/** For a terminal sequence longer than the page: it is cut, at a character. */
function smallestStep(counter: PrintCounter, text: string, roomTokens: number): number {
  const reach = reachFromStart(counter, text, roomTokens, text.length);
  return cutBefore(text, reach, 'characters') || cutAfter(text, 1, 'characters');
}

function splitByParts(parts: readonly PagePart[], ranges: readonly ByteRange[]): (ByteRange & { field: string })[] {
  let offset = 0;
  return parts.flatMap(({ field, bytes }) => {
    const part = { start: offset, end: offset + bytes };
    offset = part.end;
    return ranges
      .map((range) => ({
        field,
        start: Math.max(range.start, part.start),
        end: Math.min(range.end, part.end),
      }))
      .filter(({ start, end }) => start < end);
  });
}

/** `ranges` without their first bytes, which `read` covers in the same order. */
function subtract(ranges: readonly ByteRange[], read: readonly ByteRange[]): ByteRange[] {
  const reached = read.at(-1)?.end ?? 0;
  return ranges
    .map(({ start, end }) => ({ start: Math.max(start, reached), end }))
    .filter(({ start, end }) => start < end);
}
