import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseCatalogueFile } from '#src/upstream/catalogue-file.js';
import { collidingUris } from '../helpers/colliding-uris.ts';
import { type ComposedDaemon, composeDaemon } from '../helpers/composed-daemon.ts';
import { buildLibraryServer } from '../helpers/demo-server.ts';
import { generate, seededRandom } from '../helpers/secret-samples.ts';

type Card = Record<'id' | 'name' | 'kind' | 'description', string> & { tags?: string[] };

let daemon: ComposedDaemon;
let outside: string;
let program: string;

beforeAll(async () => {
  outside = realpathSync(mkdtempSync(join(tmpdir(), 'primitives-')));
  program = await buildLibraryServer(outside);
  daemon = await composeDaemon({});
  await add(daemon);
});
afterAll(async () => {
  await daemon?.remove();
  rmSync(outside, { recursive: true, force: true });
});

async function add(to: ComposedDaemon, project = to.project): Promise<void> {
  const paths = [{ path: outside, isWritable: false }];
  const spec = {
    command: ['node', program],
    url: '',
    usesCredential: false,
    hosts: [],
    paths,
    project: 'none' as const,
  };
  const more = { variables: {}, addedMs: 0, givenBy: 'me', accepted: null, seen: [] };
  await to.upstreams.add({ project, name: 'library', spec, ...more });
  const server = to.upstreams.find(project, 'library');
  expect(to.upstreams.liveOf(server)).toMatchObject({ state: 'running', lastError: '' });
}

async function cards(verb: string, input: object, to = daemon): Promise<Card[]> {
  return ((await to.call(verb, input)).data.cards ?? []) as Card[];
}

async function idOf(verb: string, name: string, to = daemon): Promise<string> {
  const found = (await cards(verb, { path: '/library' }, to)).find((card) => card.name === name);
  return found?.id ?? '';
}

const read = (resource_id: string, more: object = {}) => daemon.call('resource_read', { resource_id, ...more });

describe('gateway surface §9.4 resource_browse and prompt_browse', () => {
  it('list the servers, and what each has, of one kind only', async () => {
    expect((await cards('resource_browse', { path: '/' })).map(({ id }) => id)).toEqual(['/library']);
    const resources = await cards('resource_browse', { path: '/library' });
    expect(new Set(resources.map(({ kind }) => kind))).toEqual(new Set(['resource']));
    expect(resources).toHaveLength(8);
    const prompts = await cards('prompt_browse', { path: '/library/*' });
    expect(prompts.map(({ name }) => name).sort()).toEqual(['summarize', 'talk']);
    expect(new Set(prompts.map(({ kind }) => kind))).toEqual(new Set(['prompt']));
  });

  it('find by words, at most top_k', async () => {
    const [best] = await cards('resource_browse', { query: 'how do I start' });
    expect(best).toMatchObject({ name: 'readme', tags: ['text/markdown'] });
    expect(best?.id).toMatch(/^resource::library:readme#[0-9a-f]{8}$/);
    expect(await cards('resource_browse', { query: 'the shop', top_k: 1 })).toHaveLength(1);
    const [prompt] = await cards('prompt_browse', { query: 'summarize a change' });
    expect(prompt?.description).toBe('takes repo, [style]: Summarize a pull request.');
  });

  it('are found by tool_browse, with what reads, in a project whose servers have any', async () => {
    const names = async (project: string) => {
      const query = 'read a resource or get a prompt of an MCP server';
      const { data } = await daemon.call('tool_browse', { query, top_k: 4 }, { project });
      return (data.cards as Card[]).map(({ name }) => name).filter((name) => /^(resource|prompt)_/.test(name));
    };
    expect((await names(daemon.project)).sort()).toEqual([
      'prompt_browse',
      'prompt_get',
      'resource_browse',
      'resource_read',
    ]);
    expect(await names(daemon.otherProject)).toEqual([]);
    expect(await daemon.print('resource_browse', { query: 'x' }, { project: daemon.otherProject })).toContain(
      'The MCP servers of this project have no resources.',
    );
  });

  it('ask for a query or a path, of which there must be one', async () => {
    expect(await daemon.print('resource_browse', {})).toContain('resource_browse needs a query or a path');
    const both = await daemon.print('resource_browse', { query: 'x', path: '/' });
    expect(both).toContain('resource_browse takes a query or a path, not both');
  });

  it('show a template with its variables, and never the URI of its server', async () => {
    const [template] = await cards('resource_browse', { query: 'repository' });
    expect(template).toMatchObject({
      tags: ['template'],
      description: expect.stringMatching(/^takes owner, name, \[page\]: /),
    });
    expect(JSON.stringify(template)).not.toContain('repo:');
  });

  it('show what a server says in one line that is no line of contextd', async () => {
    const text = await daemon.print('resource_browse', { path: '/library' });
    expect(text).toMatch(/^resource::library:hostile#\w+ \(resource\) - Notes\. .*continuation/m);
    expect(text).not.toMatch(/^\[contextd/m);
  });

  it.each([
    [{}, 'ARGS_INVALID', ''],
    [{ query: 'a', path: '/' }, 'ARGS_INVALID', '/'],
    [{ path: 'library' }, 'PATH_INVALID', 'library'],
    [{ path: '/none' }, 'PATH_NOT_FOUND', '/none'],
    [{ path: 7 }, 'ARGS_INVALID', ''],
  ])('answer %j in the shape of §3.4', async (input, error, path) => {
    for (const verb of ['resource_browse', 'prompt_browse', 'tool_browse'])
      expect((await daemon.call(verb, input)).data).toMatchObject({ error, error_code: error, path, retryable: false });
  });
});

describe('gateway surface §9.4 resource_read', () => {
  it('answers with the text, stored whole, and is on record as what it is', async () => {
    const answer = await read(await idOf('resource_browse', 'readme'));
    expect(answer).toMatchObject({ success: true, data: { summary: 'text of docs://readme' }, refs: [/^art_/] });
    const [record] = await daemon.auditLog.tail(1);
    expect(record).toMatchObject({ tool: 'resource_read', effect: 'look', exit_code: 0 });
  });

  it('names the id that it read, in words and as JSON, and takes an id without its hash', async () => {
    const id = await idOf('resource_browse', 'readme');
    for (const resource_id of ['docs://readme', 'resource::library:readme', id]) {
      expect((await read(resource_id)).data).toMatchObject({ resource_id: id, summary: 'text of docs://readme' });
      const words = await daemon.print('resource_read', { resource_id });
      expect(words).toContain(id);
      expect(words).toContain('text of docs://readme');
    }
    const { data } = await read('resource::library:raedme');
    expect(data).toMatchObject({ error: 'RESOURCE_NOT_FOUND', remediation: expect.stringContaining(id) });
  });

  it('refuses variables that make a URI beyond the bound before the server is asked', async () => {
    const { data } = await read('resource::library:repository', {
      variables: { owner: 'é'.repeat(100_000), name: 'a' },
    });
    expect(data).toMatchObject({
      error: 'ARGS_INVALID',
      message: expect.stringContaining('more than 2048 characters'),
    });
  });

  it('cuts a long text to the budget, reads on without the server, and shows parts of it with tool_view', async () => {
    const answer = await read('docs://long');
    expect(answer).toMatchObject({ truncated: true, data: { views: ['head_tail', 'tail', 'errors'] } });
    const viewed = await daemon.call('tool_view', { ref: answer.refs[0], view: { lines: '8000-8001' } });
    expect(JSON.stringify(viewed.data)).toContain('line 8000\\nline 8001');
    const rest = await daemon.call('resource_read', { continuation: answer.meta.pagination?.cursor });
    expect(rest.data.summary).toMatch(/^line \d+/m);
  });

  it('keeps bytes as an artifact with a short text', async () => {
    const { data } = await read('docs://logo');
    const [logo] = data.artifacts as { handle: string }[];
    expect(data).toMatchObject({
      summary: `[docs://logo: image/png, 6 bytes, ${logo?.handle}]`,
      artifacts: [{ media_type: 'image/png', size_bytes: 6, label: 'docs://logo' }],
    });
    const { base64 } = (await daemon.call('tool_view', { ref: logo?.handle })).data;
    expect(Buffer.from(String(base64), 'base64').toString()).toBe('pixels');
  });

  it('keeps every part of several as an artifact of its own', async () => {
    const { data } = await read('docs://set');
    expect(data.summary).toMatch(
      /^--- part 1: docs:\/\/set\/one\none costs 1\n--- part 2: .*\ntwo costs 2\n--- part 3: /,
    );
    const parts = data.artifacts as { handle: string; label: string; media_type: string }[];
    expect(parts.map(({ label, media_type }) => [label, media_type])).toEqual([
      ['docs://set/one', 'text/plain'],
      ['docs://set/two', 'text/plain'],
      ['docs://set/logo', 'image/png'],
    ]);
    expect((await daemon.call('tool_view', { ref: parts[1]?.handle })).data.text).toBe('two costs 2');
  });

  it('fills a template in with variables, or takes a URI that it can make', async () => {
    const id = await idOf('resource_browse', 'repository');
    const { data } = await read(id, { variables: { owner: 'a b', name: 'c/d', page: '2' } });
    expect(data.summary).toContain('"repo://a%20b/c%2Fd?page=2"');
    expect(data.facts).toContain('total: 3');
    expect((await read('repo://me/shop')).data.summary).toContain('"repo://me/shop"');
    expect(
      (await daemon.call('resource_read', { resource_id: `${id} {"owner":"x","name":"y"}` })).data.summary,
    ).toContain('repo://x/y');
  });

  it('masks secrets before anything is stored', async () => {
    const secret = generate('ghp_[A-Za-z0-9]{36}', seededRandom(109));
    const { data, refs } = await read(`repo://me/${secret}`);
    expect(data.summary).toMatch(/repo:\/\/me\/\[SECRET_\d+\]/);
    expect(JSON.stringify(await daemon.call('tool_view', { ref: refs[0] }))).not.toContain(secret);
  });

  it('reports a dry run without reaching the server', async () => {
    expect((await read('docs://broken', { dry_run: true })).data).toMatchObject({ dry_run: true, allowed: true });
  });

  it.each<[string, () => Promise<object> | object, string, RegExp]>([
    [
      'an unknown id',
      () => ({ resource_id: 'resource::library:none#00000000' }),
      'RESOURCE_NOT_FOUND',
      /no resource here/,
    ],
    ['a URI of nothing', () => ({ resource_id: 'file:///etc/passwd' }), 'RESOURCE_NOT_FOUND', /no resource here/],
    [
      'one that is gone',
      () => ({ resource_id: 'docs://gone' }),
      'RESOURCE_NOT_FOUND',
      /has no resource "docs:\/\/gone"/,
    ],
    ['one that fails', () => ({ resource_id: 'docs://broken' }), 'UPSTREAM_ERROR', /the disk is broken/],
    ['no id', () => ({}), 'ARGS_INVALID', /resource_id/],
    [
      'a template without variables',
      async () => ({ resource_id: await idOf('resource_browse', 'repository') }),
      'ARGS_INVALID',
      /^\/variables\/owner is required; \/variables\/name is required/,
    ],
    [
      'an unknown variable and one that is no text',
      async () => ({
        resource_id: await idOf('resource_browse', 'repository'),
        variables: { owner: 'a', name: 7, other: 'b' },
      }),
      'ARGS_INVALID',
      /\/variables\/name must be a text; \/variables\/other is unknown/,
    ],
    [
      'variables of a resource without any',
      () => ({ resource_id: 'docs://readme', variables: { a: 'b' } }),
      'ARGS_INVALID',
      /\/variables\/a is unknown/,
    ],
  ])('answers %s in the shape of §3.4', async (_what, input, error, says) => {
    const { data } = await daemon.call('resource_read', await input());
    expect(data).toMatchObject({ error, error_code: error, retryable: false, message: expect.stringMatching(says) });
    expect(String(data.message)).not.toMatch(/[\n\r]/);
  });
});

describe('gateway surface §9.4 prompt_get', () => {
  it('answers with the text of a prompt, filled in', async () => {
    const prompt_id = await idOf('prompt_browse', 'summarize');
    const answer = await daemon.call('prompt_get', { prompt_id, args: { repo: 'shop', style: 'short' } });
    expect(answer).toMatchObject({ success: true, data: { summary: 'Summarize shop, short.' }, refs: [/^art_/] });
    expect((await daemon.print('prompt_get', { prompt_id: `${prompt_id} {"repo":"shop"}` })).trim()).toBe(
      'Summarize shop, long.',
    );
  });

  it('says whose each of several messages is', async () => {
    const { data } = await daemon.call('prompt_get', { prompt_id: await idOf('prompt_browse', 'talk') });
    expect(data.summary).toBe('--- user\na question\n--- assistant\nan answer');
  });

  it.each<[string, object, RegExp]>([
    ['a missing argument', {}, /^\/args\/repo is required/],
    ['an unknown one', { repo: 'a', other: 'b' }, /^\/args\/other is unknown/],
    ['one that is no text', { repo: { deep: 1 } }, /^\/args\/repo must be a text/],
  ])('refuses %s before the server is asked', async (_what, args, says) => {
    const prompt_id = await idOf('prompt_browse', 'summarize');
    const { data } = await daemon.call('prompt_get', { prompt_id, args });
    expect(data).toMatchObject({ error: 'ARGS_INVALID', path: prompt_id, message: expect.stringMatching(says) });
    expect(data.remediation).toContain('repo (required): Its name.; style: Such as short.');
  });

  it('answers an unknown id with PROMPT_NOT_FOUND', async () => {
    const { data } = await daemon.call('prompt_get', { prompt_id: 'prompt::library:none#00000000' });
    expect(data).toMatchObject({ error: 'PROMPT_NOT_FOUND', retryable: false });
  });

  it('takes an id without its hash, and suggests one that is nearly it', async () => {
    const { data } = await daemon.call('prompt_get', { prompt_id: 'prompt::library:summarize', args: { repo: 'x' } });
    expect(data.summary).toBe('Summarize x, long.');
    const near = await daemon.call('prompt_get', { prompt_id: 'prompt::library:sumarize' });
    expect(near.data).toMatchObject({
      error: 'PROMPT_NOT_FOUND',
      remediation: expect.stringContaining('prompt::library:summarize#'),
    });
  });
});

describe('gateway surface §9.3 two resources with the same id', () => {
  it('are two cards, and each key reads its own', async () => {
    const resources = collidingUris().map((uri) => ({ uri, name: 'page', text: `text of ${uri}` }));
    const { tools: seen, leftOut, answers } = await parseCatalogueFile(JSON.stringify({ resources }));
    const catalogue = { path: '/x', leftOut, answers };
    const spec = {
      command: [],
      url: '',
      usesCredential: false,
      hosts: [],
      paths: [],
      project: 'none' as const,
      catalogue,
    };
    const server = { project: daemon.otherProject, name: 'docs', spec, variables: {}, addedMs: 0, givenBy: 'me' };
    await daemon.upstreams.add({ ...server, accepted: null, seen });
    const options = { project: daemon.otherProject };
    const { data } = await daemon.call('resource_browse', { query: 'page' }, options);
    const ids = (data.cards as Card[]).map(({ id }) => id).sort();
    expect(ids).toEqual([expect.stringMatching(/#[0-9a-f]{8}$/), `${ids[0]}~2`]);
    const texts = ids.map(
      async (id) => (await daemon.call('resource_read', { resource_id: id }, options)).data.summary,
    );
    expect(await Promise.all(texts)).toEqual(resources.map(({ text }) => text));
  });
});

describe('gateway surface §9.4 after a server changed its definitions', () => {
  /** The first change of a server is read at once. After it comes a pause of ten times as long as that took, which a busy machine makes long. */
  let fresh: ComposedDaemon;
  beforeEach(async () => {
    fresh = await composeDaemon({});
    await add(fresh);
  });
  afterEach(() => fresh.remove());

  const turn = async (what: string) => {
    const [card] = await cards('tool_browse', { query: 'turn', top_k: 1 }, fresh);
    await fresh.call('tool_execute', { tool_id: card?.id, args: { text: what } });
  };
  const pending = () => fresh.upstreams.pending(fresh.upstreams.find(fresh.project, 'library'));

  it.each([
    ['prompt', 'prompt_browse', 'summarize', ['prompt summarize', 'prompt talk']],
    ['template', 'resource_browse', 'repository', ['template repo://{owner}/{name}{?page}']],
  ])('a changed %s is neither shown nor used until a person accepts it', async (what, browse, name, waiting) => {
    const before = await idOf(browse, name, fresh);
    await turn(what);
    await vi.waitFor(() => expect(pending().changes.map(({ tool }) => tool)).toEqual(waiting), 10_000);
    expect(await idOf(browse, name, fresh)).toBe('');
    const used =
      what === 'prompt'
        ? await fresh.call('prompt_get', { prompt_id: before, args: { repo: 'x' } })
        : await fresh.call('resource_read', { resource_id: 'repo://me/shop' });
    expect(used.data.error).toMatch(/^(PROMPT|RESOURCE)_NOT_FOUND$/);
    await fresh.upstreams.approve(fresh.upstreams.find(fresh.project, 'library'), pending().sha256);
    expect(await idOf(browse, name, fresh)).toBe(before);
  });

  it('a new resource is shown at once: a list of resources is data', async () => {
    await turn('resource');
    await vi.waitFor(async () => expect(await idOf('resource_browse', 'added', fresh)).not.toBe(''), 10_000);
    expect(pending().changes.map(({ tool }) => tool)).not.toContain('resource docs://added');
  });
});

describe('gateway surface §9.4 with gateway.access', () => {
  it.each<[string, object, string[], string[]]>([
    ['a kind of a server', { deny: ['library:resources'] }, [], ['summarize', 'talk']],
    ['single ids', { deny: ['resource::library:logo*', 'prompt::*:talk#*'] }, ['broken', 'gone'], ['summarize']],
    ['what a rule does not allow', { allow: ['resource_*', 'prompt_*', 'prompt::library:talk*'] }, [], ['talk']],
    [
      'what is not named while only reading is allowed',
      { read_only: true, allow: ['*', 'library:prompts'] },
      [],
      ['summarize', 'talk'],
    ],
  ])('hides %s', async (_what, access, resources, prompts) => {
    const other = await composeDaemon({ gateway: { access } });
    try {
      await add(other);
      const names = async (verb: string) =>
        (await cards(verb, { query: 'summarize conversation deleted cannot be read logo' }, other)).map(
          ({ name }) => name,
        );
      expect((await names('resource_browse')).sort()).toEqual(resources);
      expect((await names('prompt_browse')).sort()).toEqual(prompts);
      const hidden = await other.call('resource_read', { resource_id: 'docs://logo' });
      expect(hidden.data).toMatchObject({ error: 'RESOURCE_NOT_FOUND' });
    } finally {
      await other.remove();
    }
  });
});
