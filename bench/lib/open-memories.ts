import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock as clock, systemTimer as timer } from '../../src/core/clock.ts';
import { silentLogger as logger } from '../../src/core/log.ts';
import { Dense } from '../../src/features/memory/dense/dense.ts';
import type { Embedder } from '../../src/features/memory/dense/embedder.ts';
import type { MemoryDraft } from '../../src/features/memory/item.ts';
import { Memories } from '../../src/features/memory/memories.ts';
import { memoryDatabase } from '../../src/features/memory/memory-database.ts';
import { MemoryStore } from '../../src/features/memory/store.ts';
import type { Lesson } from './lessons.ts';

export interface OpenedMemories {
  memories: Memories;
  dense: Dense | null;
}

/** Memories in a new database, without a daemon; removed afterwards. */
export function withMemories<T>(embedder: Embedder | null, use: (opened: OpenedMemories) => Promise<T>): Promise<T> {
  return inTempDir(async (dir) => {
    const database = memoryDatabase({ file: join(dir, 'memory.db'), logger });
    const store = new MemoryStore({ database, logger });
    const timeouts = { queryTimeoutMs: 60_000, timeoutMs: 60_000 };
    const mask = async (_project: string, text: string): Promise<string> => text;
    const dense =
      embedder === null
        ? null
        : new Dense({ database, embedder, mask, ...timeouts, clock, timer, random: Math.random, logger });
    try {
      await store.start();
      return await use({ memories: new Memories({ store, clock, dense }), dense });
    } finally {
      await dense?.stop();
      await store.stop();
    }
  });
}

export async function inTempDir<T>(use: (dir: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'ctxd-bench-'));
  try {
    return await use(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export function draftOf({ title, description, content }: Lesson): MemoryDraft {
  return { title, description, content, tags: [], outcome: 'success', task: '', context: '' };
}
