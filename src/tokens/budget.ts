import type { Envelope } from '../core/envelope.ts';
import { ContextdError } from '../core/errors.ts';
import { BUDGET_MIN_TOKENS } from '../core/limits.ts';
import { TOKEN_MAX_BYTES, type TokenCounter } from './counter.ts';
import { wellFormed } from './escaped.ts';
import { type BudgetOutput, fitLayout, type Layout } from './fit.ts';
import { type ByteRange, renderLine } from './line.ts';
import { countEscaped, LAST_LOOK } from './truncate.ts';
import { type Cut, cutToView, joinCut } from './views.ts';

/** Which part of a long text an answer shows (the common option `view`). */
export const VIEWS = ['head', 'tail', 'head_tail'] as const;
export type View = (typeof VIEWS)[number];

export interface CutStream {
  /** Key of `data` that takes the text. */
  field: string;
  /** The full scrubbed text. */
  text: string;
}

export interface BudgetInput {
  /** With empty stream fields in `data`, at the place where they shall be printed. */
  envelope: Envelope;
  /** In the order in which the artifact holds them. */
  streams: readonly CutStream[];
  /** Tokens of the whole line; at least BUDGET_MIN_TOKENS. */
  budgetTokens: number;
  view: View;
  /** Seals the ranges still to be read, at most one per stream, in order. The same ranges give the same cursor. */
  cursorFor(ranges: readonly ByteRange[]): string;
}

interface MeasuredStream extends CutStream {
  /** First byte of the stream in the artifact. */
  offset: number;
  bytes: number;
  /** Tokens of the whole text as printed; Infinity when that is above the budget, or the text longer than a view shows. */
  tokens: number;
}

/**
 * The first answer of a call. What fits goes out as it is, only `tokens_used` is set. Otherwise the streams share the
 * room, short ones whole and the others alike, and are cut by the view: `truncated`, `has_more`, a cursor over exactly
 * the omitted bytes, `content_fidelity: "partial"`. ARGS_INVALID for a budget below BUDGET_MIN_TOKENS.
 */
export function fitToBudget(counter: TokenCounter, input: BudgetInput): BudgetOutput {
  assertBudget(input.budgetTokens);
  const whole = renderWhole(counter, input);
  if (whole !== null) return whole;
  const streams = measureStreams(counter, input);
  const bytes = streams.reduce((sum, stream) => sum + stream.bytes, 0);
  return fitLayout(counter, {
    ...input,
    everything: bytes === 0 ? [] : [{ start: 0, end: bytes }],
    fields: streams.map(({ field }) => field),
    minRoomTokens: 0,
    layoutFor: (roomTokens) => layStreams(counter, streams, roomTokens, input.view),
  });
}

/** ARGS_INVALID unless `tokens` is a whole number of at least BUDGET_MIN_TOKENS. */
export function assertBudget(tokens: number): void {
  if (Number.isInteger(tokens) && tokens >= BUDGET_MIN_TOKENS) return;
  throw new ContextdError('ARGS_INVALID', `max_tokens is ${tokens}`, {
    remedy: `Ask for a whole number of at least ${BUDGET_MIN_TOKENS} tokens.`,
    details: { pointer: '/max_tokens', minimum: BUDGET_MIN_TOKENS },
  });
}

/** Null when it does not fit; a text that cannot fit is not even looked at. */
function renderWhole(counter: TokenCounter, input: BudgetInput): BudgetOutput | null {
  const units = input.streams.reduce((sum, { text }) => sum + text.length, 0);
  if (units > input.budgetTokens * TOKEN_MAX_BYTES) return null;
  const texts = input.streams.map(({ field, text }) => [field, wellFormed(text)]);
  const envelope = { ...input.envelope, data: { ...input.envelope.data, ...Object.fromEntries(texts) } };
  const rendered = renderLine(counter, envelope, input.budgetTokens);
  return rendered === null ? null : { line: rendered.line, envelope: rendered.envelope, omitted: [] };
}

function measureStreams(counter: TokenCounter, input: BudgetInput): MeasuredStream[] {
  let offset = 0;
  return input.streams.map(({ field, text }) => {
    const bytes = Buffer.byteLength(text);
    const mayFit = text.length <= input.budgetTokens * LAST_LOOK;
    const tokens = mayFit ? countEscaped(counter, wellFormed(text), input.budgetTokens) : Number.POSITIVE_INFINITY;
    offset += bytes;
    return { field, text, offset: offset - bytes, bytes, tokens };
  });
}

function layStreams(counter: TokenCounter, streams: readonly MeasuredStream[], roomTokens: number, view: View): Layout {
  const rooms = shareRoom(
    streams.map(({ tokens }) => tokens),
    roomTokens,
  );
  const texts = new Map<string, string>();
  const omitted: ByteRange[] = [];
  for (const [index, stream] of streams.entries()) {
    const room = rooms[index] ?? 0;
    const cut = stream.tokens <= room ? { head: 0, tail: 0 } : cutToView(counter, stream.text, room, view);
    const range = omittedRange(stream, cut);
    texts.set(stream.field, visibleText(stream.text, cut, range));
    addRange(omitted, range);
  }
  return { texts, omitted };
}

/** Max-min fair: nobody gets more than it needs, and what the short ones leave is shared by the long ones alike. */
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

function omittedRange({ text, offset, bytes }: MeasuredStream, { head, tail }: Cut): ByteRange {
  const start = offset + Buffer.byteLength(text.slice(0, head));
  return { start, end: head >= tail ? start : offset + bytes - Buffer.byteLength(text.slice(tail)) };
}

function visibleText(text: string, { head, tail }: Cut, { start, end }: ByteRange): string {
  if (start === end) return wellFormed(text);
  return joinCut(wellFormed(text.slice(0, head)), end - start, wellFormed(text.slice(tail)));
}

/** Appends to ranges in order; touching ones become one. */
export function addRange(ranges: ByteRange[], range: ByteRange): void {
  if (range.start === range.end) return;
  const last = ranges.at(-1);
  if (last?.end === range.start) ranges[ranges.length - 1] = { start: last.start, end: range.end };
  else ranges.push(range);
}
