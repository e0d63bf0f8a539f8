import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MEMORY_MIGRATIONS } from '#src/features/memory/migrations.js';
import { queryWords } from '#src/features/memory/query.js';
import { NO_FILTER, SEQS_PER_PROJECT } from '#src/features/memory/rows.js';
import { shapeRuns } from '../../../helpers/property-runs.ts';
import { createTestDatabase } from '../../../helpers/test-database.ts';
import { makeTempDir } from '../../stores/open-stores.ts';
import { draftOf, MODEL, openTestMemories, PROJECT, type TestMemories } from './open-memories.ts';

const OTHER = '/home/me/other';

const search = async ({ memories }: TestMemories, query: string, project = PROJECT) =>
  (await memories.search(project, { query, limit: 10, filter: NO_FILTER })).memories.map(({ title }) => title);

/** Relevance by title. */
const relevances = async ({ store }: TestMemories, query: string, project = PROJECT) => {
  const found = await store.search(project, queryWords(query), NO_FILTER, 100);
  return new Map(found.map(({ memory, relevance }) => [memory.title, relevance]));
};

async function fill({ memories }: TestMemories, project: string, titles: readonly string[]): Promise<void> {
  for (let from = 0; from < titles.length; from += 500)
    await memories.storeAll(
      project,
      titles.slice(from, from + 500).map((title) => draftOf(title)),
      MODEL,
    );
}

it('issue 31.6 memories of other projects change neither what is found nor how relevant it is', async () => {
  const words = ['docker', 'build', 'error', 'login', 'cache', 'deploy'];
  const titles = fc.array(fc.subarray(words, { minLength: 1 }), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(titles, titles, fc.subarray(words, { minLength: 1 }), async (own, others, query) => {
      const at = await openTestMemories();
      await fill(
        at,
        PROJECT,
        own.map((list, index) => `${list.join(' ')} own${index}`),
      );
      const before = await relevances(at, query.join(' '));
      await fill(
        at,
        OTHER,
        others.map((list, index) => `${list.join(' ')} other${index}`),
      );
      expect(await relevances(at, query.join(' '))).toEqual(before);
      await at.store.stop();
    }),
    { numRuns: shapeRuns(15) },
  );
});

it('issue 31.6 a word that is frequent elsewhere still finds the only memory of a project that has it', async () => {
  const at = await openTestMemories();
  await fill(at, PROJECT, ['The error page is blank after login']);
  await fill(
    at,
    OTHER,
    Array.from({ length: 11_000 }, (_, index) => `docker compose build timeout ${index} error`),
  );
  const query = 'docker compose build timeout error';
  expect(await search(at, query)).toEqual(['The error page is blank after login']);
  expect(await search(at, query, OTHER)).toHaveLength(10);
});

it('issue 31.6 a word that all memories of a small project have still counts', async () => {
  const at = await openTestMemories();
  await fill(at, PROJECT, ['docker error']);
  for (const relevance of (await relevances(at, 'docker error')).values()) expect(relevance).toBeGreaterThan(0.1);
});

it('issue 31.6 global memories are ranked with those of the project by one statistic', async () => {
  const at = await openTestMemories();
  const { id } = await at.memories.store(OTHER, draftOf('Rotate the vault token of the broker'), MODEL);
  await at.memories.promote(OTHER, id);
  await fill(at, PROJECT, ['The token is long', ...Array.from({ length: 20 }, (_, index) => `A note ${index}`)]);
  expect(await search(at, 'rotate the vault token')).toEqual([
    'Rotate the vault token of the broker',
    'The token is long',
  ]);
});

it('issue 31.6 a database with one index for all projects gets one for each at the next start', async () => {
  const file = join(await makeTempDir(), 'memory.db');
  const steps = MEMORY_MIGRATIONS.findIndex((step) => step.includes('DROP TABLE item_index'));
  const old = createTestDatabase({ file, migrations: MEMORY_MIGRATIONS.slice(0, steps) });
  await old.start();
  const row = (seq: number, title: string, project: string, scope: string, isAside: number) => ({
    sql: `INSERT INTO items (seq, id, project, scope, title, description, content, tags, outcome, task, context, origin,
        owner, source, provenance, contradicts, alpha, beta, uses, is_quarantined, digest, created_ms, updated_ms)
      VALUES (?, ?, ?, ?, ?, '', '', '[]', 'success', '', '', 'model', '', '', '[]', '[]', 2, 1, 0, ?, ?, 0, 0)`,
    params: [seq, `mem_000000000${seq % 10}`, project, scope, title, isAside, Buffer.from(title)],
  });
  await old.write([
    { sql: 'INSERT INTO projects VALUES (1, ?), (2, ?)', params: [PROJECT, OTHER] },
    row(1, 'A global lesson', OTHER, 'global', 0),
    row(SEQS_PER_PROJECT + 2, 'A lesson of ours', PROJECT, 'project', 0),
    row(SEQS_PER_PROJECT + 3, 'A lesson that failed', PROJECT, 'project', 1),
    row(2 * SEQS_PER_PROJECT + 4, 'A lesson of theirs', OTHER, 'project', 0),
  ]);
  await old.stop();
  const at = await openTestMemories(join(file, '..'));
  expect((await search(at, 'lesson')).sort()).toEqual(['A global lesson', 'A lesson of ours']);
  expect((await search(at, 'lesson', OTHER)).sort()).toEqual(['A global lesson', 'A lesson of theirs']);
  expect(at.events).toEqual(['memory.index_rebuilding', 'memory.index_rebuilt']);
  await at.store.stop();
  expect((await openTestMemories(join(file, '..'))).events).toEqual([]);
});
