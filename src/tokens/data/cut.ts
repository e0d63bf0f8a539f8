import type { TokenCounter } from '../counter.ts';
import { cutBefore } from '../cut-points.ts';
import { LAST_LOOK } from '../truncate.ts';
import { isContainer, isObject } from '../views/json-scan.ts';
import { type JsonText, rootOf, valueEnd } from '../views/json-text.ts';
import { type Child, childrenIn, oneLine, type Span } from './slice.ts';

/** An object with more members is cut like an array: its first members are shown. */
const MEMBERS_MAX = 64;
/** Maximum number of omitted spans per object, all of which a cursor must hold. */
const SPANS_MAX = 4;
/** Tokens of the brackets and the comma of a partly shown container. */
const BRACKETS_TOKENS = 3;

/** End of the shown part of a span; null if all of it is shown. */
interface Reach {
  end: number | null;
  /** Tokens used. */
  tokens: number;
}

/** Cuts one JSON text at its items to `roomTokens`. */
export class JsonCutter {
  readonly #json: JsonText;
  readonly #counter: TokenCounter;
  readonly #roomTokens: number;
  /** True once something is shown. */
  #isStarted = false;

  constructor(json: JsonText, counter: TokenCounter, roomTokens: number) {
    this.#json = json;
    this.#counter = counter;
    this.#roomTokens = roomTokens;
  }

  /**
   * Spans that a first answer omits, in order: small members of an object are shown whole, the first long one is cut,
   * and further long ones are omitted.
   */
  leftOfAll(): Span[] {
    const root = rootOf(this.#json);
    return this.#planObject(root, this.#roomTokens).spans;
  }

  /** The rest of `spans` after a page: the page shows the first ones that fit. */
  leftOf(spans: readonly Span[]): Span[] {
    let left = this.#roomTokens;
    for (const [index, span] of spans.entries()) {
      const reach = this.#reachIn(rootOf(this.#json), span, left);
      left -= reach.tokens;
      if (reach.end !== null) return [{ start: reach.end, end: span.end }, ...spans.slice(index + 1)];
    }
    return [];
  }

  #planObject(at: number, room: number): { spans: Span[]; tokens: number } {
    const inside = { start: at + 1, end: valueEnd(this.#json, at) - 1 };
    const members = childrenIn(this.#json, at, inside);
    const spans = members.length > MEMBERS_MAX ? null : this.#planMembers(members, room);
    if (spans !== null && spans.spans.length <= SPANS_MAX) return spans;
    const { end, tokens } = this.#reachIn(at, inside, room);
    return { spans: end === null ? [] : [{ start: end, end: inside.end }], tokens };
  }

  #planMembers(members: readonly Child[], room: number): { spans: Span[]; tokens: number } {
    const costs = members.map((member) => this.#tokensOf(member, room));
    const small = smallest(costs, room / 2);
    let left = room - small.tokens;
    this.#isStarted ||= small.indexes.size > 0;
    let isCut = false;
    const spans: (Span & { last: number })[] = [];
    const leaveOut = (span: Span, index: number): void => {
      const before = spans.at(-1);
      if (before?.last === index - 1) spans[spans.length - 1] = { start: before.start, end: span.end, last: index };
      else spans.push({ ...span, last: index });
    };
    for (const [index, member] of members.entries()) {
      const cost = costs[index] ?? 0;
      if (small.indexes.has(index)) continue;
      if (!isCut && cost <= left) {
        left -= cost;
        this.#isStarted = true;
        continue;
      }
      const inner = isCut ? null : this.#planLong(member, left);
      isCut = true;
      left -= inner?.tokens ?? 0;
      for (const span of inner?.spans ?? [this.#wholeOf(member)]) leaveOut(span, index);
    }
    return { spans, tokens: room - left };
  }

  /** Plans a member that does not fit; null if no part of it can be shown. */
  #planLong({ start, value }: Child, room: number): { spans: Span[]; tokens: number } | null {
    const { text } = this.#json;
    const fixed = this.#fixedTokens({ start, value });
    if (fixed >= room) return null;
    if (isObject(text, value)) {
      const { spans, tokens } = this.#planObject(value, room - fixed);
      return tokens === 0 ? null : { spans, tokens: tokens + fixed };
    }
    const inside = { start: value + 1, end: valueEnd(this.#json, value) - 1 };
    const { end, tokens } = this.#reachIn(value, inside, room - fixed);
    if (tokens === 0) return null;
    return { spans: end === null ? [] : [{ start: end, end: inside.end }], tokens: tokens + fixed };
  }

  /** How far the values of `at` inside `span` can be shown in `room`. Zero tokens: not at all. */
  #reachIn(at: number, span: Span, room: number): Reach {
    const { text } = this.#json;
    if (!isContainer(text, at)) return this.#reachInString(at, span, room);
    let left = room;
    for (const child of childrenIn(this.#json, at, span)) {
      const end = valueEnd(this.#json, child.value);
      const isWhole = child.start >= span.start && end <= span.end;
      const tokens = isWhole ? this.#tokensOf(child, left) : Number.POSITIVE_INFINITY;
      if (tokens <= left) {
        left -= tokens;
        this.#isStarted = true;
        continue;
      }
      const before = { end: child.start, tokens: room - left };
      if (isWhole && this.#staysWhole(child, at, left)) return before;
      const fixed = this.#fixedTokens(child);
      const inner = fixed < left ? this.#reachIn(child.value, span, left - fixed) : { end: child.start, tokens: 0 };
      if (inner.tokens === 0) return { ...before, end: Math.max(before.end, span.start) };
      left -= inner.tokens + fixed;
      if (inner.end !== null) return { end: inner.end, tokens: room - left };
    }
    return { end: null, tokens: room - left };
  }

  /**
   * True if a value that does not fit is left whole for the next page: half of this page is used, or the value is an
   * item or a string that fits on a page by itself and this page already shows something.
   */
  #staysWhole(child: Child, around: number, left: number): boolean {
    if (!this.#isStarted) return false;
    if (left * 2 <= this.#roomTokens) return true;
    const { text } = this.#json;
    const isUnit = !isObject(text, around) || text[child.value] === '"';
    return isUnit && this.#tokensOf(child, this.#roomTokens) <= this.#roomTokens;
  }

  #reachInString(at: number, span: Span, room: number): Reach {
    const { text } = this.#json;
    const nothing = { end: Math.max(at, span.start), tokens: 0 };
    if (text[at] !== '"' || room <= 0) return nothing;
    const start = Math.max(at + 1, span.start);
    const end = Math.min(valueEnd(this.#json, at) - 1, span.end);
    const window = text.slice(start, Math.min(end, start + room * LAST_LOOK));
    const length = this.#counter.prefixOf(window, room);
    if (start + length >= end) return { end: null, tokens: Math.max(1, this.#counter.count(window)) };
    const cut = start + wholeEscapes(window, cutBefore(text, start + length, 'characters') - start);
    if (cut <= start) return nothing;
    this.#isStarted = true;
    return { end: cut, tokens: room };
  }

  #wholeOf({ start, value }: Child): Span {
    return { start, end: valueEnd(this.#json, value) };
  }

  /** Tokens of a child with the comma behind it; Infinity above `limit`. */
  #tokensOf(child: Child, limit: number): number {
    const { start, end } = this.#wholeOf(child);
    if (end - start > limit * LAST_LOOK) return Number.POSITIVE_INFINITY;
    return this.#counter.count(`${oneLine(this.#json, start, end)},`, limit);
  }

  /** Tokens around the shown part of a child: its name and its brackets or quotes. */
  #fixedTokens({ start, value }: Child): number {
    const limit = this.#roomTokens;
    if (value - start > limit * LAST_LOOK) return Number.POSITIVE_INFINITY;
    return this.#counter.count(this.#json.text.slice(start, value), limit) + BRACKETS_TOKENS;
  }
}

/** The smallest costs whose sum is at most `limit`. */
function smallest(costs: readonly number[], limit: number): { indexes: ReadonlySet<number>; tokens: number } {
  const indexes = new Set<number>();
  let tokens = 0;
  for (const [index, cost] of [...costs.entries()].sort(([, a], [, b]) => a - b)) {
    if (tokens + cost > limit) break;
    tokens += cost;
    indexes.add(index);
  }
  return { indexes, tokens };
}

/** The last offset at or before `at`, in the contents of a JSON string, that is not inside an escape. */
function wholeEscapes(text: string, at: number): number {
  let place = 0;
  for (let next = 0; next <= at; ) {
    place = next;
    next += text[next] === '\\' ? (text[next + 1] === 'u' ? 6 : 2) : 1;
  }
  return place;
}
