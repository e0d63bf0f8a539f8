import type { Envelope } from '../core/envelope.ts';
import { ContextdError } from '../core/errors.ts';
import { BUDGET_MIN_TOKENS } from '../core/limits.ts';
import { TOKEN_MAX_BYTES, type TokenCounter } from './counter.ts';
import { type Archive, type BudgetOutput, fitLayout, type Layout, TOKENS_PER_BYTE } from './fit.ts';
import { type ByteRange, renderLine } from './line.ts';
import { type CutStream, type Piece, ShownStream } from './shown-stream.ts';
import { wellFormed } from './truncate.ts';

export interface BudgetInput {
  /** `data` has empty stream fields at the places where they are to be printed. */
  envelope: Envelope;
  /** In the order in which the artifact holds them. Made by `shownStreams`, once for both ways to fit. */
  streams: readonly ShownStream[];
  /** Tokens of the whole line; at least BUDGET_MIN_TOKENS. */
  budgetTokens: number;
}

export interface CutInput extends BudgetInput {
  /** What the cursor leads into; null if there is no text. */
  archive: Archive | null;
  /** Seals the ranges still to be read, in order. The same ranges give the same cursor. */
  cursorFor(ranges: readonly ByteRange[]): string;
}

/** An answer that shows everything. */
export interface WholeOutput extends BudgetOutput {
  omitted: readonly [];
}

export function shownStreams(streams: readonly CutStream[], budgetTokens: number): ShownStream[] {
  assertBudget(budgetTokens);
  return streams.map((stream) => new ShownStream(stream, budgetTokens));
}

/**
 * Returns the first answer of a call if all of it fits: densified if that makes it smaller, with `tokens_used` and
 * `densified` set. Null if it must be cut.
 */
export function fitWhole(counter: TokenCounter, input: BudgetInput): WholeOutput | null {
  const densified = stepsOf(input.streams);
  const dense = renderWhole(
    counter,
    input,
    input.streams.map(({ field, whole }) => [field, whole] as const),
    densified,
  );
  if (densified.length === 0) return dense;
  const plain = renderWhole(
    counter,
    input,
    input.streams.map(({ field, source }) => [field, source] as const),
    [],
  );
  if (plain === null || dense === null) return dense ?? plain;
  return plain.envelope.tokens_used <= dense.envelope.tokens_used ? plain : dense;
}

/**
 * Returns the first answer of a call that must be cut. The streams share the room: short ones are whole, the others get
 * equal shares and are cut by their mode. Sets `truncated`, `has_more`, a cursor over exactly the omitted bytes, and
 * `content_fidelity`.
 */
export function fitCut(counter: TokenCounter, input: CutInput): BudgetOutput {
  const streams = measured(counter, input);
  return fitLayout(counter, {
    ...input,
    everything: mergeRanges(streams.map(({ shown }) => ({ start: shown.offset, end: shown.offset + shown.bytes }))),
    fields: streams.map(({ shown }) => shown.field),
    minRoomTokens: 0,
    layoutFor: (roomTokens) => layStreams(counter, streams, roomTokens),
  });
}

/** Does both, if nothing is stored in between. ARGS_INVALID for a budget below BUDGET_MIN_TOKENS. */
export function fitToBudget(
  counter: TokenCounter,
  { streams, ...input }: Omit<CutInput, 'streams'> & { streams: readonly CutStream[] },
): BudgetOutput {
  const shown = { ...input, streams: shownStreams(streams, input.budgetTokens) };
  return fitWhole(counter, shown) ?? fitCut(counter, shown);
}

/** Throws ARGS_INVALID unless `tokens` is a whole number of at least BUDGET_MIN_TOKENS. */
export function assertBudget(tokens: number): void {
  if (Number.isInteger(tokens) && tokens >= BUDGET_MIN_TOKENS) return;
  throw new ContextdError('ARGS_INVALID', `max_tokens is ${tokens}`, {
    remedy: `Ask for a whole number of at least ${BUDGET_MIN_TOKENS} tokens.`,
    details: { pointer: '/max_tokens', minimum: BUDGET_MIN_TOKENS },
  });
}

/** Few texts have this many characters per token; a text that would need more is assumed not to fit. */
const LONG_CHARS_PER_TOKEN = 8;

/** Returns null if it does not fit; a text that cannot fit is not counted. */
function renderWhole(
  counter: TokenCounter,
  input: BudgetInput,
  texts: readonly (readonly [field: string, text: string | null])[],
  densified: readonly string[],
): WholeOutput | null {
  const units = texts.reduce((sum, [, text]) => sum + (text?.length ?? Number.POSITIVE_INFINITY), 0);
  if (units > input.budgetTokens * TOKEN_MAX_BYTES) return null;
  const { envelope } = input;
  const shown = Object.fromEntries(texts.map(([field, text]) => [field, wellFormed(text ?? '')]));
  const meta = densified.length === 0 ? envelope.meta : { ...envelope.meta, densified };
  const rendered = renderLine(counter, { ...envelope, data: { ...envelope.data, ...shown }, meta }, input.budgetTokens);
  return rendered === null ? null : { line: rendered.line, envelope: rendered.envelope, omitted: [] };
}

interface MeasuredStream {
  shown: ShownStream;
  /** Tokens of the whole as printed; Infinity when that is above the budget. */
  tokens: number;
}

/** A stream that has the whole room and cannot fit need not be measured. */
function measured(counter: TokenCounter, { streams, budgetTokens }: BudgetInput): MeasuredStream[] {
  const isAlone = streams.filter(({ bytes }) => bytes > 0).length === 1;
  return streams.map((shown) => {
    const isLong = isAlone && shown.source.length > budgetTokens * LONG_CHARS_PER_TOKEN;
    return { shown, tokens: isLong ? Number.POSITIVE_INFINITY : shown.tokens(counter, budgetTokens) };
  });
}

function layStreams(counter: TokenCounter, streams: readonly MeasuredStream[], roomTokens: number): Layout {
  const rooms = shareRoom(
    streams.map(({ tokens }) => tokens),
    roomTokens,
  );
  const texts = new Map<string, string>();
  const omitted: ByteRange[] = [];
  const cut: string[] = [];
  const used = { tokens: 0, bytes: 0 };
  for (const [index, { shown, tokens }] of streams.entries()) {
    const room = rooms[index] ?? 0;
    const pieces = tokens <= room ? shown.uncut() : shown.cut(counter, room);
    const gaps = gapsOf(shown, pieces);
    if (gaps.length > 0) cut.push(shown.field);
    texts.set(shown.field, joinPieces(pieces, gaps));
    for (const { start, end } of gaps) addRange(omitted, { start, end });
    used.tokens += Math.min(room, tokens);
    used.bytes += pieces.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  }
  const densified = stepsOf(streams.map(({ shown }) => shown));
  const tokensPerByte = used.bytes === 0 ? TOKENS_PER_BYTE : used.tokens / used.bytes;
  return { texts, omitted, cut, densified, tokensPerByte };
}

function stepsOf(streams: readonly ShownStream[]): string[] {
  return [...new Set(streams.flatMap(({ steps }) => steps))];
}

/** Max-min fair: no stream gets more than it needs, and the long ones share equally what the short ones leave. */
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

/** Bytes of the artifact that are not shown, and before which piece they are missing. */
interface Gap extends ByteRange {
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

/** The visible text. A marker has a line of its own; the newlines around it belong to the marker, not to the text. */
function joinPieces(pieces: readonly Piece[], gaps: readonly Gap[]): string {
  let text = '';
  for (const [index, piece] of [...pieces, null].entries()) {
    const gap = gaps.find(({ before }) => before === index);
    if (gap !== undefined)
      text += `${text === '' ? '' : '\n'}${marker(gap.end - gap.start)}${piece === null ? '' : '\n'}`;
    text += wellFormed(piece?.text ?? '');
  }
  return text;
}

function marker(omittedBytes: number): string {
  const count = String(omittedBytes).replace(/\B(?=(?:\d{3})+$)/g, ',');
  return `… ${count} bytes omitted; pass meta.pagination.cursor as continuation …`;
}

function mergeRanges(ranges: readonly ByteRange[]): ByteRange[] {
  const merged: ByteRange[] = [];
  for (const range of ranges) addRange(merged, range);
  return merged;
}

/** Appends to ranges in order; touching ones become one. */
export function addRange(ranges: ByteRange[], range: ByteRange): void {
  if (range.start === range.end) return;
  const last = ranges.at(-1);
  if (last?.end === range.start) ranges[ranges.length - 1] = { start: last.start, end: range.end };
  else ranges.push(range);
}
