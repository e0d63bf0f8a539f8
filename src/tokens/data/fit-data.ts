import type { Envelope } from '../../core/envelope.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { TokenCounter } from '../counter.ts';
import { type Archive, type BudgetOutput, ESSENTIAL, fitLayout, type Layout, TOKENS_PER_BYTE } from '../fit.ts';
import type { ByteRange } from '../line.ts';
import { childrenOf, type JsonText, readJson, rootOf } from '../views/json-text.ts';
import { JsonCutter } from './cut.ts';
import { placeOf, type Span, sliceJson } from './slice.ts';

/** The `data` of an answer as stored. */
export interface StoredData {
  field: string;
  /** A JSON object. */
  text: string;
  /** Byte offset of the text in the artifact. */
  offset: number;
}

interface DataInput {
  envelope: Envelope;
  stored: StoredData;
  /** Token limit of the whole line; at least BUDGET_MIN_TOKENS. */
  budgetTokens: number;
  cursorFor(ranges: readonly ByteRange[]): string;
}

/** Short facts of `data` that a first answer always shows. They come first in an artifact of `data`. */
export function essentialsOf(data: JsonObject): JsonObject {
  return Object.fromEntries(ESSENTIAL.flatMap((name) => (isShort(data[name]) ? [[name, data[name] ?? null]] : [])));
}

const SHORT_MAX_CHARS = 40;

function isShort(value: Json | undefined): boolean {
  return typeof value === 'string' ? value.length <= SHORT_MAX_CHARS : value !== undefined && typeof value !== 'object';
}

/** Returns the first answer of a call whose `data` does not fit: JSON cut at items, and a cursor to the rest. */
export function fitData(counter: TokenCounter, input: DataInput & { archive: Archive }): BudgetOutput {
  const layouts = new DataLayouts(input.stored);
  return fitLayout(counter, {
    ...input,
    envelope: { ...input.envelope, data: essentialsOf(input.envelope.data) },
    everything: layouts.everything,
    fields: [input.stored.field],
    minRoomTokens: 0,
    layoutFor: (roomTokens) => layouts.first(counter, roomTokens),
  });
}

/**
 * Returns the next page of `data`: the next items, inside the objects and arrays that contain them. Null if not even
 * one item fits, or the page does not start at an item: then the rest must be shown as text.
 */
export function fitDataPage(
  counter: TokenCounter,
  { ranges, ...input }: DataInput & { ranges: readonly ByteRange[] },
): BudgetOutput | null {
  const layouts = new DataLayouts(input.stored);
  const place = layouts.pathOf(ranges);
  // A path of many tokens leaves no room for its value.
  if (place === null || place.length > input.budgetTokens) return null;
  const { envelope } = input;
  const output = fitLayout(counter, {
    ...input,
    envelope: { ...envelope, meta: { ...envelope.meta, continues_from: place } },
    archive: null,
    everything: ranges,
    fields: [],
    minRoomTokens: 0,
    layoutFor: (roomTokens) => layouts.next(counter, ranges, roomTokens),
  });
  const isStarted = output.omitted[0]?.start !== ranges[0]?.start;
  return isStarted && output.envelope.meta.continues_from === place ? output : null;
}

/** JSON path of the first value in `ranges` of `stored`; null if no value starts there. */
export function placeIn(stored: StoredData, ranges: readonly ByteRange[]): string | null {
  return new DataLayouts(stored).pathOf(ranges);
}

/** Cuts one stored `data` to different sizes. */
export class DataLayouts {
  readonly everything: readonly ByteRange[];
  readonly #stored: StoredData;
  readonly #json: JsonText | null;

  constructor(stored: StoredData) {
    this.#stored = stored;
    this.#json = readObject(stored.text);
    const start = this.#json === null ? 0 : (childrenStart(this.#json) ?? 0);
    const end = stored.text.length - (this.#json === null ? 0 : 1);
    this.everything = this.#toBytes(start < end ? [{ start, end }] : []);
  }

  first(counter: TokenCounter, roomTokens: number): Layout {
    return this.#fill(counter, roomTokens, null, (cutter) => cutter.leftOfAll());
  }

  next(counter: TokenCounter, ranges: readonly ByteRange[], roomTokens: number): Layout {
    const spans = this.#toUnits(ranges);
    return this.#fill(counter, roomTokens, spans, (cutter) => cutter.leftOf(spans));
  }

  /** Path of the first value in `ranges`; null if no value starts there. */
  pathOf(ranges: readonly ByteRange[]): string | null {
    const [first] = this.#toUnits(ranges.slice(0, 1));
    return first === undefined || this.#json === null ? null : (placeOf(this.#json, first.start)?.path ?? null);
  }

  /** Asks for more room while the values take less than requested: together they have fewer tokens than one by one. */
  #fill(
    counter: TokenCounter,
    roomTokens: number,
    spans: readonly Span[] | null,
    cut: (cutter: JsonCutter) => Span[],
  ): Layout {
    const json = this.#json;
    const layoutOf = (asked: number): { layout: Layout; tokens: number } => {
      const left = json === null || asked <= 0 ? null : cut(new JsonCutter(json, counter, asked));
      return this.#layout(counter, json, spans, left);
    };
    let best = layoutOf(roomTokens);
    for (let asked = roomTokens, tries = 0; tries < FILL_TRIES && best.layout.omitted.length > 0; tries++) {
      const unused = roomTokens - best.tokens;
      if (unused * FILL_SHARE <= roomTokens) break;
      asked += unused;
      const more = layoutOf(asked);
      if (more.tokens > roomTokens) break;
      best = more;
    }
    return best.layout;
  }

  #layout(counter: TokenCounter, json: JsonText | null, spans: readonly Span[] | null, left: readonly Span[] | null) {
    const { field } = this.#stored;
    if (json === null || left === null) {
      const omitted = spans === null ? this.everything : this.#toBytes(spans);
      const layout: Layout = { texts: new Map(), omitted, cut: [field], densified: [], tokensPerByte: TOKENS_PER_BYTE };
      return { layout, tokens: 0 };
    }
    const shown = sliceJson(json, without(spans ?? [{ start: 0, end: json.text.length }], left));
    const data: Json = JSON.parse(shown);
    const tokens = counter.count(shown);
    const [first] = left;
    const layout: Layout = {
      texts: new Map(),
      data: isJsonObject(data) ? data : {},
      omitted: this.#toBytes(left),
      cut: first === undefined ? [] : [field],
      place: first === undefined ? null : placeOf(json, first.start),
      densified: [],
      tokensPerByte: tokens / Buffer.byteLength(shown),
    };
    return { layout, tokens };
  }

  #toBytes(spans: readonly Span[]): ByteRange[] {
    const { text, offset } = this.#stored;
    const byteAt = (unit: number): number => offset + Buffer.byteLength(text.slice(0, unit));
    return spans.map(({ start, end }) => ({ start: byteAt(start), end: byteAt(end) }));
  }

  #toUnits(ranges: readonly ByteRange[]): Span[] {
    const { text, offset } = this.#stored;
    const bytes = Buffer.from(text);
    const unitAt = (byte: number): number => bytes.toString('utf8', 0, byte - offset).length;
    return ranges.map(({ start, end }) => ({ start: unitAt(start), end: unitAt(end) }));
  }
}

const FILL_TRIES = 3;
/** Good enough once less than this fraction of the room (1/50) is unused. */
const FILL_SHARE = 50;

/** Null if the text is not one JSON object: a secret that was masked later may have broken it. */
function readObject(text: string): JsonText | null {
  try {
    const json = readJson(text);
    return json.documents.length === 1 && json.skippedLines === 0 && text.startsWith('{') ? json : null;
  } catch {
    return null;
  }
}

function childrenStart(json: JsonText): number | null {
  const root = rootOf(json);
  const [first] = childrenOf(json, root);
  return first === undefined ? null : json.text.indexOf('"', root);
}

/** The parts of `spans` outside `left`; each span of `left` is the end of one of them or a hole in it. */
function without(spans: readonly Span[], left: readonly Span[]): Span[] {
  return spans.flatMap((span) => {
    const parts: Span[] = [];
    let { start } = span;
    for (const hole of left) {
      if (hole.start >= span.end || hole.end <= span.start) continue;
      if (hole.start > start) parts.push({ start, end: hole.start });
      start = Math.max(start, hole.end);
    }
    if (start < span.end) parts.push({ start, end: span.end });
    return parts;
  });
}
