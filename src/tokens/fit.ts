import { type Envelope, type EnvelopeMeta, FIDELITY_VERSION, warningDetail } from '../core/envelope.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import type { TokenCounter } from './counter.ts';
import { cutBefore } from './cut-points.ts';
import type { Place } from './data/slice.ts';
import { type ByteRange, type Line, renderLine } from './line.ts';

/** The shown part of an answer's streams, and the rest for the cursor. */
export interface Layout {
  texts: ReadonlyMap<string, string>;
  omitted: readonly ByteRange[];
  /** Keys of `data` whose text is cut. */
  cut: readonly string[];
  /** Densification steps that changed the shown text. */
  densified: readonly string[];
  /** Ratio in the shown text. */
  tokensPerByte: number;
  /** The shown part of `data` if it is cut at its items. Default: the envelope's whole `data`. */
  data?: JsonObject;
  /** Start of the rest of `data`; null if it does not start at an item. Default: `data` is not cut. */
  place?: Place | null;
}

/** The stored texts from which an answer is cut, as described in the answer. */
export interface Archive {
  id: string;
  /** `sha256:…` of its bytes. Called only when something is cut. */
  hash(): string;
  bytes: number;
}

interface FitRequest {
  envelope: Envelope;
  budgetTokens: number;
  /** Seals the unread ranges. Called several times; must be deterministic. */
  cursorFor(ranges: readonly ByteRange[]): string;
  /** All ranges, before anything is shown. */
  everything: readonly ByteRange[];
  fields: readonly string[];
  /** Null: the answer does not describe it, as on the pages after the first answer. */
  archive: Archive | null;
  /** Minimum tokens left for text; otherwise the facts are cut. */
  minRoomTokens: number;
  /** Lays out the texts in about `roomTokens`. With less room it shows less. */
  layoutFor(roomTokens: number): Layout;
}

export interface BudgetOutput extends Line {
  /** Bytes of the artifact that this answer does not show, in order; empty if it shows everything. */
  omitted: readonly ByteRange[];
}

/** Below this budget the text of an answer is worth more than the description of its archive. */
const ARCHIVE_MIN_TOKENS = 1_000;
/** Used if nothing is shown. */
export const TOKENS_PER_BYTE = 0.25;
const NO_ROOM: Layout = { texts: new Map(), omitted: [], cut: [], densified: [], tokensPerByte: TOKENS_PER_BYTE };

/**
 * Returns a line within the budget, by exact recount. Facts that alone exceed it are cut step by step
 * (`shrunkEnvelopes`). If even the bare envelope does not fit, which takes dozens of streams or very long field names,
 * the bare line is returned.
 */
export function fitLayout(counter: TokenCounter, request: FitRequest): BudgetOutput {
  const asGiven = fitEnvelope(counter, request, request.envelope, request.minRoomTokens);
  if (asGiven !== null) return asGiven;
  const roomTokens = Math.max(request.minRoomTokens, request.everything.length > 0 ? request.budgetTokens >> 2 : 0);
  let bare = request.envelope;
  for (const smaller of shrunkEnvelopes(request.envelope, request.fields)) {
    const fitted = fitEnvelope(counter, request, smaller, roomTokens);
    if (fitted !== null) return fitted;
    bare = smaller;
  }
  return fitEnvelope(counter, request, bare, 0) ?? renderLayout(counter, request, bare, request.layoutFor(0));
}

/** Null if the facts leave less than `minRoomTokens`, or no layout fits. */
function fitEnvelope(
  counter: TokenCounter,
  request: FitRequest,
  envelope: Envelope,
  minRoomTokens: number,
): BudgetOutput | null {
  const nothingShown = { ...NO_ROOM, omitted: request.everything, cut: request.fields };
  const facts = withLayout(request, envelope, nothingShown);
  const fixed = renderLine(counter, facts, request.budgetTokens - minRoomTokens);
  if (fixed === null) return null;
  let step = 0;
  for (let room = request.budgetTokens - fixed.tokens; room >= 0; room -= step) {
    const fitted = renderLayout(counter, request, envelope, request.layoutFor(room));
    if (fitted.envelope.tokens_used <= request.budgetTokens) return fitted;
    step = Math.max(fitted.envelope.tokens_used - request.budgetTokens, 2 * step);
    if (room > 0 && step > room) step = room;
  }
  return null;
}

function renderLayout(counter: TokenCounter, request: FitRequest, envelope: Envelope, layout: Layout): BudgetOutput {
  const rendered = renderLine(counter, withLayout(request, envelope, layout));
  if (rendered === null) throw new Error('a line without a limit is always rendered');
  return { line: rendered.line, envelope: rendered.envelope, omitted: layout.omitted };
}

function withLayout(request: FitRequest, envelope: Envelope, layout: Layout): Envelope {
  const data = { ...envelope.data, ...layout.data, ...Object.fromEntries(layout.texts) };
  const total = layout.place?.total ?? null;
  const densified = layout.densified.length === 0 ? {} : { densified: layout.densified };
  if (layout.omitted.length === 0) return { ...envelope, data, meta: { ...envelope.meta, ...densified } };
  return {
    ...envelope,
    data,
    has_more: true,
    truncated: true,
    meta: {
      ...envelope.meta,
      pagination: {
        cursor: request.cursorFor(layout.omitted),
        ...(total === null ? {} : { total_count: total }),
      },
      content_fidelity: fidelityOf(envelope, layout),
      ...densified,
      ...(request.budgetTokens < ARCHIVE_MIN_TOKENS ? {} : archiveMeta(request, envelope, layout)),
    },
  };
}

function fidelityOf({ meta }: Envelope, { texts, cut, data = {} }: Layout): 'partial' | 'summary' | 'reference_only' {
  if (meta.content_fidelity === 'summary') return 'summary';
  const hasData = Object.keys(data).length > 0;
  const showsNothing = cut.length > 0 && !hasData && [...texts.values()].every((text) => text === '');
  return showsNothing ? 'reference_only' : 'partial';
}

/** Describes what is missing, how much of it, and the hash of the whole. */
function archiveMeta({ archive }: FitRequest, { meta }: Envelope, layout: Layout): Partial<EnvelopeMeta> {
  if (archive === null) return {};
  return {
    content_fidelity_schema_version: FIDELITY_VERSION,
    dropped_content_ids: [...layout.cut.map((field) => `${archive.id}/${field}`), ...(meta.dropped_content_ids ?? [])],
    content_archive_hashes: { [archive.id]: archive.hash() },
    warning_details: [...(meta.warning_details ?? []), truncation(archive, layout)],
  };
}

/** `total_tokens_estimate` assumes the density of the shown text, rounded to two digits. */
function truncation({ bytes }: Archive, { cut, omitted, tokensPerByte, place = null }: Layout) {
  const dropped = omitted.reduce((sum, { start, end }) => sum + end - start, 0);
  const where = place === null ? '' : ` before ${shrinkText(place.path, PATH_SHOWN_CHARS)}`;
  return warningDetail('CONTENT_TRUNCATED', `${cut.join(', ')} cut to the budget${where}`, {
    dropped_count: dropped,
    total_count: bytes,
    unit: 'bytes',
    total_tokens_estimate: Number((bytes * tokensPerByte).toPrecision(2)),
    reason: 'token_limit_exceeded',
  });
}

/** Maximum number of characters of a JSON path in a warning. */
const PATH_SHOWN_CHARS = 200;

/** Facts that are never dropped. */
export const ESSENTIAL = ['error_code', 'error_type', 'retryable', 'retry_after_ms', 'exit_code', 'signal', 'ended_by'];
const FIRST_SIZE = 16_384;
const LAST_SIZE = 32;
const DEPTH_MAX = 6;
const NOTICE = 'data is cut to fit the budget; raise max_tokens to see more';

/**
 * Yields ever smaller versions of an envelope whose facts alone exceed the budget: strings of at most `size` UTF-16
 * units, lists and objects of at most `size / 4` entries, with `size` halving; finally only the essential facts. `keep`
 * names further entries of `data` to keep. Facts are not stored in an artifact, so `meta.warnings` says that they were
 * cut.
 */
function* shrunkEnvelopes(envelope: Envelope, keep: readonly string[]): Generator<Envelope> {
  const kept = new Set([...ESSENTIAL, ...keep]);
  for (let size = FIRST_SIZE; size >= LAST_SIZE; size /= 2) yield shrinkEnvelope(envelope, size, kept);
  yield bareEnvelope(envelope, kept);
}

function shrinkEnvelope(envelope: Envelope, size: number, kept: ReadonlySet<string>): Envelope {
  const entries = Object.entries(envelope.data).filter(([key], index) => kept.has(key) || index < size / 4);
  return {
    ...markPartial(envelope, shrinkMeta(envelope.meta, size)),
    data: Object.fromEntries(entries.map(([key, value]) => [key, shrinkJson(value, size, DEPTH_MAX)])),
    error: envelope.error === null ? null : shrinkText(envelope.error, size),
    refs: envelope.refs.slice(0, size / 4),
  };
}

function bareEnvelope(envelope: Envelope, kept: ReadonlySet<string>): Envelope {
  const { version, request_id } = envelope.meta;
  const entries = Object.entries(envelope.data).filter(([key, value]) => kept.has(key) && !isContainer(value));
  return {
    ...markPartial(envelope, { version, request_id }),
    data: Object.fromEntries(entries.map(([key, value]) => [key, shrinkJson(value, LAST_SIZE, 0)])),
    error: envelope.error === null ? null : shrinkText(envelope.error, 2 * LAST_SIZE),
    refs: envelope.refs.slice(0, 1),
  };
}

function markPartial(envelope: Envelope, meta: EnvelopeMeta): Envelope {
  return { ...envelope, truncated: true, meta: { ...meta, content_fidelity: 'partial' } };
}

function shrinkMeta(meta: EnvelopeMeta, size: number): EnvelopeMeta {
  const { densified, view, telemetry, warning_details, ...rest } = meta;
  const smaller: EnvelopeMeta = { ...rest, warnings: [...shrinkList(meta.warnings ?? [], size), NOTICE] };
  if (meta.denied !== undefined)
    smaller.denied = meta.denied.slice(0, size / 16).map((denial) => ({
      ...denial,
      ...(denial.path === undefined ? {} : { path: shrinkText(denial.path, size) }),
      ...(denial.host === undefined ? {} : { host: shrinkText(denial.host, size) }),
      how_to_allow: shrinkText(denial.how_to_allow, size),
    }));
  if (meta.isolation !== undefined) {
    smaller.isolation = { ...meta.isolation, missing: shrinkList(meta.isolation.missing, size) };
  }
  return smaller;
}

function shrinkList(texts: readonly string[], size: number): string[] {
  return texts.slice(0, size / 16).map((text) => shrinkText(text, size));
}

function shrinkJson(value: Json, size: number, depth: number): Json {
  if (typeof value === 'string') return shrinkText(value, size);
  if (!isContainer(value)) return value;
  if (depth === 0) return null;
  if (!isJsonObject(value)) return value.slice(0, size / 4).map((item) => shrinkJson(item, size, depth - 1));
  const entries = Object.entries(value).slice(0, size / 4);
  return Object.fromEntries(entries.map(([key, item]) => [shrinkText(key, size), shrinkJson(item, size, depth - 1)]));
}

function isContainer(value: Json): value is readonly Json[] | JsonObject {
  return typeof value === 'object' && value !== null;
}

function shrinkText(text: string, size: number): string {
  return text.length <= size ? text : `${text.slice(0, cutBefore(text, size))}…`;
}
