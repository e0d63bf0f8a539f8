import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock as clock } from '../../src/core/clock.ts';
import { silentLogger as logger } from '../../src/core/log.ts';
import type { MemoryDraft } from '../../src/memory/item.ts';
import { Memories, type MemoryAuthor } from '../../src/memory/memories.ts';
import { MEMORY_MIGRATIONS } from '../../src/memory/migrations.ts';
import { MemoryStore, NO_FILTER } from '../../src/memory/store.ts';
import { createDatabase } from '../../src/stores/sqlite.ts';
import { fillerQuery, fillers, type Lesson, lessons } from '../lib/lessons.ts';
import { spreadOf } from '../lib/measure.ts';
import type { Fact, Row, Section } from '../lib/section.ts';

const PROJECT = '/bench';
const AUTHOR: MemoryAuthor = { origin: 'import', owner: '', source: 'bench', requestId: '' };
const SIZES = [1_000, 10_000, 100_000] as const;
const AIMS_MS = [1, 3, 20];
const BATCH = 500;
const SEARCHES = 300;
const STORES = 100;
const LIMIT = 10;

/** Memories through their thread, without a daemon around them. */
export const memoriesSection: Section = {
  async run() {
    const [search, store]: [Row[], Row[]] = [[], []];
    const facts: Fact[] = [];
    for (const size of SIZES) {
      const times = await withMemories((memories) => measure(memories, size));
      search.push({ name: nameOf(size), times: spreadOf(times.searches), note: '' });
      store.push({ name: nameOf(size), times: spreadOf(times.stores), note: '' });
      facts.push({ name: `imported ${nameOf(size)}, ms each`, value: (times.importMs / size).toFixed(3) });
    }
    facts.push(...(await withMemories(recall)));
    const aims = SIZES.map((size, index) => ({ row: nameOf(size), atMost: AIMS_MS[index] ?? 0, times: null }));
    return {
      tables: [
        {
          title: `a search for six words, ${LIMIT} results, by the number of memories`,
          base: null,
          rows: search,
          aims,
        },
        { title: 'storing one, compared with those before it', base: null, rows: store, aims: [] },
      ],
      facts,
    };
  },
};

async function measure(memories: Memories, size: number) {
  const random = seeded(size);
  const began = performance.now();
  const drafts = fillers(size, random).map(draftOf);
  for (let from = 0; from < size; from += BATCH) {
    await memories.storeAll(PROJECT, drafts.slice(from, from + BATCH), AUTHOR);
  }
  const importMs = performance.now() - began;
  const searches = await timesOf(SEARCHES, () =>
    memories.search(PROJECT, { query: fillerQuery(random), limit: LIMIT, filter: NO_FILTER }),
  );
  const more = fillers(STORES, random).map(draftOf);
  const stores = await timesOf(STORES, (index) => memories.store(PROJECT, more[index] ?? draftOf(NOTHING), AUTHOR));
  return { importMs, searches, stores };
}

const NOTHING: Lesson = { title: 'nothing', description: '', content: 'nothing' };

/** How many of the questions have their lesson among the first 1, 5 and 10. */
async function recall(memories: Memories): Promise<Fact[]> {
  const all = lessons();
  await memories.storeAll(
    PROJECT,
    all.map(({ lesson }) => draftOf(lesson)),
    AUTHOR,
  );
  const places: number[] = [];
  for (const { lesson, question } of all) {
    const found = await memories.search(PROJECT, { query: question, limit: LIMIT, filter: NO_FILTER });
    places.push(found.memories.findIndex(({ title }) => title === lesson.title));
  }
  return [1, 5, 10].map((k) => {
    const hits = places.filter((place) => place >= 0 && place < k).length;
    return { name: `recall at ${k}, ${all.length} questions`, value: (hits / all.length).toFixed(3) };
  });
}

async function timesOf(count: number, work: (index: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < count; index++) {
    const began = performance.now();
    await work(index);
    times.push(performance.now() - began);
  }
  return times;
}

async function withMemories<T>(use: (memories: Memories) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'ctxd-bench-'));
  const file = join(dir, 'memory.db');
  const database = createDatabase({ file, migrations: MEMORY_MIGRATIONS, durable: true, logger });
  const store = new MemoryStore({ database, logger });
  try {
    await store.start();
    return await use(new Memories({ store, clock }));
  } finally {
    await store.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

function draftOf(lesson: Lesson): MemoryDraft {
  return { ...lesson, tags: [], outcome: 'success', task: '', context: '' };
}

function nameOf(size: number): string {
  return size.toLocaleString('en-US');
}

/** Mulberry32: the same texts in each run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
