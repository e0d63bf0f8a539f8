import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Envelope, successEnvelope } from '#src/core/envelope.js';
import { isJsonObject, type Json, type JsonObject } from '#src/core/json.js';
import { loadCounter } from '#src/tokens/counter.js';
import { dataText } from '#src/tokens/data/data-text.js';
import { essentialsOf, fitData, fitDataPage } from '#src/tokens/data/fit-data.js';
import type { BudgetOutput } from '#src/tokens/fit.js';
import type { ByteRange } from '#src/tokens/line.js';
import { fitPage, planPage } from '#src/tokens/page.js';
import { parseJsonPath } from '#src/tokens/views/json-path-syntax.js';
import { propertyRuns } from '../../helpers/property-runs.ts';
import { cursorFor, rangesOf } from './envelopes.ts';

const counter = loadCounter();
const META = { version: 'response-v2', request_id: 'req_01JD4X8V7N3QZ5T2K9RBWCMEHF' } as const;
const REFS = ['art_9f3k2mz8q1x7c5va'];

function envelopeOf(data: JsonObject): Envelope {
  return successEnvelope({ data, refs: REFS, meta: META });
}

function stored(data: JsonObject) {
  return { field: 'data', text: dataText({ ...essentialsOf(data), ...data }), offset: 0 };
}

function first(data: JsonObject, budgetTokens: number, envelope = envelopeOf(data)): BudgetOutput {
  const it = stored(envelope.data);
  const archive = { id: REFS[0] ?? '', bytes: Buffer.byteLength(it.text), hash: () => `sha256:${'0'.repeat(64)}` };
  return fitData(counter, { envelope, stored: it, budgetTokens, archive, cursorFor });
}

interface Page extends BudgetOutput {
  /** The stored text itself, of a page that cannot be JSON. */
  text: string | null;
}

function next(data: JsonObject, ranges: readonly ByteRange[], budgetTokens: number, asText: boolean): Page {
  const it = stored(data);
  const input = { envelope: successEnvelope({ data: {}, refs: REFS, meta: META }), budgetTokens, cursorFor };
  const page = asText ? null : fitDataPage(counter, { ...input, stored: it, ranges });
  if (page !== null) return { ...page, text: null };
  const bytes = Buffer.from(it.text);
  const parts = [{ field: 'data', bytes: bytes.length }];
  const segments = planPage(parts, ranges, budgetTokens).map((read) => ({
    ...read,
    bytes: bytes.subarray(read.start, read.end),
  }));
  const output = fitPage(counter, { ...input, ranges, segments });
  return { ...output, text: String(output.envelope.data.data ?? '') };
}

function expectHonest({ line, envelope, omitted }: BudgetOutput, budgetTokens: number): void {
  // Other tests compare the counter with js-tiktoken, which is slow for such texts.
  const tokens = counter.count(line);
  expect(tokens).toBeLessThanOrEqual(budgetTokens);
  expect(JSON.parse(line)).toEqual({ ...envelope, tokens_used: tokens });
  expect(envelope.has_more).toBe(omitted.length > 0);
  expect(rangesOf(envelope.meta.pagination?.cursor ?? '')).toEqual(omitted);
}

type Segment = string | number;

function segmentsOf(path: string): Segment[] {
  return parseJsonPath(path).map(({ selectors: [selector] }) => {
    if (selector?.kind === 'index') return selector.index;
    if (selector?.kind === 'name') return selector.name;
    throw new Error(`not a place: ${path}`);
  });
}

/** What a client does with a page: it goes on at the path; everything else on the page is new. */
function join(known: Json | undefined, page: Json, path: readonly Segment[]): Json {
  const [segment, ...rest] = path;
  if (segment === undefined) {
    if (known === undefined) return page;
    if (typeof known === 'string' && typeof page === 'string') return known + page;
    throw new Error(`shown twice: ${JSON.stringify(page).slice(0, 100)}`);
  }
  if (typeof segment === 'number' && Array.isArray(page)) {
    const items = Array.isArray(known) ? known : [];
    expect(items.length - segment).toBeLessThanOrEqual(1);
    expect(items.length).toBeGreaterThanOrEqual(segment);
    return [...items.slice(0, segment), join(items[segment], page[0] ?? null, rest), ...page.slice(1)];
  }
  if (!isJsonObject(page) || (known !== undefined && !isJsonObject(known))) throw new Error('another kind of value');
  const members = new Map<string, Json>(Object.entries(known ?? {}));
  for (const [name, value] of Object.entries(page)) {
    if (name !== segment && members.has(name)) throw new Error(`${name} is shown twice`);
    members.set(name, name === segment ? join(members.get(name), value, rest) : value);
  }
  return Object.fromEntries(members);
}

/** Follows the cursors to the end. */
function walk(data: JsonObject, firstTokens: number, pageTokens: number) {
  const answer = first(data, firstTokens);
  expectHonest(answer, firstTokens);
  let whole: Json = answer.envelope.data;
  let ranges = answer.omitted;
  let text: string | null = null;
  let rest: readonly ByteRange[] = [];
  let pages = 0;
  while (ranges.length > 0) {
    const page = next(data, ranges, pageTokens, text !== null);
    expectHonest(page, pageTokens);
    const path = page.envelope.meta.continues_from;
    if (page.text === null) whole = join(whole, page.envelope.data, segmentsOf(path ?? ''));
    else {
      if (text === null) rest = ranges;
      text = (text ?? '') + page.text;
      expect(path).toBeUndefined();
      expect(page.text).not.toBe('');
    }
    ranges = page.omitted;
    pages++;
    if (pages > 3000) throw new Error(`does not end: ${JSON.stringify(ranges)}`);
  }
  return { answer, whole, text, rest, pages };
}

function expectWhole(data: JsonObject, firstTokens: number, pageTokens: number, hasLongName = false): void {
  const { whole, text, rest } = walk(data, firstTokens, pageTokens);
  // Only a page of a few hundred tokens may have no room for a name.
  if (pageTokens >= 600 && !hasLongName) expect(text).toBeNull();
  if (text === null) expect(whole).toEqual(JSON.parse(JSON.stringify(data)));
  const bytes = Buffer.from(stored(data).text);
  expect(text ?? '').toBe(rest.map(({ start, end }) => bytes.toString('utf8', start, end)).join(''));
}

const THOUSANDS: JsonObject = {
  items: Array.from({ length: 3000 }, (_, id) => ({ id, name: `item number ${id} of a long list` })),
  total: 3000,
};

describe('fitData', () => {
  it('FR-3.3 cuts at items, shows the short facts beside them, and counts all items', () => {
    const { envelope } = first(THOUSANDS, 2000);
    const { items } = envelope.data;
    const shown = Array.isArray(items) ? items : [];
    expect(shown.length).toBeGreaterThan(100);
    expect(shown).toEqual(THOUSANDS_ITEMS.slice(0, shown.length));
    expect(envelope).toMatchObject({
      data: { total: 3000 },
      has_more: true,
      truncated: true,
      meta: { pagination: { total_count: 3000 }, content_fidelity: 'partial' },
    });
    expect(envelope.tokens_used).toBeGreaterThan(1900);
  });

  it('FR-3.3 gives every item once over the first answer and the pages', () => {
    for (const [firstTokens, pageTokens] of [
      [1999, 1999],
      [300, 20_000],
      [20_000, 999],
    ] as const) {
      const { whole, text } = walk(THOUSANDS, firstTokens, pageTokens);
      expect(text).toBeNull();
      expect(whole).toEqual(THOUSANDS);
    }
  });

  it('shows what is left as text if the name of a member is longer than a page', () => {
    const data = { list: [1, 2, 3], ['name '.repeat(2000)]: 'value', last: 'word '.repeat(1000) };
    const { answer, text } = walk(data, 400, 400);
    expect(answer.envelope.data).toEqual({ list: [1, 2, 3] });
    expect(text).not.toBeNull();
    expectWhole(data, 400, 800, true);
  });

  it('keeps items whole that fit a page, and shows the first long member first', () => {
    const item = (id: number) => ({ id, text: 'some words of it '.repeat(20) });
    const data = {
      ok: true,
      first: Array.from({ length: 20 }, (_, id) => item(id)),
      second: [1, 2],
      third: 'x y '.repeat(2000),
    };
    const { envelope } = first(data, 600);
    const shown = Array.isArray(envelope.data.first) ? envelope.data.first : [];
    expect(shown.length).toBeGreaterThan(2);
    expect(shown).toEqual(data.first.slice(0, shown.length));
    expect(envelope.data).toMatchObject({ ok: true, second: [1, 2] });
    expect(envelope.data).not.toHaveProperty('third');
    expectWhole(data, 600, 600);
  });

  it('always shows the short facts of a failure', () => {
    const data = {
      ...Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`key ${i}`, i])),
      error_code: 'NOT_FOUND',
    };
    expect(first(data, 256).envelope.data.error_code).toBe('NOT_FOUND');
  });

  it('FR-3.3 CE-2.4 keeps the budget and loses nothing of any JSON', () => {
    const scalar = fc.oneof(
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(true, false, null, '', -1e-7),
      fc.string({ unit: 'binary', maxLength: 30 }),
    );
    const long = fc
      .tuple(fc.constantFrom('a\\b"c\n', '[SECRET_12] ', '\u0001😀', 'word ', 'é '), fc.integer({ min: 1, max: 80 }))
      .map(([part, times]) => part.repeat(times));
    const leaf: fc.Arbitrary<Json> = fc.oneof({ weight: 5, arbitrary: scalar }, { weight: 1, arbitrary: long });
    const name = fc.string({ unit: 'grapheme', maxLength: 12 });
    const inner = fc.oneof(leaf, fc.array(leaf, { maxLength: 20 }), fc.dictionary(name, leaf, { maxKeys: 20 }));
    const middle = fc.oneof(inner, fc.array(inner, { maxLength: 10 }), fc.dictionary(name, inner, { maxKeys: 20 }));
    const data: fc.Arbitrary<JsonObject> = fc.oneof(
      fc.dictionary(name, fc.oneof(leaf, inner, middle), { minKeys: 1, maxKeys: 8 }),
      fc.dictionary(name, leaf, { minKeys: 66, maxKeys: 90, size: 'max' }),
      fc
        .array(fc.dictionary(name, leaf, { maxKeys: 4 }), { minLength: 30, maxLength: 50, size: 'max' })
        .map((items) => ({ items })),
    );
    const budget = fc.integer({ min: 300, max: 900 });
    fc.assert(
      fc.property(data, budget, fc.integer({ min: 300, max: 2500 }), (made, firstTokens, pageTokens) => {
        // Smaller ones are not cut.
        fc.pre(counter.count(JSON.stringify(made)) > firstTokens);
        expectWhole(made, firstTokens, pageTokens);
      }),
      { numRuns: propertyRuns('slow') },
    );
  });
});

const THOUSANDS_ITEMS = Array.isArray(THOUSANDS.items) ? THOUSANDS.items : [];
