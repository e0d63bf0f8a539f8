import { cutAfter, cutBefore } from '../../cut-points.ts';

/** Half open, UTF-16 offsets. */
export interface Span {
  start: number;
  end: number;
}

/** A longer line is shown in parts. UTF-16 units, like all lengths here. */
export const SHOWN_MAX_CHARS = 2_000;
/** How much of a long line is shown before and behind a match, and of the match itself. */
const AROUND_CHARS = 240;
const MATCH_MAX_CHARS = 1_000;
const LEFT_OUT = '…';

/** The parts of a long line around what was found in it, first ones first, with `…` for what is left out. */
export function partsOf(line: string, found: readonly Span[]): string {
  const parts: Span[] = [];
  let room = SHOWN_MAX_CHARS;
  for (const match of found.length === 0 ? [{ start: 0, end: 0 }] : found) {
    const part = partAround(line, match);
    const last = parts.at(-1);
    const isJoined = last !== undefined && part.start <= last.end;
    const size = part.end - (isJoined ? last.end : part.start);
    if (parts.length > 0 && size > room) break;
    room -= size;
    if (isJoined) last.end = Math.max(last.end, part.end);
    else parts.push(part);
  }
  const text = parts.map(({ start, end }) => line.slice(start, end)).join(LEFT_OUT);
  const isFromStart = parts[0]?.start === 0;
  return `${isFromStart ? '' : LEFT_OUT}${text}${parts.at(-1)?.end === line.length ? '' : LEFT_OUT}`;
}

function partAround(line: string, { start, end }: Span): Span {
  const last = Math.min(end, start + MATCH_MAX_CHARS);
  return {
    start: cutBefore(line, Math.max(0, start - AROUND_CHARS)),
    end: cutAfter(line, Math.min(line.length, last + AROUND_CHARS)),
  };
}
