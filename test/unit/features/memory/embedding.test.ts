import { realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { acceptConfig } from '#src/config/load.js';
import { systemClock, systemTimer } from '#src/core/clock.js';
import type { JsonObject } from '#src/core/json.js';
import { silentLogger } from '#src/core/log.js';
import { checkEmbedding, createDense } from '#src/features/memory/embedding.js';
import { Memories } from '#src/features/memory/memories.js';
import { MemoryStore } from '#src/features/memory/store.js';
import { createScrubber } from '#src/scrub/session-scrubber.js';
import { openEmbeddingServer } from '../../../helpers/embedding-server.ts';
import { generate, seededRandom } from '../../../helpers/sample-patterns.ts';
import { createTestMemoryDatabase } from '../../../helpers/test-memory-database.ts';
import { engine, scanner } from '../../../helpers/test-rules.ts';
import { makeTempDir } from '../../stores/open-stores.ts';
import { draftOf, MODEL } from './open-memories.ts';

const ROOT = '/home/ann/shop';
const accept = (settings: JsonObject) => acceptConfig('config.json', { memory: { embedding: settings } });

async function openDense(settings: JsonObject) {
  const database = createTestMemoryDatabase({ file: join(await makeTempDir(), 'memory.db') });
  const store = new MemoryStore({ database, logger: silentLogger });
  await store.start();
  let last = 0;
  const dense = createDense({
    config: accept(settings).memory.embedding,
    database,
    installRoot: '/opt/contextd',
    environment: { path: '', home: '/nowhere', variable: () => undefined },
    scrubber: createScrubber({
      scanner,
      engine,
      logger: silentLogger,
      numbers: { next: () => ++last, last: () => last },
      clock: systemClock,
    }),
    clock: systemClock,
    timer: systemTimer,
    logger: silentLogger,
  });
  onTestFinished(async () => {
    await dense?.stop();
    await store.stop();
  });
  return { dense, memories: new Memories({ store, clock: systemClock, dense }) };
}

it('FR-9.5 doctor asks the embedding model, and says what waits for it or what is wrong', async () => {
  const server = await openEmbeddingServer();
  const { dense, memories } = await openDense({ provider: 'http', url: server.url, model: 'topics' });
  if (dense === null) throw new Error('no model is configured');
  await memories.store(ROOT, draftOf('Lesson'), MODEL);
  const { status, detail, remedy } = await checkEmbedding(dense, systemClock);
  expect([status, remedy]).toEqual(['ok', '']);
  expect(detail).toMatch(/^topics at http:\S+: 3 numbers, answered in \d+ ms, 1 memory waits for a vector$/);
  await dense.catchUp();
  expect((await checkEmbedding(dense, systemClock)).detail).toContain('every memory has a vector');
  await server.kill();
  expect(await checkEmbedding(dense, systemClock)).toEqual({
    status: 'warn',
    detail: expect.stringMatching(
      /^topics at \S+: the embedding model (cannot be reached|failed).*; memories are found by their words meanwhile$/,
    ),
    remedy: expect.stringContaining('memory.embedding'),
  });
});

it('FR-9.5 doctor says which file of a local model is missing', async () => {
  const folder = await makeTempDir();
  const { dense } = await openDense({ provider: 'local', folder });
  if (dense === null) throw new Error('no model is configured');
  expect(await checkEmbedding(dense, systemClock)).toMatchObject({
    status: 'warn',
    detail: expect.stringContaining(join(folder, 'onnx', 'model.onnx')),
  });
});

it('issue 18 part 2 sends a query with its secrets masked, and the key of the endpoint from its file', async () => {
  const server = await openEmbeddingServer();
  const file = join(realpathSync(await makeTempDir()), 'key');
  writeFileSync(file, 'open-sesame\n');
  const { dense, memories } = await openDense({
    provider: 'http',
    url: server.url,
    model: 'topics',
    api_key_file: file,
    query_timeout_ms: 60_000,
  });
  await dense?.catchUp();
  const token = generate('ghp_[A-Za-z0-9]{36}', seededRandom(18));
  const filter = { tags: [], outcome: null, scope: null, sinceMs: 0 };
  const { wordsOnly } = await memories.search(ROOT, { query: `deploy with ${token}`, limit: 5, filter });
  expect(wordsOnly).toBeNull();
  expect(server.texts.at(-1)).toBe('deploy with [SECRET:github-pat]');
  expect(new Set(server.keys)).toEqual(new Set(['Bearer open-sesame']));
});

it('issue 18 part 2 is off by default, and names what a provider needs', async () => {
  expect((await openDense({})).dense).toBeNull();
  expect(() => accept({ provider: 'http' })).toThrow(
    '/memory/embedding/url must be set if the provider is http; /memory/embedding/model must be set if the provider is http',
  );
  expect(() => accept({ provider: 'local' })).toThrow('/memory/embedding/folder must be set');
  expect(() => accept({ tools: true })).toThrow('/memory/embedding/tools needs a provider');
  for (const url of ['http://models.example.com/v1', 'https://ann:key@models.example.com/v1', 'models.example.com'])
    expect(() => accept({ provider: 'http', model: 'm', url })).toThrow('/memory/embedding/url');
});
