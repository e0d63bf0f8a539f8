import { gapLine, type OutputGap } from '../core/gap.ts';
import type { OutputGap as WireGap, OutputGap__Output as WireGapOutput } from './generated/host.ts';
import { type MessageShape, WireFault } from './wire-bounds.ts';

export const GAP_SHAPE: MessageShape = {
  1: 'uint32',
  2: 'uint32',
  3: 'uint64',
  4: 'uint64',
  5: 'uint64',
  6: 'uint64',
};

export function packGap({ start, end, bytes, firstLine, lastLine, nextLine }: OutputGap): WireGap {
  return { start, end, bytes, first_line: firstLine, last_line: lastLine, next_line: nextLine };
}

/**
 * Returns null if nothing is missing. Throws WireFault if the gap does not fit its text, or if anything but the line of
 * contextd stands in its place: this line is not searched for secrets.
 */
export function parseGap(wire: WireGapOutput | null | undefined, text: string): OutputGap | null {
  if (wire === null || wire === undefined) return null;
  const { start, end, bytes, first_line: firstLine, last_line: lastLine, next_line: nextLine } = wire;
  const isInText = start < end && end <= text.length;
  const isInOrder = firstLine >= 1 && firstLine <= lastLine && lastLine <= nextLine && nextLine <= lastLine + 1;
  const gap = { start, end, bytes, firstLine, lastLine, nextLine };
  const isOurs = text.slice(start, end).replace(/^\n/, '') === gapLine(gap);
  if (!isInText || !isInOrder || !isOurs || ![bytes, nextLine].every(Number.isSafeInteger))
    throw new WireFault('a gap does not fit its text');
  return gap;
}
