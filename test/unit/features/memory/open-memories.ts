import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { silentLogger } from '#src/core/log.js';
import type { MemoryDraft } from '#src/features/memory/item.js';
import { Memories, type MemoryAuthor } from '#src/features/memory/memories.js';
import { MEMORY_MIGRATIONS } from '#src/features/memory/migrations.js';
import { MemoryStore } from '#src/features/memory/store.js';
import type { Database } from '#src/stores/sqlite.js';
import { createTestDatabase } from '../../../helpers/test-database.ts';
import { makeTempDir, TestClock } from '../../stores/open-stores.ts';

export const PROJECT = '/home/me/project';
export const MODEL: MemoryAuthor = { origin: 'model', owner: '', source: '', requestIds: ['req_1'] };

export interface TestMemories {
  file: string;
  clock: TestClock;
  database: Database;
  store: MemoryStore;
  memories: Memories;
  /** Events that were logged. */
  events: string[];
}

/** Started memories in `dir`, stopped when the test ends. */
export async function openTestMemories(dir?: string): Promise<TestMemories> {
  const file = join(dir ?? (await makeTempDir()), 'memory.db');
  const events: string[] = [];
  const logger = { ...silentLogger, warn: (event: string) => void events.push(event) };
  const database = createTestDatabase({ file, migrations: MEMORY_MIGRATIONS, logger });
  const store = new MemoryStore({ database, logger });
  const clock = new TestClock();
  await store.start();
  onTestFinished(() => store.stop());
  return { file, clock, database, store, memories: new Memories({ store, clock }), events };
}

export function draftOf(title: string, more: Partial<MemoryDraft> = {}): MemoryDraft {
  const rest = { description: '', content: `${title}.`, tags: [], outcome: 'success' as const, task: '', context: '' };
  return { title, ...rest, ...more };
}
