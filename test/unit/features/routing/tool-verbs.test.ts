import { beforeAll, describe, expect, it } from 'vitest';
import type { CatalogTool } from '#src/catalog/catalog.js';
import { ToolAccess } from '#src/catalog/tool-access.js';
import { FOR_SERVERS } from '#src/catalog/tool-list.js';
import { systemClock } from '#src/core/clock.js';
import type { AnswerForm } from '#src/core/envelope.js';
import { ContextdError } from '#src/core/errors.js';
import { invisibleIn } from '#src/core/invisible.js';
import type { JsonObject } from '#src/core/json.js';
import { silentLogger } from '#src/core/log.js';
import { createExecutables } from '#src/features/routing/executables.js';
import { ToolCatalogues } from '#src/features/routing/tool-catalogues.js';
import { createToolVerbs, type ToolVerbDeps } from '#src/features/routing/tool-verbs.js';
import { createHostBackend } from '#src/runner/host-backend.js';
import type { RunOutput, ToolBackend } from '#src/runner/runner.js';
import { loadCounter } from '#src/tokens/counter.js';
import { EMPTY_SNAPSHOT } from '#src/upstream/snapshot.js';
import { readCoreTools } from './core-tools.ts';

const counter = loadCounter();
const SESSION = { project: '/p', session: 's', branch: null };

/** The core tools of the sources, and what the project of the test has accepted of them. */
let core: readonly CatalogTool[];
let accepted: readonly CatalogTool[];

beforeAll(async () => {
  // Its project has no MCP servers.
  core = (await readCoreTools()).filter(({ manifest }) => !FOR_SERVERS.has(manifest.name));
  accepted = core;
});

function without(name: string): CatalogTool[] {
  return core.filter(({ manifest }) => manifest.name !== name);
}

/** Calls of a daemon in which the project `/p` has accepted `accepted`. */
function open({
  isCacheStable = false,
  meanings = null,
  waiting = new Map(),
  deny = [],
}: Partial<Pick<ToolVerbDeps, 'isCacheStable' | 'meanings'> & { waiting: Map<string, string>; deny: string[] }> = {}) {
  const offers: [query: string, tools: readonly string[]][] = [];
  const catalogues = new ToolCatalogues({
    catalog: { list: () => core },
    access: new ToolAccess({ allow: ['*'], deny, read_only: false, projects: {} }),
    upstreams: { snapshot: async () => ({ ...EMPTY_SNAPSHOT, waiting }), notStarted: () => undefined },
    config: { schemas: { on_invalid: 'flag', max_bytes: 1, max_depth: 1, max_properties: 1 } },
    projects: {
      find: async (root) => {
        const tools = accepted.map(({ manifest, sha256, origin }) => {
          return { name: manifest.name, bundleSha256: sha256, origin, grants: manifest.grants };
        });
        return root === SESSION.project ? { root, tools } : null;
      },
    },
    choices: { list: async () => [] },
    counter,
    logger: silentLogger,
  });
  const habits: ToolVerbDeps['habits'] = { offered: (_session, query, tools) => offers.push([query, tools]) };
  const verbs = createToolVerbs({ catalogues, meanings, counter, isCacheStable, habits });
  const backend = createHostBackend(verbs, systemClock);
  const ask = async (tool: string, input: JsonObject, own: { form?: AnswerForm; session?: string } = {}) => {
    const call: Parameters<typeof backend.run>[0] = {
      requestId: 'req_1',
      session: { ...SESSION, session: own.session ?? 's' },
      cwd: '/p',
      tool,
      origin: 'core',
      form: own.form ?? 'json',
      program: { kind: 'host', profile: { minIsolation: 'reduced', limits: {} } },
      effects: { files: 'none', session: 'record' },
      grants: [],
      input,
      view: null,
      etagKey: '',
      timeoutMs: 1_000,
      outputMaxBytes: 1,
      outputKillBytes: 0,
      signal: new AbortController().signal,
    };
    const { outcome } = await backend.run(call);
    return outcome;
  };
  const output = async (...args: Parameters<typeof ask>): Promise<RunOutput['output']> => {
    const outcome = await ask(...args);
    if (outcome instanceof ContextdError) throw outcome;
    return outcome.output;
  };
  const ids = async (input: JsonObject, session = 's'): Promise<string[]> => {
    const { cards } = (await output('tool_browse', input, { session })).data;
    return Array.isArray(cards) ? cards.map((card) => String(JSON.parse(JSON.stringify(card)).id)) : [];
  };
  return { backend: backend satisfies Pick<ToolBackend, 'start' | 'stop'>, ask, output, ids, catalogues, offers };
}

describe('tool_browse', () => {
  it.each([
    ['run a shell command', 'contextd:safe_bash@1.0.0'],
    ['edit a file', 'contextd:safe_write@1.0.0'],
    ['find lessons of earlier work', 'contextd:memory_search@1.0.0'],
    ['show more of a stored output', 'contextd:tool_view@1.0.0'],
  ])('finds what is there to %s', async (query, id) => {
    expect((await open().ids({ query }))[0]).toBe(id);
  });

  it('shows the best first with their scores, at most five or top_k, and no schema', async () => {
    const { output, ids } = open();
    const { data } = await output('tool_browse', { query: 'memory of earlier work' });
    const scores = JSON.parse(JSON.stringify(data.cards)).map(({ score }: { score: number }) => score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(scores.length).toBeGreaterThan(1);
    expect(scores.length).toBeLessThanOrEqual(5);
    expect(JSON.stringify(data)).not.toMatch(/properties|inputSchema|additionalProperties/);
    expect(await ids({ query: 'memory of earlier work', top_k: 1 })).toHaveLength(1);
  });

  it('answers in words with a line for each card, within 80 tokens for each and 32 more', async () => {
    const { data } = await open().output('tool_browse', { query: 'memory' }, { form: 'text' });
    const lines = String(data.text).split('\n');
    expect(lines[0]).toMatch(/^contextd:memory_\w+@1\.0\.0 .*- .+/);
    expect(counter.count(String(data.text))).toBeLessThanOrEqual(80 * lines.length + 32);
  });

  it('says what to do if no tool has a word of the query', async () => {
    const { output, ids } = open();
    expect(await ids({ query: 'zebra' })).toEqual([]);
    expect((await output('tool_browse', { query: 'zebra' }, { form: 'text' })).data.text).toContain('--path /');
  });

  it('shows the namespaces at /, each as a group with its path, and all tools of one below it', async () => {
    const { output, ids } = open();
    expect((await output('tool_browse', { path: '/' })).data.cards).toEqual([
      expect.objectContaining({
        id: '/contextd',
        kind: 'internal',
        has_schema: false,
        description: expect.stringMatching(new RegExp(`^${core.length} tools: `)),
      }),
    ]);
    expect(await ids({ path: '/contextd' })).toHaveLength(core.length);
    expect(await ids({ path: '/contextd/*' })).toEqual(await ids({ path: '/contextd' }));
    expect(await ids({ path: '/contextd/safe_bash' })).toEqual(['contextd:safe_bash@1.0.0']);
  });

  it('FR-1.1 names in a group only paths that can be browsed, down to the tools', async () => {
    const { output, ids } = open();
    const [group] = JSON.parse(JSON.stringify((await output('tool_browse', { path: '/' })).data.cards));
    const [, named = ''] = /^\d+ tools: (.*), …$/.exec(group.description) ?? [];
    const found = await Promise.all(named.split(', ').map((path: string) => ids({ path })));
    expect(found.length).toBeGreaterThan(1);
    for (const tools of found) expect(tools).not.toEqual([]);
  });

  it.each<[JsonObject, string, string]>([
    [{}, 'ARGS_INVALID', ''],
    [{ query: 'x', path: '/' }, 'ARGS_INVALID', '/'],
    [{ path: 'contextd' }, 'PATH_INVALID', 'contextd'],
    [{ path: '/contextd/' }, 'PATH_INVALID', '/contextd/'],
    [{ path: '/a\nb' }, 'PATH_INVALID', '/a b'],
    [{ path: '/nowhere' }, 'PATH_NOT_FOUND', '/nowhere'],
  ])('refuses %j with %s, as gateways and as contextd name it', async (input, code, path) => {
    const { data, failure } = await open().output('tool_browse', input);
    expect(data).toEqual({ error: code, message: failure?.message, path });
    expect(failure).toMatchObject({ code, remedy: expect.any(String) });
    expect(invisibleIn(failure?.message ?? '')).toBeNull();
  });

  it('has the tools that the project accepts now, and the same catalogue as long as they are the same', async () => {
    const { ids, catalogues } = open();
    const before = await catalogues.of('/p');
    expect(await catalogues.of('/p')).toBe(before);
    accepted = without('jobs');
    expect(await ids({ path: '/contextd' })).not.toContain('contextd:jobs@1.0.0');
    expect(before.entries.has('contextd:jobs@1.0.0')).toBe(true);
    accepted = core;
    expect(await ids({ path: '/contextd' })).toContain('contextd:jobs@1.0.0');
  });
});

describe('issue 33.6 what tool_browse offers to learn from', () => {
  it('issue 33.6 is the tools of a query without those that search on, and nothing of a path', async () => {
    const { ids, offers } = open();
    await ids({ path: '/contextd' });
    expect(offers).toEqual([]);
    const shown = await ids({ query: 'find a tool, run a command' });
    expect(shown).toContain('contextd:tool_browse@1.0.0');
    const names = shown.map((id) => id.replace(/^contextd:|@.*/g, ''));
    expect(offers).toEqual([
      ['find a tool, run a command', names.filter((name) => !/^tool_(browse|execute|hydrate)$/.test(name))],
    ]);
    expect(offers[0]?.[1]).toContain('safe_bash');
  });
});

describe('tool_browse in the order of a prompt cache', () => {
  it('shows what the session has seen first, as it was, then the new tools behind the breakpoint', async () => {
    const { output, ids } = open({ isCacheStable: true });
    const first = await ids({ query: 'memory', top_k: 2 });
    expect(first).toEqual([...first].sort());
    const before = JSON.stringify((await output('tool_browse', { query: 'memory', top_k: 2 })).data.cards);
    const later = await output('tool_browse', { query: 'shell command memory', top_k: 10 });
    const cards: { id: string }[] = JSON.parse(JSON.stringify(later.data.cards));
    const at = cards.findIndex(({ id }) => id === '__cache_breakpoint__');
    expect(at).toBeGreaterThan(0);
    for (const card of cards.slice(0, at)) expect(before).toContain(JSON.stringify(card));
    expect(cards.slice(at + 1).some(({ id }) => first.includes(id))).toBe(false);
  });

  it('keeps sessions apart, counts a hydrated tool as seen and a failed hydration not', async () => {
    const { output, ids } = open({ isCacheStable: true });
    await output('tool_hydrate', { tool_id: 'contextd:tool_view@1.0.0' });
    await output('tool_hydrate', { tool_id: 'contextd:tool_vie@1.0.0' });
    const path = '/contextd';
    expect((await ids({ path })).slice(0, 2)).toEqual(['contextd:tool_view@1.0.0', '__cache_breakpoint__']);
    expect(await ids({ path }, 'other')).not.toContain('__cache_breakpoint__');
  });

  it('begins again when the tools of the project change', async () => {
    const { ids } = open({ isCacheStable: true });
    await ids({ query: 'jobs', top_k: 1 });
    expect(await ids({ path: '/contextd' })).toContain('__cache_breakpoint__');
    accepted = without('jobs');
    expect(await ids({ path: '/contextd' })).not.toContain('__cache_breakpoint__');
    accepted = core;
  });
});

describe('tool_hydrate', () => {
  it.each(['contextd:return@1.0.0', 'return', 'RETURN', 'safe_return', 'CONTEXTD:RETURN', ' contextd:return '])(
    'shows the schema and TOOL.md of the tool %j, and how to call it',
    async (tool_id) => {
      const { data } = await open().output('tool_hydrate', { tool_id });
      const tool = core.find(({ manifest }) => manifest.name === 'return');
      expect(data).toEqual({
        tool_id: 'contextd:return@1.0.0',
        name: 'return',
        call: 'safe_return',
        schema: JSON.parse(tool?.schemaJson ?? ''),
        tool_md: tool?.toolMd.trimEnd(),
      });
    },
  );

  it('shows them in words', async () => {
    const { data } = await open().output('tool_hydrate', { tool_id: 'jobs' }, { form: 'text' });
    expect(data.text).toMatch(/^# jobs\n[\s\S]+\n\nsafe_jobs JSON: \{.+\}$/);
  });

  it('issue 34.5 says of a tool that waits and that the caller may not use what it says of one that is not there', async () => {
    const waiting = new Map([['demo:repeat', 'demo']]);
    const asked = { tool_id: 'demo:repeat' };
    const { failure } = await open({ waiting, deny: ['demo:*'] }).output('tool_hydrate', asked);
    expect(failure).toEqual((await open().output('tool_hydrate', asked)).failure);
  });

  it('says that a tool waits for a person if it does, by its id with and without the hash', async () => {
    const waiting = new Map(['demo:repeat', 'demo:repeat#00c0ffee'].map((id) => [id, 'demo']));
    for (const tool_id of waiting.keys()) {
      const said = {
        code: 'HYDRATE_FAILED',
        message: expect.stringContaining('waits'),
        remedy: expect.stringContaining('ctxd upstream approve demo'),
      };
      const { output, catalogues } = open({ waiting });
      expect((await output('tool_hydrate', { tool_id })).failure).toMatchObject(said);
      const executables = createExecutables({ catalogues, config: { tolerant_args: false } });
      await expect(executables.find(SESSION.project, tool_id)).rejects.toMatchObject(said);
    }
  });

  it.each([
    ['contextd:safe_bash@0.9.0', 'Did you mean contextd:safe_bash@1.0.0?'],
    ['contextd:memory', 'Did you mean contextd:memory_'],
    ['contextd:nothing_like_it', 'tool_browse'],
    ['safe_bsh', 'safe_bash'],
    ['', 'tool_browse'],
  ])('refuses %j, which no tool of the project is, and says %s', async (tool_id, remedy) => {
    const { data, failure } = await open().output('tool_hydrate', { tool_id });
    expect(data).toMatchObject({ error: 'HYDRATE_FAILED', path: tool_id });
    expect(failure).toMatchObject({ code: 'HYDRATE_FAILED', remedy: expect.stringContaining(remedy) });
  });
});

it('a verb that the daemon does not have, or that comes after its end, is a failed call', async () => {
  const { backend, ask } = open();
  expect(await ask('toString', {})).toMatchObject({ code: 'INTERNAL_ERROR' });
  await backend.stop();
  expect(await ask('tool_browse', { query: 'x' })).toMatchObject({ code: 'INTERRUPTED' });
});
