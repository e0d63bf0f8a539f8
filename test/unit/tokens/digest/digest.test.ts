import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DigestPayload, digest, isDigest, serializeDigest } from '#src/tokens/digest/digest.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';
import { partedUnits } from '../parted-units.ts';
import { hostileText } from '../reference.ts';
import { DIGEST_SCHEMA } from './digest-schema.ts';

const isPayload = new Ajv2020({ strict: true }).compile(DIGEST_SCHEMA);
const LARGE = { chars: 8_000 };
const EMPTY_LISTS_CHARS = 420;

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const codePoints = (text: string) => [...text];

/** Everything a consumer may rely on, checked only against the text. */
function checkPayload(text: string, payload: DigestPayload): void {
  expect(isPayload(payload), JSON.stringify(isPayload.errors)).toBe(true);
  const characters = codePoints(text);
  for (const snippet of payload.evidence_snippets) {
    const [, page, start, end] = /^(?:page:(\d+):)?char:(\d+)-(\d+)$/.exec(snippet.locator) ?? [];
    expect(page !== undefined, 'only a text with form feeds has pages').toBe(text.includes('\f'));
    const within = page === undefined ? characters : codePoints(text.split('\f')[Number(page) - 1] ?? '');
    expect(within.slice(Number(start), Number(end)).join('')).toBe(snippet.text);
  }
  for (const line of [...payload.key_points, ...(payload.summary === '' ? [] : payload.summary.split('\n'))])
    expect(text).toContain(line);
  const serialized = serializeDigest(payload);
  expect(JSON.parse(serialized)).toEqual(payload);
  expect(payload.digest_chars).toBe(codePoints(serialized).length);
  expect(payload.original_chars).toBe(characters.length);
  const ratio = characters.length === 0 ? 1 : Math.min(1, payload.digest_chars / characters.length);
  expect(payload.compression_ratio).toBeCloseTo(ratio, 6);
  expect(payload.source_text_hash).toBe(`sha256:${sha256(text)}`);
}

/** UTF-16 positions of the ends of everything that a payload quotes by locator. */
function placesOf(text: string, payload: DigestPayload): number[] {
  const pages = text.split('\f');
  return payload.evidence_snippets.flatMap(({ locator }) => {
    const [, page = '1', start, end] = /^(?:page:(\d+):)?char:(\d+)-(\d+)$/.exec(locator) ?? [];
    const before = pages.slice(0, Number(page) - 1).reduce((sum, one) => sum + one.length + 1, 0);
    const own = codePoints(pages[Number(page) - 1] ?? '');
    return [start, end].map((place) => before + own.slice(0, Number(place)).join('').length);
  });
}

const prose = fc
  .array(
    fc.oneof(
      fc.lorem({ maxCount: 12 }),
      hostileText(12),
      fc.constantFrom('error: no route to host', '😀 done. Next 字漢 line', ''),
    ),
    {
      maxLength: 60,
    },
  )
  .chain((lines) => fc.constantFrom('\n', '\n', '\f', '\n\f').map((end) => lines.join(end)));
const queries = fc.constantFrom('', 'error route', 'lorem ipsum', '字', 'SECRET', 'nothingOfTheKind');

const LOG = Array.from({ length: 5_000 }, (_, i) =>
  i === 3_210
    ? 'ERROR could not connect to database orders: ECONNREFUSED 10.0.0.7:5432'
    : i === 4_000
      ? 'WARN slow query took 912 ms for SELECT * FROM invoices'
      : `2026-01-01T10:00:00Z INFO request ${i} handled by worker ${i % 7} in ${i % 90} ms`,
).join('\n');

/** Six words that occur in no other sentence. */
const sentence = (i: number) =>
  Array.from({ length: 6 }, (_, j) =>
    (i * 6 + j + 1_000).toString().replace(/\d/g, (digit) => 'bcdfghjklm'[Number(digit)] ?? ''),
  ).join(' ');

describe('a digest', () => {
  it('fits its schema, quotes exactly and counts itself, for any text, query and size', () => {
    fc.assert(
      fc.property(prose, queries, fc.integer({ min: 0, max: 6_000 }), (text, query, chars) => {
        const payload = digest(text, query, { chars });
        checkPayload(text, payload);
        expect(partedUnits(text, placesOf(text, payload))).toEqual([]);
        if (chars >= EMPTY_LISTS_CHARS) expect(serializeDigest(payload).length).toBeLessThanOrEqual(chars);
        else if (serializeDigest(payload).length > chars)
          expect([payload.summary, payload.key_points, payload.evidence_snippets]).toEqual(['', [], []]);
      }),
    );
  });

  it('is identical for the same text, query and size, byte for byte', () => {
    fc.assert(
      fc.property(prose, queries, (text, query) => {
        expect(serializeDigest(digest(text, query, LARGE))).toBe(serializeDigest(digest(text, query, LARGE)));
      }),
      { numRuns: propertyRuns('door') },
    );
    expect(sha256(serializeDigest(digest(LOG, 'database', LARGE)))).toBe(
      '8cff676766c42afb5a7bb218d74223da6b3f546d22bb79f49cfe0020c5dbe17c',
    );
  });

  it('issue 30.1.4 names the page of a quotation in a text whose pages are separated by form feeds', () => {
    const text = `The first page.\n\fThe second page says:\nthe pump leaks at the seal\n\fThe end of it.\n`;
    const [snippet] = digest(text, 'pump', LARGE).evidence_snippets;
    expect(snippet).toMatchObject({ text: 'the pump leaks at the seal', locator: 'page:2:char:22-48' });
    expect(text.split('\f')[1]?.slice(22, 48)).toBe(snippet?.text);
  });

  it('issue 30.1.4 of a digest is not made: only a text that is a payload counts as one', () => {
    const payload = serializeDigest(digest(LOG, 'database', LARGE));
    expect(isDigest(payload)).toBe(true);
    expect(isDigest(`${payload}\n`)).toBe(true);
    const others = [LOG, '{"content_type":"digest/v1"}', payload.slice(0, -1), `[${payload}]`, `see ${payload}`, ''];
    for (const other of others) expect(isDigest(other), other.slice(0, 40)).toBe(false);
  });

  it('finds the line that answers the query', () => {
    const payload = digest(LOG, 'why can the Database not be reached? connect', LARGE);
    expect(payload.evidence_snippets).toEqual([
      expect.objectContaining({ text: 'ERROR could not connect to database orders: ECONNREFUSED 10.0.0.7:5432' }),
    ]);
    expect(payload.evidence_snippets[0]?.relevance_score).toBeGreaterThan(0.2);
    expect(payload.key_points).toContain('WARN slow query took 912 ms for SELECT * FROM invoices');
    expect(digest(LOG, 'Databases', LARGE).evidence_snippets).toHaveLength(1);
    expect(digest(LOG, 'weather in Paris', LARGE).evidence_snippets).toEqual([]);
    expect(digest('function fetchUser() {}\nsomething else here\n', 'user', LARGE).evidence_snippets[0]?.text).toBe(
      'function fetchUser() {}',
    );
  });

  it('without a query shows the errors of a log, its first and its last line', () => {
    const { evidence_snippets, summary } = digest(LOG, '', LARGE);
    expect(evidence_snippets[0]?.text).toContain('ECONNREFUSED');
    const lines = summary.split('\n');
    expect([lines[0], lines.at(-1)]).toEqual([LOG.split('\n')[0], LOG.split('\n').at(-1)]);
  });

  it('repeats nothing', () => {
    const same = Array.from({ length: 2_000 }, (_, i) => `error ${i}: cannot open file number ${i} of the archive`);
    const alike = ['ash', 'beech', 'cedar'].map((tree) => `error 1: cannot open file number ${tree} of the archive`);
    const payload = digest([...same, ...alike, 'the archive is old'].join('\n'), 'archive', LARGE);
    expect(payload.evidence_snippets.map(({ text }) => text)).toEqual(['the archive is old', same[0]]);
    expect(payload.key_points).toEqual([]);
  });

  it('spreads its key points over the text', () => {
    const text = Array.from({ length: 10 }, (_, i) => `${sentence(i)}\n${'filler words here\n'.repeat(20)}`).join('');
    const { key_points } = digest(text, 'unrelated', LARGE);
    const places = key_points.map((point) => text.indexOf(point));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    const tenths = places.map((place) => Math.floor((place / text.length) * 10));
    expect(new Set(tenths).size).toBeGreaterThanOrEqual(8);
  });

  it('holds less as the size shrinks, but an item of each list as long as possible', () => {
    const text = Array.from({ length: 300 }, (_, i) => `${sentence(i)} harbour`).join('\n');
    const [small, middle, large] = [900, 2_000, 8_000].map((chars) => digest(text, 'harbour', { chars }));
    const sizes = (payload: DigestPayload | undefined) => [
      payload?.summary === '' ? 0 : payload?.summary.split('\n').length,
      payload?.key_points.length,
      payload?.evidence_snippets.length,
    ];
    expect(Math.min(...sizes(small).map((size) => size ?? 0))).toBeGreaterThan(0);
    expect(middle?.digest_chars).toBeGreaterThan(small?.digest_chars ?? 0);
    expect(sizes(large)).toEqual([6, 10, 10]);
    expect(sizes(digest(text, 'harbour', { chars: 1 }))).toEqual([0, 0, 0]);
  });

  it('shortens a long line around the queried words', () => {
    const text = `${'lead '.repeat(60)}the needle is here ${'tail '.repeat(60)}`;
    const [snippet] = digest(text, 'needle', { chars: 900 }).evidence_snippets;
    expect(snippet?.text).toContain('needle');
    expect(snippet?.text.length).toBeLessThanOrEqual(400);
  });

  it('splits no secret, character or colour, however short its items have to be', () => {
    const shortened = new Set<number>();
    for (const unit of ['[SECRET_12]', '😀', 'x\u001b[1;31m', '\u001b]8;;http://x/\u0007y']) {
      for (let lead = 0; lead < 12; lead++) {
        const before = lead % 2 === 0 ? '' : unit.repeat(250 / unit.length);
        const text = `${before}needle${'-'.repeat(lead)}${unit.repeat(400 / unit.length)}`;
        for (let chars = 450; chars < 1_900; chars += 60) {
          const payload = digest(text, 'needle', { chars });
          expect(partedUnits(text, placesOf(text, payload))).toEqual([]);
          for (const snippet of payload.evidence_snippets) shortened.add(Math.ceil(snippet.text.length / 80));
        }
      }
    }
    // Every length of shortening occurred: 80, 160 and more than 300 characters.
    expect([...shortened]).toEqual(expect.arrayContaining([1, 2, 5]));
  });

  it('keeps a summary of long lines under its limit', () => {
    const text = Array.from({ length: 60 }, (_, i) =>
      Array.from({ length: 10 }, (_, j) => sentence(i * 10 + j)).join(' '),
    );
    expect(text[0]?.length).toBeGreaterThan(280);
    const { summary } = digest(text.map((line) => `${line} ${'harbour castle '.repeat(6)}`).join('\n'), '', {
      chars: 20_000,
    });
    expect(summary.length).toBeGreaterThan(1_500);
    expect(summary.length).toBeLessThanOrEqual(2_000);
  });

  it('prefers lines without control characters', () => {
    const dirty = '\u001b[31mthe harbour of the castle\u001b[0m in winter stood for years';
    const text = `first of all\n${dirty}\n${'x y z\n'.repeat(50)}a castle with a harbour\nlast of all`;
    expect(digest(text, '', LARGE).evidence_snippets[0]?.text).toBe('a castle with a harbour');
    expect(digest(`${dirty}\n${text}\n${dirty}`, '', LARGE).summary).toMatch(/^first of all\n.*last of all$/s);
  });

  it('reads a text of several megabytes in windows, first every line that the query names', () => {
    const text = `first line of all\n${'some filler words of no weight\n'.repeat(100_000)}`;
    const at = 1_250_018;
    const long = `${text.slice(0, at)}\nthe zebra crossed the road\n${text.slice(at)}last line of all`;
    const payload = digest(long, 'Zebra', LARGE);
    expect(payload.evidence_snippets.map((snippet) => snippet.text)).toEqual(['the zebra crossed the road']);
    expect(payload.summary.startsWith('first line of all\n')).toBe(true);
    expect(payload.summary.endsWith('\nlast line of all')).toBe(true);
    expect(payload.evidence_snippets[0]?.locator).toBe(`char:${at + 1}-${at + 27}`);
  });

  it('hashes the query in its normal form', () => {
    const hashes = ['Net  Work\n', 'net work', ' ＮＥＴ work '].map((query) => digest('', query, LARGE).query_hash);
    expect(new Set(hashes)).toEqual(new Set([sha256('net work').slice(0, 8)]));
  });

  it('serializes its keys in the order of the specification', () => {
    expect(serializeDigest(digest('one line of text', '', LARGE))).toBe(
      `{"version":"1.0","content_type":"digest/v1","query_hash":"e3b0c442","summary":"one line of text","key_points":[],` +
        `"evidence_snippets":[{"text":"one line of text","locator":"char:0-16","relevance_score":0.47}],"original_chars":16,` +
        `"digest_chars":369,"compression_ratio":1.000000,"source_text_hash":"sha256:${sha256('one line of text')}"}`,
    );
  });

  it('has its schema published in docs/digest.schema.json, which `vitest -u` writes', async () => {
    const published = join(import.meta.dirname, '..', '..', '..', '..', 'docs', 'digest.schema.json');
    await expect(`${JSON.stringify(DIGEST_SCHEMA, null, 2)}\n`).toMatchFileSnapshot(published);
  });
});
