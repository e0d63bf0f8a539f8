import type { Envelope } from '../core/envelope.ts';
import { ContextdError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import { BUDGET_MIN_TOKENS } from '../core/limits.ts';
import { TOKEN_MAX_BYTES, type TokenCounter } from './counter.ts';
import { addRange, cutStreams, type Gap, type MeasuredStream, measureStreams } from './cut-streams.ts';
import { DataLayouts, essentialsOf, type StoredData } from './data/fit-data.ts';
import { type Archive, type BudgetOutput, fitLayout, type Layout, TOKENS_PER_BYTE } from './fit.ts';
import { type ByteRange, renderLine } from './line.ts';
import { type CutStream, type Piece, ShownStream } from './shown-stream.ts';
import { wellFormed } from './truncate.ts';

export interface BudgetInput {
  /** `data` has empty stream fields in the places where they are to be printed. */
  envelope: Envelope;
  /** In the order of the artifact. Made by `shownStreams`, once for both `fitWhole` and `fitCut`. */
  streams: readonly ShownStream[];
  /** Token limit of the whole line; at least BUDGET_MIN_TOKENS. */
  budgetTokens: number;
}

export interface CutInput extends BudgetInput {
  /** The archive that the cursor points into; null if there is no text. */
  archive: Archive | null;
  /** The `data` of the answer if it is large: it is cut too, and follows the texts in the artifact. */
  data?: StoredData | null;
  /** Seals the unread ranges, in order. Deterministic. */
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
 * Returns the first answer of a call if all of it fits: densified if that is smaller, with `tokens_used` and
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
 * Returns the first answer of a call that must be cut. The streams share the room: short ones are shown whole, the
 * others get equal shares and are cut by their mode. Sets `truncated`, `has_more`, `content_fidelity`, and a cursor
 * over exactly the omitted bytes.
 */
export function fitCut(counter: TokenCounter, input: CutInput): BudgetOutput {
  const streams = measureStreams(counter, input.streams, input.budgetTokens);
  const texts = mergeRanges(streams.map(({ shown }) => ({ start: shown.offset, end: shown.offset + shown.bytes })));
  const fields = streams.map(({ shown }) => shown.field);
  const { data = null, envelope } = input;
  const laid = { ...input, fields, minRoomTokens: 0 };
  if (data === null) {
    return fitLayout(counter, { ...laid, everything: texts, layoutFor: (room) => layStreams(counter, streams, room) });
  }
  const layouts = new DataLayouts(data);
  return fitLayout(counter, {
    ...laid,
    envelope: { ...envelope, data: { ...essentialsOf(envelope.data), ...onlyFields(envelope.data, fields) } },
    everything: [...texts, ...layouts.everything],
    fields: [...fields, data.field],
    layoutFor: (room) => layBoth(counter, streams, layouts, room),
  });
}

/** `data` gets half of the room, or what the texts leave if that is more. */
function layBoth(
  counter: TokenCounter,
  streams: readonly MeasuredStream[],
  layouts: DataLayouts,
  roomTokens: number,
): Layout {
  const needed = streams.reduce((sum, { tokens }) => sum + tokens, 0);
  const data = layouts.first(counter, Math.max(roomTokens >> 1, roomTokens - needed));
  const dataTokens = counter.count(JSON.stringify(data.data ?? {}));
  const texts = layStreams(counter, streams, Math.max(0, roomTokens - dataTokens));
  return {
    ...data,
    ...texts,
    omitted: [...texts.omitted, ...data.omitted],
    cut: [...texts.cut, ...data.cut],
  };
}

function onlyFields(data: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(data).filter(([name]) => fields.includes(name)));
}

/** `fitWhole`, or else `fitCut`, if nothing is stored in between. ARGS_INVALID for less than BUDGET_MIN_TOKENS. */
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

/** Returns null if it does not fit. A text that is certainly too long is not counted. */
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

function layStreams(counter: TokenCounter, streams: readonly MeasuredStream[], roomTokens: number): Layout {
  const texts = new Map<string, string>();
  const omitted: ByteRange[] = [];
  const cut: string[] = [];
  const used = { tokens: 0, bytes: 0 };
  for (const { shown, pieces, gaps, tokens } of cutStreams(counter, streams, roomTokens)) {
    if (gaps.length > 0) cut.push(shown.field);
    texts.set(shown.field, joinPieces(pieces, gaps));
    for (const { start, end } of gaps) addRange(omitted, { start, end });
    used.tokens += tokens;
    used.bytes += pieces.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  }
  const densified = stepsOf(streams.map(({ shown }) => shown));
  const tokensPerByte = used.bytes === 0 ? TOKENS_PER_BYTE : used.tokens / used.bytes;
  return { texts, omitted, cut, densified, tokensPerByte };
}

/** Densification steps that changed the shown text of the streams. */
export function stepsOf(streams: readonly ShownStream[]): string[] {
  return [...new Set(streams.flatMap(({ steps }) => steps))];
}

/** The visible text. A marker has its own line; the newlines around it belong to the marker, not to the text. */
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
