import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Timer } from '#src/core/clock.js';
import { silentLogger } from '#src/core/log.js';
import { Dense } from '#src/features/memory/dense/dense.js';
import type { Embedder } from '#src/features/memory/dense/embedder.js';
import type { MemoryDraft } from '#src/features/memory/item.js';
import { Memories } from '#src/features/memory/memories.js';
import { MemoryStore } from '#src/features/memory/store.js';
import { QdrantCollection } from '#src/features/memory/sync/qdrant.js';
import { SharedItems } from '#src/features/memory/sync/shared-items.js';
import { Syncer } from '#src/features/memory/sync/syncer.js';
import type { Database } from '#src/stores/sqlite.js';
import type { TestQdrant } from '../../../helpers/qdrant-server.ts';
import { createTestMemoryDatabase } from '../../../helpers/test-memory-database.ts';
import { makeTempDir, TestClock } from '../../stores/open-stores.ts';

/** Milliseconds of the search deadline: the test lets them pass with `timer.pass`. */
export const DEADLINE_MS = 777;

/** Wakes only what the test names by its time. */
export class HandTimer implements Timer {
  readonly #waiting = new Set<{ ms: number; wake: () => void }>();

  after(ms: number, wake: () => void): () => void {
    const entry = { ms, wake };
    this.#waiting.add(entry);
    return () => void this.#waiting.delete(entry);
  }

  pass(ms: number): void {
    for (const entry of this.#waiting) {
      if (entry.ms !== ms) continue;
      this.#waiting.delete(entry);
      entry.wake();
    }
  }
}

export interface Member {
  dir: string;
  root: string;
  clock: TestClock;
  timer: HandTimer;
  database: Database;
  store: MemoryStore;
  syncer: Syncer;
  /** Null: only words are compared. It does nothing by itself: a test lets it catch up. */
  dense: Dense | null;
  memories: Memories;
  /** Texts that were masked. */
  masked: MemoryDraft[];
  /** Ends it as a crash does: what is under way is not waited for. */
  stop(): Promise<void>;
}

export interface MemberOptions {
  /** Of another member that was stopped: its database. */
  dir?: string;
  root?: string;
  project?: string;
  embedder?: Embedder | null;
  apiKey?: string;
  /** Changes the database, to make it fail. */
  faulty?(database: Database): Database;
}

/** A machine of a team: a store of its own and the shared collection. */
export async function openMember(qdrant: TestQdrant, options: MemberOptions = {}): Promise<Member> {
  const { root = '/home/me/project', project = 'team-app', embedder = null, faulty = (same) => same } = options;
  const dir = options.dir ?? (await makeTempDir());
  const file = join(dir, 'memory.db');
  const database = createTestMemoryDatabase({ file });
  const store = new MemoryStore({ database, logger: silentLogger });
  const clock = new TestClock();
  const timer = new HandTimer();
  const projects = new Map([[root, project]]);
  const masked: MemoryDraft[] = [];
  await store.start();
  const dense =
    embedder === null
      ? null
      : new Dense({
          database,
          embedder,
          queryTimeoutMs: 60_000,
          timeoutMs: 60_000,
          clock,
          timer,
          random: () => 0,
          mask: async (_root, text) => text,
          logger: silentLogger,
        });
  const syncer = new Syncer({
    items: new SharedItems({ database: faulty(database), projects }),
    collection: new QdrantCollection({
      url: qdrant.url,
      collection: qdrant.collection,
      timeoutMs: 60_000,
      searchTimeoutMs: 60_000,
      apiKey: async () => options.apiKey ?? null,
    }),
    target: `${qdrant.url} ${qdrant.collection} ${JSON.stringify([...projects])}`,
    projects,
    async mask(_root, drafts) {
      masked.push(...drafts);
      if (drafts.some(({ content }) => content.includes('unsearchable'))) throw new Error('cannot be searched');
      return drafts.map((draft) => ({ ...draft, content: draft.content.replaceAll('swordfish', '[SECRET:test]') }));
    },
    dense,
    intervalMs: 10_000,
    searchTimeoutMs: DEADLINE_MS,
    clock,
    timer,
    random: () => 0,
    logger: silentLogger,
  });
  await syncer.start();
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (isStopped) return;
    isStopped = true;
    await syncer.stop();
    await dense?.stop();
    await store.stop();
  };
  onTestFinished(stop);
  const memories = new Memories({ store, clock, shared: syncer, dense });
  return { dir, root, clock, timer, database, store, syncer, dense, memories, masked, stop };
}
