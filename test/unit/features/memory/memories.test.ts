import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { NO_FILTER } from '#src/features/memory/rows.js';
import { makeTempDir } from '../../stores/open-stores.ts';
import { draftOf, MODEL, openTestMemories, PROJECT, type TestMemories } from './open-memories.ts';

const search = async ({ memories }: TestMemories, query: string, more: object = {}, project = PROJECT) =>
  (await memories.search(project, { query, limit: 10, filter: NO_FILTER, ...more })).memories;
const titles = (found: readonly { title: string }[]) => found.map(({ title }) => title);

describe('a search', () => {
  it('issue 18 finds what a person said among a hundred memories of a tool that repeat the query', async () => {
    const at = await openTestMemories();
    const person = { origin: 'person' as const, owner: '', source: '', requestIds: [] };
    const tool = { origin: 'tool' as const, owner: 'loud', source: '', requestIds: ['req_2'] };
    const { id } = await at.memories.store(PROJECT, draftOf('How the quarterly ledger is closed'), person);
    const spam = 'quarterly ledger close '.repeat(4);
    for (let i = 0; i < 110; i++)
      await at.memories.store(PROJECT, draftOf(`${spam} z${i}`, { task: spam, tags: ['ledger', `z${i}`] }), tool);
    const found = await search(at, 'quarterly ledger close', { limit: 5 });
    expect(found.map((memory) => memory.id)).toContain(id);
  });

  it('FR-5.1 finds a memory by stems and by the parts of identifiers, the best first', async () => {
    const at = await openTestMemories();
    await at.memories.store(
      PROJECT,
      draftOf('Migrating the database', { content: 'Call runMigrations first.' }),
      MODEL,
    );
    await at.memories.store(PROJECT, draftOf('A port for vite', { content: 'The database is not needed.' }), MODEL);
    expect(titles(await search(at, 'database migrations'))).toEqual(['Migrating the database', 'A port for vite']);
    expect(titles(await search(at, 'run_migrations'))).toEqual(['Migrating the database']);
    expect(titles(await search(at, 'nothing of it'))).toEqual([]);
  });

  it.each(['', ' ', '"', '* OR )', '\0', 'the'])('issue 18 takes %j for a query', async (query) => {
    const at = await openTestMemories();
    await at.memories.store(PROJECT, draftOf('A lesson'), MODEL);
    expect((await search(at, query)).length).toBeLessThanOrEqual(1);
  });

  it('issue 18 filters by tags, outcome, scope and age', async () => {
    const at = await openTestMemories();
    const { memories, clock } = at;
    await memories.store(PROJECT, draftOf('Deploy one', { tags: ['api', 'deploy'], outcome: 'failure' }), MODEL);
    clock.nowMs += 1_000;
    const { id } = await memories.store(PROJECT, draftOf('Deploy two', { tags: ['deploy'] }), MODEL);
    await memories.promote(PROJECT, id);
    const filtered = async (filter: object) =>
      titles(await search(at, 'deploy', { filter: { ...NO_FILTER, ...filter } }));
    expect(await filtered({ tags: ['api', 'deploy'] })).toEqual(['Deploy one']);
    expect(await filtered({ outcome: 'success' })).toEqual(['Deploy two']);
    expect(await filtered({ scope: 'global' })).toEqual(['Deploy two']);
    expect(await filtered({ scope: 'project' })).toEqual(['Deploy one']);
    expect(await filtered({ sinceMs: clock.nowMs })).toEqual(['Deploy two']);
    const newest = await search(at, '', { filter: { ...NO_FILTER, tags: ['api'] } });
    expect(titles(newest)).toEqual(['Deploy one']);
  });

  it('issue 18 finds nothing of another project, and everything global', async () => {
    const at = await openTestMemories();
    const { id } = await at.memories.store('/home/me/other', draftOf('Deploy'), MODEL);
    expect(await search(at, 'deploy')).toEqual([]);
    await expect(at.memories.use(PROJECT, [id])).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await at.memories.promote('/home/me/other', id);
    expect(titles(await search(at, 'deploy'))).toEqual(['Deploy']);
    expect((await at.memories.use(PROJECT, [id]))[0]).toMatchObject({ scope: 'global', project: '/home/me/other' });
  });

  it('issue 18 in a large store goes by the rarest words, and finds something for frequent ones alone', async () => {
    const at = await openTestMemories();
    const many = Array.from({ length: 12_000 }, (_, i) => draftOf(`Build number ${i} failed again`));
    for (let from = 0; from < many.length; from += 500)
      await at.memories.storeAll(PROJECT, many.slice(from, from + 500), MODEL);
    await at.memories.storeAll(PROJECT, [draftOf('A zebra in the build')], MODEL);
    expect((await search(at, 'why has the failed build a zebra again'))[0]?.title).toBe('A zebra in the build');
    expect(await search(at, 'build failed again')).toHaveLength(10);
    expect(await search(at, 'build number failed again, nowhere 7777')).toMatchObject([
      { title: 'Build number 7777 failed again' },
      ...Array.from({ length: 9 }, () => ({ title: expect.stringContaining('Build number') })),
    ]);
  });

  it('issue 18 has the same order each time', async () => {
    const at = await openTestMemories();
    const drafts = Array.from({ length: 60 }, (_, i) => draftOf(`Lesson ${i} about caches`));
    await at.memories.storeAll(PROJECT, drafts, MODEL);
    const first = titles(await search(at, 'caches lesson', { limit: 60 }));
    expect(first).toHaveLength(60);
    for (let i = 0; i < 3; i++) expect(titles(await search(at, 'caches lesson', { limit: 60 }))).toEqual(first);
  });
});

describe('what is stored', () => {
  const lesson = draftOf('Run the database migrations before the integration tests', {
    content: 'The database is empty after a rebase, so the integration tests fail until the migrations have run.',
  });
  const nearly = { ...lesson, title: 'Run database migrations before integration tests', tags: ['db'] };

  it('FR-5.3 is kept, and merged into what says the same, with both provenances', async () => {
    const { memories } = await openTestMemories();
    const first = await memories.store(PROJECT, lesson, MODEL);
    const second = await memories.store(PROJECT, nearly, { ...MODEL, requestIds: ['req_2'] });
    expect([first.state, second]).toEqual(['stored', { state: 'merged', id: first.id, contradicts: [] }]);
    const [memory] = await memories.use(PROJECT, [first.id]);
    expect(memory).toMatchObject({ ...lesson, tags: ['db'], provenance: ['req_1', 'req_2'] });
    expect(memory?.confidence).toBeGreaterThan(2 / 3);
    expect((await memories.store(PROJECT, lesson, MODEL)).state).toBe('unchanged');
  });

  it('issue 18 by a tool never merges into what others said, nor theirs into its own', async () => {
    const { memories } = await openTestMemories();
    const tool = { ...MODEL, origin: 'tool' as const, owner: 'helper' };
    const ids = new Set<string>();
    for (const author of [MODEL, tool, { ...tool, owner: 'other' }]) {
      for (const draft of [lesson, nearly]) ids.add((await memories.store(PROJECT, draft, author)).id);
    }
    expect(ids.size).toBe(3);
  });

  it('issue 18 flags both sides of a contradiction', async () => {
    const { memories } = await openTestMemories();
    const task = 'upgrade vite to version 8';
    const good = await memories.store(PROJECT, draftOf('Upgrade vite at once', { task }), MODEL);
    const bad = await memories.store(PROJECT, draftOf('Plugins break', { task, outcome: 'failure' }), MODEL);
    expect(bad.contradicts).toEqual([good.id]);
    expect((await memories.use(PROJECT, [good.id]))[0]?.contradicts).toEqual([bad.id]);
  });

  it('issue 18 writes an outbox row in the transaction of each change', async () => {
    const { memories, database } = await openTestMemories();
    const outbox = async () =>
      (await database.read('SELECT op, id FROM outbox ORDER BY seq')).map(({ op, id }) => [op, id]);
    const one = await memories.store(PROJECT, draftOf('First lesson'), MODEL);
    const two = await memories.store(PROJECT, draftOf('Another thing'), MODEL);
    expect(await outbox()).toEqual([one, two].map(({ id }) => ['put', id]));
    await memories.giveFeedback(
      PROJECT,
      { id: one.id, outcome: 'success', note: '' },
      { session: 's', requestId: 'r' },
    );
    await memories.forget(PROJECT, [two.id]);
    expect(await outbox()).toEqual([
      ['put', one.id],
      ['delete', two.id],
    ]);
  });
});

describe('feedback', () => {
  const give = ({ memories }: TestMemories, id: string, outcome: 'success' | 'failure' | 'mixed', session: string) =>
    memories.giveFeedback(PROJECT, { id, outcome, note: `by ${session}` }, { session, requestId: `req_${session}` });

  it('FR-5.4 raises what helped over what harmed, and keeps the evidence', async () => {
    const at = await openTestMemories();
    const { id: good } = await at.memories.store(PROJECT, draftOf('Clear the cache of docker'), MODEL);
    const { id: bad } = await at.memories.store(PROJECT, draftOf('Clear the cache of npm'), MODEL);
    await give(at, bad, 'failure', 'a');
    await give(at, good, 'success', 'b');
    expect((await search(at, 'clear cache')).map(({ id }) => id)).toEqual([good, bad]);
    expect(await at.memories.feedbackOn(bad)).toMatchObject([{ outcome: 'failure', note: 'by a', requestId: 'req_a' }]);
  });

  it('FR-5.4 without a note keeps the note of its session', async () => {
    const at = await openTestMemories();
    const { id } = await at.memories.store(PROJECT, draftOf('A lesson'), MODEL);
    await give(at, id, 'failure', 'a');
    await at.memories.giveFeedback(PROJECT, { id, outcome: 'mixed', note: '' }, { session: 'a', requestId: 'req_2' });
    expect(await at.memories.feedbackOn(id)).toMatchObject([{ outcome: 'mixed', note: 'by a', requestId: 'req_2' }]);
  });

  it('FR-5.4 of one session counts once: its last', async () => {
    const at = await openTestMemories();
    const { id } = await at.memories.store(PROJECT, draftOf('A lesson'), MODEL);
    for (let i = 0; i < 10; i++) await give(at, id, 'failure', 'a');
    expect((await give(at, id, 'success', 'a')).confidence).toBeCloseTo(0.75);
  });

  it('issue 18 sets aside what keeps failing: no search finds it, its id does, and it can come back', async () => {
    const at = await openTestMemories();
    const { id } = await at.memories.store(PROJECT, draftOf('A harmful lesson'), MODEL);
    for (const session of ['a', 'b', 'c']) await give(at, id, 'failure', session);
    expect(await search(at, 'harmful')).toEqual([]);
    expect(await search(at, '')).toEqual([]);
    expect((await at.memories.use(PROJECT, [id]))[0]).toMatchObject({ isQuarantined: true });
    for (const session of ['d', 'e', 'f']) await give(at, id, 'success', session);
    expect(titles(await search(at, 'harmful'))).toEqual(['A harmful lesson']);
  });

  it('issue 18 on a forgotten memory is NOT_FOUND', async () => {
    const at = await openTestMemories();
    const { id } = await at.memories.store(PROJECT, draftOf('A lesson'), MODEL);
    await at.memories.forget(PROJECT, [id]);
    await expect(give(at, id, 'success', 'a')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await search(at, 'lesson')).toEqual([]);
  });
});

describe('an index that is damaged', () => {
  const damages: [string, string][] = [
    ['is missing', 'DROP TABLE item_index_1'],
    ['has lost pages', 'DELETE FROM item_index_1_data WHERE id > 10'],
    ['holds garbage', `UPDATE item_index_1_data SET block = x'deadbeef' WHERE id > 10`],
    ['lacks a memory', 'DELETE FROM item_index_1 WHERE rowid = (SELECT max(seq) FROM items)'],
    ['was not finished', `DELETE FROM meta WHERE name = 'index'`],
  ];
  it.each(damages)(
    'issue 18 is built again from the table when it %s, and that is announced',
    async (_what, damage) => {
      const dir = await makeTempDir();
      const first = await openTestMemories(dir);
      const drafts = Array.from({ length: 30 }, (_, i) => draftOf(`Lesson ${i} about caches`));
      await first.memories.storeAll(PROJECT, drafts, MODEL);
      await first.store.stop();
      const raw = new DatabaseSync(first.file);
      // Otherwise SQLite protects the tables behind an index.
      raw.enableDefensive(false);
      raw.exec(damage);
      raw.close();
      const second = await openTestMemories(dir);
      expect(titles(await search(second, 'caches', { limit: 30 }))).toHaveLength(30);
      expect(second.events).toEqual(['memory.index_rebuilding', 'memory.index_rebuilt']);
      expect(first.events).toEqual([]);
    },
  );

  it('issue 18 under a running daemon is built again by the search that meets it', async () => {
    const at = await openTestMemories();
    await at.memories.store(PROJECT, draftOf('A lesson about caches'), MODEL);
    await at.database.write([{ sql: 'DROP TABLE item_index_1', params: [] }]);
    expect(titles(await search(at, 'caches'))).toEqual(['A lesson about caches']);
    expect(at.events).toEqual(['memory.index_rebuilding', 'memory.index_rebuilt']);
  });
});

it('issue 18 a second daemon is refused the file', async () => {
  const dir = await makeTempDir();
  await openTestMemories(dir);
  const second = await openTestMemories(dir);
  await expect(search(second, 'x')).rejects.toMatchObject({ code: 'CONFLICT' });
});

it('issue 18 a file that is no database stops no daemon: each request says what is wrong', async () => {
  const dir = await makeTempDir();
  await writeFile(join(dir, 'memory.db'), 'x'.repeat(8192));
  const { memories } = await openTestMemories(dir);
  const failed = { code: 'INTERNAL_ERROR', message: expect.stringContaining('memory.db is damaged') };
  await expect(memories.store(PROJECT, draftOf('A lesson'), MODEL)).rejects.toMatchObject(failed);
});

describe('limits', () => {
  it('issue 18 a tool stores a thousand memories in a project and no more, until a person removes some', async () => {
    const at = await openTestMemories();
    const tool = { origin: 'tool' as const, owner: 'loud', source: '', requestIds: ['req_2'] };
    const many = Array.from({ length: 999 }, (_, i) => draftOf(`Lesson ${i}`));
    await at.memories.storeAll(PROJECT, many, tool);
    const { id } = await at.memories.store(PROJECT, draftOf('Reading a clock'), tool);
    const more = draftOf('Sowing tomatoes');
    await expect(at.memories.store(PROJECT, more, tool)).rejects.toMatchObject({ code: 'RESOURCE_LIMIT' });
    await at.memories.store(PROJECT, more, { ...tool, owner: 'other' });
    await at.memories.store(PROJECT, more, MODEL);
    await at.memories.forget(PROJECT, [id]);
    expect(await at.memories.store(PROJECT, more, tool)).toMatchObject({ state: 'stored' });
  });

  it("issue 18 a person's words are not merged into those of a model", async () => {
    const at = await openTestMemories();
    const person = { origin: 'person' as const, owner: '', source: '', requestIds: [] };
    const draft = draftOf('Run the database migrations before the integration tests');
    const again = draftOf('Run database migrations before the integration tests');
    const first = await at.memories.store(PROJECT, draft, MODEL);
    expect(await at.memories.store(PROJECT, again, person)).toMatchObject({ state: 'stored' });
    const [other] = await at.memories.read(PROJECT, [first.id]);
    expect(other).toMatchObject({ title: draft.title, origin: 'model' });
    expect(await at.memories.store(PROJECT, { ...draft, tags: ['x'] }, MODEL)).toMatchObject({ state: 'merged' });
  });
});
