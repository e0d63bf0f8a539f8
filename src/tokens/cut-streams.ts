import type { ByteRange } from './line.ts';
import type { Piece, ShownStream } from './shown-stream.ts';
import type { PrintCounter } from './truncate.ts';

/** Few texts have this many characters per token; a text that would need more is assumed not to fit. */
const LONG_CHARS_PER_TOKEN = 8;

export interface MeasuredStream {
  shown: ShownStream;
  /** Tokens of the whole stream as printed; Infinity if above the budget. */
  tokens: number;
}

/** Skips measuring a stream that has the whole room and cannot fit. */
export function measureStreams(
  counter: PrintCounter,
  streams: readonly ShownStream[],
  budgetTokens: number,
): MeasuredStream[] {
  const isAlone = streams.filter(({ bytes }) => bytes > 0).length === 1;
  return streams.map((shown) => {
    const isLong = isAlone && shown.source.length > budgetTokens * LONG_CHARS_PER_TOKEN;
    return { shown, tokens: isLong ? Number.POSITIVE_INFINITY : shown.tokens(counter, budgetTokens) };
  });
}

/** The shown part of a stream, and its gaps. */
export interface StreamCut {
  shown: ShownStream;
  pieces: readonly Piece[];
  gaps: readonly Gap[];
  /** At most the room of the stream. */
  tokens: number;
}

/** Cuts the streams to `roomTokens` in total: short ones stay whole, the rest get equal shares, cut by their mode. */
export function cutStreams(counter: PrintCounter, streams: readonly MeasuredStream[], roomTokens: number): StreamCut[] {
  const rooms = shareRoom(
    streams.map(({ tokens }) => tokens),
    roomTokens,
  );
  return streams.map(({ shown, tokens }, index) => {
    const room = rooms[index] ?? 0;
    const pieces = tokens <= room ? shown.uncut() : shown.cut(counter, room);
    return { shown, pieces, gaps: gapsOf(shown, pieces), tokens: Math.min(room, tokens) };
  });
}

/** Max-min fair share: no stream gets more than it needs, and the long ones share equally what the short ones leave. */
function shareRoom(needs: readonly number[], roomTokens: number): number[] {
  const rooms = needs.map(() => 0);
  let left = roomTokens;
  let waiting = needs.length;
  for (const [index, need] of [...needs.entries()].sort(([, a], [, b]) => a - b)) {
    const share = Math.min(need, Math.floor(left / waiting));
    rooms[index] = share;
    left -= share;
    waiting--;
  }
  return rooms;
}

/** Bytes of the artifact that are not shown, and the index of the piece after them. */
export interface Gap extends ByteRange {
  before: number;
}

function gapsOf(shown: ShownStream, pieces: readonly Piece[]): Gap[] {
  const gaps: Gap[] = [];
  let at = 0;
  for (const [index, { start, end }] of [...pieces, { start: shown.source.length, end: 0 }].entries()) {
    if (start > at) gaps.push({ start: shown.byteAt(at), end: shown.byteAt(start), before: index });
    at = end;
  }
  return gaps;
}

/** Appends a range in order; merges it with an adjacent one. */
export function addRange(ranges: ByteRange[], range: ByteRange): void {
  if (range.start === range.end) return;
  const last = ranges.at(-1);
  if (last?.end === range.start) ranges[ranges.length - 1] = { start: last.start, end: range.end };
  else ranges.push(range);
}
