import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Envelope } from '#src/core/envelope.js';
import { BUDGET_MIN_TOKENS } from '#src/core/limits.js';
import { fitToBudget } from '#src/tokens/budget.js';
import { loadCounter } from '#src/tokens/counter.js';
import type { ByteRange } from '#src/tokens/line.js';
import { fitPage, planPage } from '#src/tokens/page.js';
import { CUT_MODES, type CutMode, type CutStream } from '#src/tokens/shown-stream.js';
import { propertyRuns } from '../../helpers/property-runs.ts';
import { commandEnvelope, cursorFor, rangesOf } from './envelopes.ts';
import { partedUnits } from './parted-units.ts';
import { longText, recount } from './reference.ts';

const counter = loadCounter();
const MARKER = /^\n?… ([\d,]+) bytes omitted; pass meta\.pagination\.cursor as continuation …\n?$/;

type Text = Pick<CutStream, 'field' | 'text'>;

/** Lays out texts as the budget step does, without densification. */
function laidOut(texts: readonly Text[], cut: CutMode, more: Partial<CutStream> = {}): CutStream[] {
  let offset = 0;
  return texts.map(({ field, text }) => {
    offset += Buffer.byteLength(text);
    return { field, text, offset: offset - Buffer.byteLength(text), cut, densify: [], keepErrors: false, ...more };
  });
}

function fitStreams(texts: readonly Text[], budgetTokens: number, cut: CutMode, envelope = commandEnvelope()) {
  return fitToBudget(counter, { envelope, streams: laidOut(texts, cut), budgetTokens, archive: null, cursorFor });
}

function streamsOf(stdout: string, stderr = ''): Text[] {
  return [
    { field: 'stdout', text: stdout },
    { field: 'stderr', text: stderr },
  ];
}

function parse(line: string): Envelope {
  return JSON.parse(line);
}

function textOf(envelope: Envelope, field: string): string {
  const text = envelope.data[field];
  return typeof text === 'string' ? text : '';
}

/** What the envelope promises for every answer. */
function expectHonest(line: string, envelope: Envelope, omitted: readonly ByteRange[], budgetTokens: number): void {
  const tokens = recount(line);
  expect(tokens).toBeLessThanOrEqual(budgetTokens);
  expect(line).not.toContain('\n');
  expect(parse(line)).toEqual({ ...envelope, tokens_used: tokens });
  expect(envelope.has_more).toBe(omitted.length > 0);
  expect(envelope.truncated).toBe(omitted.length > 0);
  expect(envelope.meta.content_fidelity !== undefined).toBe(omitted.length > 0);
  expect(rangesOf(envelope.meta.pagination?.cursor ?? '')).toEqual(omitted);
}

/** Splits the visible text of a stream at its marker; compares the marker's number with the omitted bytes. */
function visibleParts(visible: string, bytes: Buffer, hole: ByteRange): { head: Buffer; tail: Buffer } {
  const head = bytes.subarray(0, hole.start);
  const tail = bytes.subarray(hole.end);
  if (hole.start === hole.end) return { head: Buffer.from(visible), tail: Buffer.alloc(0) };
  expect(visible.startsWith(head.toString())).toBe(true);
  expect(visible.endsWith(tail.toString())).toBe(true);
  const marker = MARKER.exec(visible.slice(head.toString().length, visible.length - tail.toString().length));
  expect(marker?.[1]?.replaceAll(',', '')).toBe(String(hole.end - hole.start));
  return { head, tail };
}

/**
 * The part of `ranges` in the stream at `offset`, relative to the stream; an empty range at its end if there is no
 * part.
 */
function holeIn(ranges: readonly ByteRange[], offset: number, bytes: number): ByteRange {
  const inside = ranges
    .map(({ start, end }) => ({ start: Math.max(start - offset, 0), end: Math.min(end - offset, bytes) }))
    .filter(({ start, end }) => start < end);
  expect(inside.length).toBeLessThanOrEqual(1);
  return inside[0] ?? { start: bytes, end: bytes };
}

/** Follows cursors to the end, from artifact bytes only; returns the pages' text by field. */
function walk(streams: readonly Text[], first: readonly ByteRange[], budgetTokens: number) {
  const artifact = Buffer.concat(streams.map(({ text }) => Buffer.from(text)));
  const parts = streams.map(({ field, text }) => ({ field, bytes: Buffer.byteLength(text) }));
  const pages = new Map(streams.map(({ field }) => [field, [] as string[]]));
  let ranges = first;
  let count = 0;
  while (ranges.length > 0) {
    const segments = planPage(parts, ranges, budgetTokens).map((read) => ({
      ...read,
      bytes: artifact.subarray(read.start, read.end),
    }));
    const page = fitPage(counter, { envelope: commandEnvelope(), ranges, segments, budgetTokens, cursorFor });
    expectHonest(page.line, page.envelope, page.omitted, budgetTokens);
    const shown = streams.map(({ field }) => textOf(page.envelope, field));
    expect(shown.join('')).not.toBe('');
    for (const [index, { field }] of streams.entries())
      if (shown[index] !== '') pages.get(field)?.push(shown[index] ?? '');
    ranges = page.omitted;
    count++;
  }
  return { pages, count };
}

/** Head, pages and tail of every stream together are the stream, and no cut splits what belongs together. */
function expectLossless(streams: readonly Text[], budgetTokens: number, view: CutMode, pageTokens: number): void {
  const answer = fitStreams(streams, budgetTokens, view);
  expectHonest(answer.line, answer.envelope, answer.omitted, budgetTokens);
  const { pages } = walk(streams, answer.omitted, pageTokens);
  let offset = 0;
  for (const { field, text } of streams) {
    const bytes = Buffer.from(text);
    const hole = holeIn(answer.omitted, offset, bytes.length);
    const { head, tail } = visibleParts(textOf(answer.envelope, field), bytes, hole);
    const read = [head.toString(), ...(pages.get(field) ?? []), tail.toString()];
    expect(
      Buffer.concat([head, ...(pages.get(field) ?? []).map((page) => Buffer.from(page)), tail]).equals(bytes),
    ).toBe(true);
    expect(partedUnits(bytes.toString(), cumulativeLengths(read))).toEqual([]);
    if (view === 'head' && hole.start < hole.end) expect(tail).toHaveLength(0);
    if (view === 'tail' && hole.start < hole.end) expect(head).toHaveLength(0);
    offset += bytes.length;
  }
}

function cumulativeLengths(texts: readonly string[]): number[] {
  let sum = 0;
  return texts.map(({ length }) => {
    sum += length;
    return sum;
  });
}

describe('fitToBudget', () => {
  it('FR-3.3 CE-2.4 keeps the budget and loses no byte over head, pages and tail', () => {
    const budget = fc.integer({ min: 300, max: 1200 });
    fc.assert(
      fc.property(
        longText(60, 20),
        longText(20, 8),
        budget,
        fc.constantFrom(...CUT_MODES),
        budget,
        (out, err, first, view, page) => {
          expectLossless(streamsOf(out, err), first, view, page);
        },
      ),
      { numRuns: propertyRuns('slow'), endOnFailure: true },
    );
  });

  it('FR-3.3 advances on every page at the smallest budget', () => {
    fc.assert(
      fc.property(longText(40, 4), longText(10, 2), fc.constantFrom(...CUT_MODES), (out, err, view) => {
        expectLossless(streamsOf(out, err), BUDGET_MIN_TOKENS, view, BUDGET_MIN_TOKENS);
      }),
      { numRuns: propertyRuns('slow'), endOnFailure: true },
    );
  });

  it('FR-3.3 pages through one stream, three streams and a text of one endless line', () => {
    const line = Array.from({ length: 3000 }, (_, i) => `item-${i * 7919}`).join(' ');
    expectLossless([{ field: 'content', text: line }], 500, 'head_tail', 700);
    expectLossless([...streamsOf(line, line), { field: 'log', text: line }], 800, 'head_tail', 2000);
  });

  it('FR-3.3 sees around a cut if what was read limits the page', () => {
    const rulers = `${'—'.repeat(128)}\u001b[0m${'—'.repeat(128)}[SECRET_12]`;
    expectLossless(streamsOf(rulers.repeat(12)), 300, 'head', 600);
  });

  it('FR-3.3 splits a terminal sequence only if it is longer than a page', () => {
    const streams = streamsOf(`${'\u001b]8;;'.padEnd(3000, 'q1w2e3')}\u0007${'end\n'.repeat(900)}`);
    const { pages, count } = walk(streams, [{ start: 0, end: 6601 }], 400);
    expect(pages.get('stdout')?.join('')).toBe(streams[0]?.text);
    expect(count).toBeGreaterThan(3);
  });

  it('FR-3.2 FR-3.4 sends what fits unchanged, whatever the view', () => {
    for (const view of CUT_MODES) {
      const { line, envelope, omitted } = fitStreams(streamsOf('ok\n', 'warning\n'), 2000, view);
      expectHonest(line, envelope, omitted, 2000);
      expect(envelope.data).toMatchObject({ stdout: 'ok\n', stderr: 'warning\n' });
      expect([envelope.has_more, envelope.truncated, envelope.meta.pagination]).toEqual([false, false, undefined]);
    }
  });

  it('CE-1.4 cuts at exactly the first token over the budget', () => {
    const fitting = fitStreams(streamsOf('word '.repeat(1000)), 5000, 'head').envelope.tokens_used;
    expect(fitStreams(streamsOf('word '.repeat(1000)), fitting, 'head').omitted).toEqual([]);
    expect(fitStreams(streamsOf('word '.repeat(1000)), fitting - 1, 'head').omitted).not.toEqual([]);
  });

  it('FR-3.2 counts its own digits below and above a thousand', () => {
    for (let words = 850; words < 1010; words++) {
      const { line, envelope } = fitStreams(streamsOf('word '.repeat(words)), 5000, 'head');
      expect(envelope.tokens_used).toBe(recount(line));
    }
  });

  it('CE-1.4 fills most of the budget with lines', () => {
    const log = Array.from({ length: 20_000 }, (_, i) => `12:00:${i % 60} worker ${i} did its part\n`).join('');
    for (const view of CUT_MODES) {
      const { envelope } = fitStreams(streamsOf(log), 2000, view);
      expect(envelope.tokens_used).toBeGreaterThan(1900);
      const lines = textOf(envelope, 'stdout')
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('…'));
      for (const line of lines) expect(line).toMatch(/^12:00:\d+ worker \d+ did its part$/);
    }
  });

  it('FR-3.4 keeps a short stderr whole beside a long stdout', () => {
    const failure = 'Error: cannot read /srv/app\n    at main (/srv/app/main.ts:3:1)\n';
    const { envelope } = fitStreams(streamsOf('compiling module\n'.repeat(50_000), failure), 1000, 'head_tail');
    expect(envelope.data.stderr).toBe(failure);
    expect(textOf(envelope, 'stdout')).toMatch(/module\n\n… [\d,]+ bytes omitted; .* …\ncompiling/);
  });

  it('FR-3.4 gives two long streams equal shares, each with its tail', () => {
    const { envelope, omitted } = fitStreams(
      streamsOf('out line\n'.repeat(50_000), `${'err line\n'.repeat(50_000)}fatal\n`),
      1000,
      'head_tail',
    );
    expect(omitted).toHaveLength(2);
    expect(textOf(envelope, 'stderr')).toMatch(/err line\nfatal\n$/);
    expect(textOf(envelope, 'stdout').length).toBeGreaterThan(800);
    expect(textOf(envelope, 'stderr').length).toBeGreaterThan(800);
  });

  it.each(['a', ' ', '\n', '\0', '😀', '[SECRET_1]', '\u001b[0m', '"', '\ud800'])('handles megabytes of %j', (unit) => {
    const text = unit.repeat(Math.ceil(16_000_000 / unit.length));
    for (const view of CUT_MODES) {
      const { envelope, omitted } = fitStreams(streamsOf(text), 2000, view);
      expect(envelope.tokens_used).toBeLessThanOrEqual(2000);
      expect(omitted).toHaveLength(1);
    }
  });

  it.each([255, 0, -1, 300.5, Number.NaN])('refuses a budget of %d', (budgetTokens) => {
    expect(() => fitStreams(streamsOf('x'), budgetTokens, 'head')).toThrowError(
      expect.objectContaining({ code: 'ARGS_INVALID' }),
    );
    const page = { envelope: commandEnvelope(), ranges: [], segments: [], budgetTokens, cursorFor };
    expect(() => fitPage(counter, page)).toThrowError(expect.objectContaining({ code: 'ARGS_INVALID' }));
  });
});

describe('facts larger than the budget', () => {
  it('CE-1.4 are cut, keep the budget and stay JSON, whatever the facts', () => {
    const text = longText(20, 20);
    const value = fc.oneof(text, fc.array(text, { maxLength: 4 }), fc.dictionary(text, fc.jsonValue(), { maxKeys: 4 }));
    const facts = fc.dictionary(fc.string(), value, { maxKeys: 12 });
    fc.assert(
      fc.property(facts, text, fc.integer({ min: BUDGET_MIN_TOKENS, max: 1500 }), (data, out, budgetTokens) => {
        const envelope = commandEnvelope(JSON.parse(JSON.stringify(data)));
        const { line, omitted } = fitStreams(streamsOf(out), budgetTokens, 'head_tail', envelope);
        expect(recount(line)).toBeLessThanOrEqual(budgetTokens);
        expect(parse(line).tokens_used).toBe(recount(line));
        expect(parse(line).has_more).toBe(omitted.length > 0);
      }),
      { numRuns: propertyRuns('slow'), endOnFailure: true },
    );
  });

  it('FR-3.4 report the cut, keep the code and leave room for the streams', () => {
    const listing = Array.from({ length: 5000 }, (_, i) => ({ id: i, title: `title ${i}` }));
    const envelope = {
      ...commandEnvelope({ listing, error_code: 'TIMEOUT' }),
      success: false,
      error: 'x'.repeat(9000),
    };
    const { line, omitted } = fitStreams(streamsOf('line\n'.repeat(9000)), 1000, 'tail', envelope);
    const answer = parse(line);
    expect(answer).toMatchObject({ truncated: true, has_more: true, meta: { content_fidelity: 'partial' } });
    expect(answer.data).toMatchObject({ error_code: 'TIMEOUT', exit_code: 1 });
    expect(answer.meta.warnings).toEqual([expect.stringContaining('max_tokens')]);
    expect(textOf(answer, 'stdout')).toMatch(/^… .* …\n(line\n)+$/);
    expect(walk(streamsOf('line\n'.repeat(9000)), omitted, 1000).count).toBeGreaterThan(5);
  });

  it('CE-1.4 are cut in meta too', () => {
    const denied = Array.from({ length: 400 }, (_, i) => {
      const place = i % 2 === 0 ? { path: `/srv/${'deep/'.repeat(i)}` } : { host: `${i}.example.org` };
      return { kind: 'read', ...place, rule: 'protected', how_to_allow: 'Ask for it. '.repeat(20) };
    });
    const missing = Array.from({ length: 400 }, (_, i) => `part ${i}`);
    const plain = commandEnvelope();
    const envelope = { ...plain, meta: { ...plain.meta, denied, isolation: { level: 'reduced' as const, missing } } };
    const { line } = fitStreams(streamsOf('done\n'), 800, 'head', envelope);
    expect(recount(line)).toBeLessThanOrEqual(800);
    expect(parse(line)).toMatchObject({ truncated: true, data: { stdout: 'done\n', exit_code: 1 } });
    expect(parse(line).meta.denied?.[0]).toMatchObject({ kind: 'read', rule: 'protected' });
    expect(parse(line).meta.isolation?.missing[0]).toBe('part 0');
  });

  it('FR-3.4 have no cursor if nothing of the streams is left out', () => {
    const { line, omitted } = fitStreams(
      streamsOf('done\n'),
      400,
      'head',
      commandEnvelope({ report: 'word '.repeat(5000) }),
    );
    expect(omitted).toEqual([]);
    expect(parse(line)).toMatchObject({ truncated: true, has_more: false, data: { stdout: 'done\n' } });
    expect(parse(line).meta.pagination).toBeUndefined();
  });
});
