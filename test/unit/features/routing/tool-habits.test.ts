import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { CatalogTool } from '#src/catalog/catalog.js';
import { ToolAccess } from '#src/catalog/tool-access.js';
import { silentLogger } from '#src/core/log.js';
import { type ToolCatalogue, ToolCatalogues } from '#src/features/routing/tool-catalogues.js';
import { ToolHabits } from '#src/features/routing/tool-habits.js';
import { CHOICES_MAX, createToolChoices } from '#src/stores/tool-choices.js';
import { loadCounter } from '#src/tokens/counter.js';
import { EMPTY_SNAPSHOT } from '#src/upstream/snapshot.js';
import { makeTempDir, openTestDatabase } from '../../stores/open-stores.ts';
import { readCoreTools } from './core-tools.ts';

const counter = loadCounter();
const PROJECT = '/p';
/** No core tool has one of these words. */
const QUERY = 'zebra quokka';

let core: readonly CatalogTool[];
beforeAll(async () => {
  core = await readCoreTools();
});

const session = (id = 's', project = PROJECT) => ({ project, session: id, branch: null });

async function open() {
  const choices = createToolChoices({ database: await openTestDatabase(await makeTempDir()) });
  const tools = core.map(({ manifest, sha256, origin }) => {
    return { name: manifest.name, bundleSha256: sha256, origin, grants: manifest.grants };
  });
  const registered = new Set([PROJECT, '/other']);
  const projects = { find: async (root: string) => (registered.has(root) ? { root, tools } : null) };
  const logger = silentLogger;
  const catalogues = new ToolCatalogues({
    catalog: { list: () => core },
    access: new ToolAccess({ allow: ['*'], deny: [], read_only: false, projects: {} }),
    upstreams: { snapshot: async () => EMPTY_SNAPSHOT, notStarted: () => undefined },
    config: { schemas: { on_invalid: 'flag', max_bytes: 1, max_depth: 1, max_properties: 1 } },
    projects,
    choices,
    counter,
    logger,
  });
  const scrubber = { maskText: (text: string) => text.replaceAll('hunter2', '[SECRET]') };
  const habits = new ToolHabits({ choices, catalogues, projects, scrubber, logger });
  const run = (tool: string, id = 's', { hasRun = true, project = PROJECT } = {}) =>
    habits.ended({ session: session(id, project), record: { tool }, hasRun });
  const found = async (query: string, project = PROJECT) =>
    (await catalogues.of(project)).router.route(query).map(({ item }) => item.name);
  return { habits, choices, catalogues, registered, run, found };
}

describe('issue 33.6 what a session executes after a browse', () => {
  it('issue 33.6 ranks the tool higher in the next browse of the project, and in no other project', async () => {
    const { habits, run, found } = await open();
    expect(await found(QUERY)).toEqual([]);
    habits.offered(session(), `${QUERY} hunter2`, ['branch', 'jobs']);
    run('branch');
    await vi.waitFor(async () => expect(await found(QUERY)).toEqual(['branch']));
    expect(await found(QUERY, '/other')).toEqual([]);
  });

  it('issue 33.6 is kept as stems without secrets', async () => {
    const { habits, run, choices } = await open();
    habits.offered(session(), 'running zebras with hunter2 and [SECRET_4]', ['branch']);
    run('branch');
    await vi.waitFor(async () => expect(await choices.list(PROJECT)).toHaveLength(1));
    expect(await choices.list(PROJECT)).toEqual([{ words: ['run', 'zebra'], tool: 'branch' }]);
  });

  it.each([
    ['the call was refused', async ({ run }: Opened) => run('branch', 's', { hasRun: false })],
    ['another session ran the tool', async ({ run }: Opened) => run('branch', 'other')],
    ['the tool was not offered', async ({ run }: Opened) => run('return')],
    [
      'ten other calls came first',
      async ({ run }: Opened) => {
        run('tool_browse');
        for (let i = 0; i < 10; i++) run('return');
        run('branch');
      },
    ],
    [
      'ten other calls came first, also if the session searched for something else meanwhile',
      async ({ run, habits }: Opened) => {
        run('tool_browse');
        for (let i = 0; i < 6; i++) run('return');
        habits.offered(session(), 'another', ['memory_search']);
        run('tool_browse');
        for (let i = 0; i < 3; i++) run('return');
        run('branch');
      },
    ],
    [
      'the project is no longer registered',
      async ({ run, registered }: Opened) => {
        registered.delete(PROJECT);
        run('branch');
      },
    ],
  ])('issue 33.6 is no choice if %s', async (_why, act) => {
    const opened = await open();
    opened.habits.offered(session(), QUERY, ['branch']);
    await act(opened);
    // Choices are written in their order: once the next one is there, nothing is under way.
    opened.habits.offered(session('s', '/other'), QUERY, ['jobs']);
    opened.run('jobs', 's', { project: '/other' });
    await vi.waitFor(async () => expect(await opened.choices.list('/other')).toHaveLength(1));
    expect(await opened.choices.list(PROJECT)).toEqual([]);
  });

  it('issue 33.6 is a choice in the tenth call after the browse', async () => {
    const { habits, run, choices } = await open();
    habits.offered(session(), QUERY, ['branch']);
    run('tool_browse');
    for (let i = 0; i < 9; i++) run('return');
    run('branch');
    await vi.waitFor(async () => expect(await choices.list(PROJECT)).toHaveLength(1));
  });

  it('issue 33.6 counts once for a browse, for the latest one that offered the tool', async () => {
    const { habits, run, choices } = await open();
    habits.offered(session(), 'zebra', ['branch', 'jobs']);
    habits.offered(session(), 'quokka', ['branch']);
    run('branch');
    run('branch');
    run('jobs');
    await vi.waitFor(async () => expect(await choices.list(PROJECT)).toHaveLength(2));
    expect(await choices.list(PROJECT)).toEqual([
      { words: ['quokka'], tool: 'branch' },
      { words: ['zebra'], tool: 'jobs' },
    ]);
  });

  it('issue 33.6 is forgotten with the project, also by a catalogue that is in use', async () => {
    const { habits, run, found, choices } = await open();
    habits.offered(session(), QUERY, ['branch']);
    run('branch');
    await vi.waitFor(async () => expect(await found(QUERY)).toEqual(['branch']));
    await choices.add('/other', { words: ['zebra'], tool: 'jobs' });
    await habits.forget(PROJECT);
    expect(await found(QUERY)).toEqual([]);
    expect(await choices.list('/other')).toHaveLength(1);
  });

  it(`issue 33.6 is bounded by the newest ${CHOICES_MAX} of each project`, async () => {
    const { choices, catalogues, found } = await open();
    await choices.add('/other', { words: ['zebra'], tool: 'jobs' });
    await choices.add(PROJECT, { words: ['quokka'], tool: 'jobs' });
    await catalogues.of(PROJECT);
    for (let i = 0; i < CHOICES_MAX; i++) await choices.add(PROJECT, { words: ['zebra'], tool: 'branch' });
    await catalogues.refreshHabits(PROJECT);
    expect(await choices.list(PROJECT)).toHaveLength(CHOICES_MAX);
    expect(await found('quokka')).toEqual([]);
    expect(await choices.list('/other')).toHaveLength(1);
  });
});

type Opened = Awaited<ReturnType<typeof open>>;

/** Below this share of the best score a tool is clearly the worse match. */
const CLEARLY_WORSE = 0.6;

/** Each pair of a query with its best tool, and a tool that is clearly worse without habits. */
function clearChoices({ router, items }: ToolCatalogue, queries: readonly string[]) {
  return queries.flatMap((query) => {
    const scores = new Map(router.route(query, { topK: items.length }).map(({ item, score }) => [item.id, score]));
    const [[right = '', best = 0] = []] = scores;
    const worse = items.filter(({ id }) => (scores.get(id) ?? 0) < best * CLEARLY_WORSE);
    return worse.map(({ id: wrong }) => ({ query, right, wrong }));
  });
}

/** The clear choices for which the wrong tool comes first after it was executed `times` times. */
async function beaten(queriesOf: (items: ToolCatalogue['items']) => readonly string[], times: number) {
  const catalogue = await (await open()).catalogues.of(PROJECT);
  const { router, habits } = catalogue;
  const choices = clearChoices(catalogue, queriesOf(catalogue.items));
  const lost = choices.filter(({ query, right, wrong }) => {
    habits.clear();
    for (let i = 0; i < times; i++) habits.record(query, wrong);
    return router.route(query)[0]?.item.id !== right;
  });
  return { choices: choices.length, lost };
}

it('issue 33.6 no number of wrong choices beats a tool that has the words of the query in its name', async () => {
  const names = (items: ToolCatalogue['items']) => items.map(({ name }) => name.replaceAll('_', ' '));
  const { choices, lost } = await beaten(names, CHOICES_MAX);
  expect(choices).toBeGreaterThan(100);
  expect(lost).toEqual([]);
});

it('issue 33.6 a single wrong choice beats no clearly better match of a description', async () => {
  const purposes = (items: ToolCatalogue['items']) => items.map(({ description }) => description);
  const { choices, lost } = await beaten(purposes, 1);
  expect(choices).toBeGreaterThan(100);
  expect(lost).toEqual([]);
});
