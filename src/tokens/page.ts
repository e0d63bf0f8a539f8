import type { Envelope } from '../core/envelope.ts';
import { assertBudget } from './budget.ts';
import { cutAfter, cutBefore, SEQUENCE_MAX_CHARS } from './cut-points.ts';
import { addRange } from './cut-streams.ts';
import { type BudgetOutput, fitLayout, type Layout, TOKENS_PER_BYTE } from './fit.ts';
import type { ByteRange } from './line.ts';
import { countPrinted, headEnd, type PrintCounter, reachFromStart } from './truncate.ts';

/** Bytes read per token of a page's budget. Text with longer tokens only makes pages shorter. */
const BYTES_PER_TOKEN = 16;
/** Extra bytes read, so that the surroundings of a cut are visible even with four-byte characters. */
const LOOKAHEAD_BYTES = 4 * SEQUENCE_MAX_CHARS;
/** Minimum tokens of a page reserved for text: the longest unit that is never split is a `[SECRET_n]`. */
const MIN_ROOM_TOKENS = 48;

/** A stream of an artifact. */
export interface PagePart {
  field: string;
  bytes: number;
}

/** Bytes of the artifact to read for a page, within one part and one range. */
export interface PageRead extends ByteRange {
  field: string;
  /** True if the part and the range continue after `end`. */
  hasMore: boolean;
}

export interface PageSegment extends PageRead {
  /** The artifact's bytes `start..end`: UTF-8, in which only the last character may be cut. */
  bytes: Buffer;
}

export interface PageInput {
  /** Text goes to `data[field]` of its part. */
  envelope: Envelope;
  /** Contents of the cursor: everything still unread, in order. */
  ranges: readonly ByteRange[];
  /** The reads requested by `planPage`, done. */
  segments: readonly PageSegment[];
  /** Token limit of the whole line; at least BUDGET_MIN_TOKENS. */
  budgetTokens: number;
  cursorFor(ranges: readonly ByteRange[]): string;
}

/** The reads for the next page: enough for the budget, however long the ranges are. */
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
 * Returns the next page: as much of the following text as fits, without a marker, so that the pages concatenate to the
 * omitted bytes. Every page shows at least one character. The last one has neither cursor nor `has_more`.
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

/** Lays out the next page in about `roomTokens`: as much of the following text as fits. */
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

/** End of the shown text of a segment. If the segment continues, the text around the cut must have been read too. */
function segmentEnd(counter: PrintCounter, segment: PageSegment, text: string, roomTokens: number): number {
  const limit = segment.hasMore ? Math.max(0, text.length - SEQUENCE_MAX_CHARS) : text.length;
  return headEnd(counter, text, roomTokens, limit);
}

/** For a terminal sequence longer than the page: it is cut at a character. */
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

/** Removes from `ranges` their first bytes, which `read` covers in the same order. */
function subtract(ranges: readonly ByteRange[], read: readonly ByteRange[]): ByteRange[] {
  const reached = read.at(-1)?.end ?? 0;
  return ranges
    .map(({ start, end }) => ({ start: Math.max(start, reached), end }))
    .filter(({ start, end }) => start < end);
}
