import { expect, it } from 'vitest';
import { NO_FILTER } from '#src/features/memory/rows.js';
import { draftOf, MODEL, openTestMemories, PROJECT, type TestMemories } from './open-memories.ts';

const OTHER = '/home/me/other';
const PERSON = { origin: 'person' as const, owner: '', source: '', requestIds: [] };

const search = async ({ memories }: TestMemories, query: string) =>
  (await memories.search(PROJECT, { query, limit: 10, filter: NO_FILTER })).memories.map(({ id }) => id);
const read = async ({ memories }: TestMemories, id: string) => (await memories.read(PROJECT, [id]))[0];

async function openReplaced() {
  const at = await openTestMemories();
  const old = await at.memories.store(PROJECT, draftOf('Set PGCONNECT_TIMEOUT=2 for the tests'), MODEL);
  const newer = await at.memories.store(PROJECT, draftOf('Set PGCONNECT_TIMEOUT=10 for the tests'), MODEL, [old.id]);
  return { ...at, old: old.id, newer: newer.id };
}

it('issue 31.5 an older memory is set aside and linked: no search finds it, and its id and that of the new one name it', async () => {
  const at = await openReplaced();
  expect(await search(at, 'PGCONNECT_TIMEOUT tests')).toEqual([at.newer]);
  expect(await search(at, '')).toEqual([at.newer]);
  expect(await read(at, at.old)).toMatchObject({ replacedBy: at.newer, replaces: [], isQuarantined: false });
  expect(await read(at, at.newer)).toMatchObject({ replacedBy: '', replaces: [at.old] });
  const rows = await at.database.read('SELECT id FROM outbox ORDER BY id');
  expect(rows.map(({ id }) => id)).toEqual([at.old, at.newer].sort());
});

it('issue 31.5 several are replaced at once, in a chain, and feedback brings none of them back', async () => {
  const at = await openReplaced();
  const side = await at.memories.store(PROJECT, draftOf('Wait for the port of postgres'), MODEL);
  const last = await at.memories.store(PROJECT, draftOf('Testcontainers wait for the database'), MODEL, [
    at.newer,
    side.id,
  ]);
  expect(await read(at, last.id)).toMatchObject({ replaces: [at.newer, side.id] });
  expect(await read(at, at.old)).toMatchObject({ replacedBy: at.newer });
  for (const session of ['a', 'b', 'c', 'd'])
    await at.memories.giveFeedback(
      PROJECT,
      { id: at.newer, outcome: 'success', note: '' },
      { session, requestId: 'r' },
    );
  expect(await search(at, 'PGCONNECT_TIMEOUT postgres database tests')).toEqual([last.id]);
});

it('issue 31.5 a memory comes back when the one that took its place is forgotten', async () => {
  const at = await openReplaced();
  await at.memories.forget(PROJECT, [at.newer]);
  expect(await search(at, 'PGCONNECT_TIMEOUT')).toEqual([at.old]);
  expect(await read(at, at.old)).toMatchObject({ replacedBy: '' });
});

it('issue 31.5 a lesson that holds again takes the place of what had replaced it', async () => {
  const at = await openReplaced();
  const again = draftOf('Set PGCONNECT_TIMEOUT=2 for the tests');
  expect(await at.memories.store(PROJECT, again, MODEL)).toMatchObject({ id: at.old, replacedBy: at.newer });
  expect(await at.memories.store(PROJECT, again, MODEL, [at.newer])).toMatchObject({ id: at.old, state: 'unchanged' });
  expect(await search(at, 'PGCONNECT_TIMEOUT')).toEqual([at.old]);
  expect(await read(at, at.old)).toMatchObject({ replacedBy: '', replaces: [at.newer] });
});

it('issue 31.5 what is replaced contradicts nothing any more, and is not merged into', async () => {
  const at = await openTestMemories();
  const task = 'connect to the database in tests';
  const good = await at.memories.store(PROJECT, draftOf('Raise the timeout', { task }), MODEL);
  const bad = await at.memories.store(PROJECT, draftOf('It hangs anyway', { task, outcome: 'failure' }), MODEL);
  expect(bad.contradicts).toEqual([good.id]);
  const newer = await at.memories.store(
    PROJECT,
    draftOf('Raise the timeouts', { task, content: 'Raise the timeout!' }),
    MODEL,
    [good.id],
  );
  expect(newer).toMatchObject({ state: 'stored', contradicts: [bad.id] });
  expect((await read(at, bad.id))?.contradicts).toEqual([newer.id]);
});

it('issue 31.5 refuses ids of others, global ones and those that were replaced, and then stores nothing', async () => {
  const at = await openReplaced();
  const draft = draftOf('Something new');
  const replace = (ids: string[], author = MODEL) => at.memories.store(PROJECT, draft, author, ids);
  const foreign = await at.memories.store(OTHER, draftOf('Of another project'), MODEL);
  await expect(replace([foreign.id])).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(replace([at.old])).rejects.toMatchObject({
    code: 'ARGS_INVALID',
    message: expect.stringContaining(at.newer),
  });
  const tool = { origin: 'tool' as const, owner: 'helper', source: '', requestIds: ['req_2'] };
  await expect(replace([at.newer], tool)).rejects.toMatchObject({ code: 'ARGS_INVALID' });
  const equal = draftOf('Set PGCONNECT_TIMEOUT=10 for the tests');
  await expect(at.memories.store(PROJECT, equal, MODEL, [at.newer])).rejects.toMatchObject({ code: 'ARGS_INVALID' });
  await at.memories.promote(OTHER, foreign.id);
  await expect(replace([foreign.id])).rejects.toMatchObject({ code: 'ARGS_INVALID' });
  expect(await search(at, 'something')).toEqual([]);
  await replace([foreign.id], PERSON);
  expect(await search(at, 'another')).toEqual([]);
});
