import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Envelope } from '#src/core/envelope.js';
import type { Json, JsonObject } from '#src/core/json.js';
import { type DaemonCaller, openCaller } from '../helpers/daemon-caller.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { makeTool } from '../helpers/made-tool.ts';

/** Answers with JSON, as a wrapper of an HTTP API does. */
const TOOL = `import { ContextdError, serveTool } from '@contextd/sdk';
const items = Array.from({ length: 3000 }, (_, id) => ({ id, name: 'item number ' + id + ' of a long list' }));
serveTool({ name: 'weather', async execute(_call, { city }) {
  if (city === 'small') return { data: { items: items.slice(0, 3), total: 3 } };
  if (city === 'fails') throw new ContextdError('NOT_FOUND', 'no such city', { details: { tried: items } });
  if (city === 'long') return { data: { page: 'word '.repeat(20000), status: 200 } };
  if (city === 'both') return { data: { items, total: 3000 }, streams: [{ field: 'log', text: items.map(({ id }) => 'line ' + id + '\\n').join('') }] };
  return { data: { items, total: 3000 } };
} });
`;

const ITEMS = Array.from({ length: 3000 }, (_, id) => ({ id, name: `item number ${id} of a long list` }));

let at: Installation;
let daemon: DaemonCaller;
beforeAll(async () => {
  at = await install({ warm: true });
  const dir = join(at.project, 'weather');
  makeTool(dir, { files: { 'main.ts': TOOL }, manifest: { runtime: 'node', entry: 'main.ts' } });
  expect(await at.run(CTXD, ['tool', 'install', dir, '--yes'])).toMatchObject({ code: 0 });
  daemon = await openCaller(at, 'json');
});
afterAll(async () => {
  daemon.close();
  await at.remove();
});

const call = async (tool: string, input: object): Promise<Envelope> => (await daemon.call(tool, input)).envelope;
const ask = (city: string, more: object = {}): Promise<Envelope> => call('weather', { city, ...more });
const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

async function pagesOf(first: Envelope, max_tokens = 20_000): Promise<Envelope[]> {
  const pages: Envelope[] = [];
  for (let { meta } = first; meta.pagination !== undefined; ) {
    const page = await call('weather', { continuation: meta.pagination.cursor, max_tokens });
    pages.push(page);
    ({ meta } = page);
  }
  return pages;
}

describe('FR-3.3 an answer in JSON', () => {
  it('is cut at items, says how many there are, and its pages have the others', async () => {
    const first = await ask('many');
    const shown = listOf(first.data.items);
    expect(shown.length).toBeGreaterThan(80);
    expect(first).toMatchObject({
      data: { total: 3000 },
      has_more: true,
      truncated: true,
      refs: [expect.stringMatching(/^art_/)],
      meta: { pagination: { total_count: 3000 }, content_fidelity: 'partial' },
    });
    expect(first.meta.warnings).toBeUndefined();
    const pages = await pagesOf(first);
    expect([...shown, ...pages.flatMap(({ data }) => listOf(data.items))]).toEqual(ITEMS);
    expect(pages[0]?.meta.continues_from).toBe(`$.items[${shown.length}]`);
    expect(pages.at(-1)).toMatchObject({ has_more: false, truncated: false });
    expect(pages.every(({ refs }) => refs[0] === first.refs[0])).toBe(true);
  });

  it('can be continued by tool_view', async () => {
    const first = await ask('many');
    const continuation = first.meta.pagination?.cursor;
    const page = await call('tool_view', { continuation });
    expect(listOf(page.data.items)[0]).toEqual(ITEMS[listOf(first.data.items).length]);
  });

  it('that fits has its exact form, and nothing is stored', async () => {
    const { data, refs, meta, has_more, truncated } = await ask('small');
    expect({ data, refs, has_more, truncated }).toEqual({
      data: { items: ITEMS.slice(0, 3), total: 3 },
      refs: [],
      has_more: false,
      truncated: false,
    });
    expect(Object.keys(meta)).toEqual(['version', 'request_id', 'isolation'].filter((key) => key in meta));
  });

  it.each([
    [{ json_path: '$.items[2999]' }, JSON.stringify(ITEMS[2999])],
    [{ grep: '"item number 2998 ' }, `3001:${JSON.stringify(ITEMS[2998])},\n`],
    [{ rows: '2999-3000', columns: ['id'] }, '{"id":2998}\n{"id":2999}\n'],
    [{ head: 3 }, `{\n"items":[\n${JSON.stringify(ITEMS[0])},\n`],
    ['json_keys', 'items: array (3,000)\ntotal: 3000'],
    [{ tail: 2 }, '"total":3000\n}'],
  ])('is seen by the view %j in the call and later', async (view, text) => {
    const now = await ask('many', { view });
    expect(now.data).toEqual({ data: text });
    const later = await call('tool_view', { ref: now.refs[0], view });
    expect(later.data).toMatchObject({ tool: 'weather', data: text });
    expect(later.meta.view).toEqual(now.meta.view);
  });

  it('shows itself if the view cannot be made of it', async () => {
    const { data, meta } = await ask('small', { view: 'diff' });
    expect(data).toEqual({ items: ITEMS.slice(0, 3), total: 3 });
    expect(meta.warning_details).toEqual([expect.objectContaining({ code: 'FALLBACK_USED' })]);
  });

  it('is shown again by tool_view, with as many items as fit', async () => {
    const { refs } = await ask('many');
    const again = await call('tool_view', { ref: refs[0], max_tokens: 20_000 });
    expect(listOf(again.data.items).length).toBeGreaterThan(900);
    expect(again).toMatchObject({ data: { total: 3000 }, has_more: true, refs });
  });

  it('of a call that failed is kept whole too', async () => {
    const first = await ask('fails');
    expect(first).toMatchObject({
      success: false,
      has_more: true,
      data: { error_code: 'NOT_FOUND', retryable: false },
    });
    const tried = [first, ...(await pagesOf(first))].flatMap(({ data }) => listOf((data.details as JsonObject).tried));
    expect(tried).toEqual(ITEMS);
  });

  it('has the parts of a text that no page can hold in the place of the text', async () => {
    const first = await ask('long');
    expect(first.data.status).toBe(200);
    const parts = [first, ...(await pagesOf(first))].map(({ data }) => String(data.page));
    expect(parts.join('')).toBe('word '.repeat(20_000));
  });

  it('beside a text shares the room and the cursor with it', async () => {
    const first = await ask('both');
    expect(listOf(first.data.items).length).toBeGreaterThan(20);
    expect(first.data.log).toContain('bytes omitted');
    const pages = await pagesOf(first);
    expect([first, ...pages].flatMap(({ data }) => listOf(data.items))).toEqual(ITEMS);
    const [head = '', tail = ''] = String(first.data.log).split(/\n?… [\d,]+ bytes omitted.*…\n/);
    expect(head + pages.map(({ data }) => data.log ?? '').join('') + tail).toBe(
      ITEMS.map(({ id }) => `line ${id}\n`).join(''),
    );
    const keys = await call('tool_view', { ref: `${first.refs[0]}/data`, view: 'json_keys' });
    expect(keys.data.data).toContain('items: array (3,000)');
  });

  it('in words is continued by its number', async () => {
    const run = (words: readonly string[]) => at.run('.claude/tools/weather/weather', words);
    let { stdout, stderr } = await run(['--text', '{"city":"many"}']);
    let text = stdout;
    for (let number = /--continuation (\d+)/.exec(stderr)?.[1]; number !== undefined; ) {
      ({ stdout, stderr } = await run(['--text', '--continuation', number, '--max_tokens', '20000']));
      text += stdout;
      number = /--continuation (\d+)/.exec(stderr)?.[1];
    }
    expect(JSON.parse(text)).toEqual({ items: ITEMS, total: 3000 });
  });
});

describe('FR-3.5 a search of memories', () => {
  it('has what it found in refs, and memory_get follows them', async () => {
    await call('memory_store', {
      title: 'Run migrations first',
      content: 'Tests need the schema.',
      outcome: 'success',
    });
    const { refs, data } = await call('memory_search', { query: 'migrations' });
    expect(refs).toEqual([expect.stringMatching(/^mem_/)]);
    expect(data.memories).toMatchObject([{ id: refs[0] }]);
    expect((await call('memory_get', { ids: refs })).data.content).toBe('Tests need the schema.');
  });
});
