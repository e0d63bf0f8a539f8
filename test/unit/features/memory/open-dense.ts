import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { silentLogger } from '#src/core/log.js';
import { Dense } from '#src/features/memory/dense/dense.js';
import { HttpEmbedder } from '#src/features/memory/dense/http-embedder.js';
import { Vectors } from '#src/features/memory/dense/vectors.js';
import { Memories } from '#src/features/memory/memories.js';
import { MemoryStore } from '#src/features/memory/store.js';
import type { EmbeddingServer } from '../../../helpers/embedding-server.ts';
import { createTestMemoryDatabase } from '../../../helpers/test-memory-database.ts';
import { makeTempDir, TestClock } from '../../stores/open-stores.ts';
import { HandTimer } from './open-member.ts';

/** Milliseconds that a query may take. */
export const QUERY_MS = 151;

interface Options {
  dir?: string;
  model?: string;
  revision?: string;
}

/** Memories ranked with the model of a server. */
export async function openDense(server: EmbeddingServer, { dir, model = 'topics', revision = '' }: Options = {}) {
  const home = dir ?? (await makeTempDir());
  const database = createTestMemoryDatabase({ file: join(home, 'memory.db') });
  const store = new MemoryStore({ database, logger: silentLogger });
  const [clock, timer] = [new TestClock(), new HandTimer()];
  const events: { event: string; fields: object | undefined }[] = [];
  await store.start();
  const dense = new Dense({
    database,
    embedder: new HttpEmbedder({
      url: server.url,
      model,
      revision,
      prefixes: { query: 'query: ', document: '' },
      apiKey: async () => 'open-sesame',
    }),
    mask: async (_project, text) => text.replaceAll('swordfish', '[SECRET:test]'),
    queryTimeoutMs: QUERY_MS,
    timeoutMs: 60_000,
    clock,
    timer,
    random: () => 0,
    logger: { ...silentLogger, warn: (event, fields) => void events.push({ event, fields }) },
  });
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (isStopped) return;
    isStopped = true;
    await dense.stop();
    await store.stop();
  };
  onTestFinished(stop);
  const memories = new Memories({ store, clock, dense });
  return { dir: home, database, store, dense, clock, timer, memories, events, vectors: new Vectors(database), stop };
}
