import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import type { Embedder } from '../../src/features/memory/dense/embedder.ts';
import type { Memories, MemoryAuthor } from '../../src/features/memory/memories.ts';
import { NO_FILTER } from '../../src/features/memory/rows.ts';
import { fillerQuery, fillers, type Lesson } from '../lib/lessons.ts';
import { installForBench } from '../lib/machine.ts';
import { runProcess, spreadOf } from '../lib/measure.ts';
import { lancedb, type MemoryPeerKind, serverMemory } from '../lib/memory-peers.ts';
import { BenchQdrant } from '../lib/memory-qdrant.ts';
import { draftOf, inTempDir, withMemories } from '../lib/open-memories.ts';
import { type Fact, missingRow, type Row, type Section, sayStep } from '../lib/section.ts';

const PROJECT = '/bench';
const AUTHOR: MemoryAuthor = { origin: 'import', owner: '', source: 'bench', requestIds: [] };
const SIZES = [1_000, 10_000, 100_000] as const;
const AIMS_MS = [1, 3, 20];
const BATCH = 500;
const SEARCHES = 300;
const STORES = 100;
/** Of others: one store of the slowest takes seconds. */
const PEER_SEARCHES = 30;
const PEER_STORES = 10;
const LIMIT = 10;
/** Numbers of a vector, as small models have them. */
const DIMENSION = 384;
const CALLS = 50;
const TOOL = '.claude/tools/memory_search/memory_search';

interface Rows {
  search: Row[];
  store: Row[];
  facts: Fact[];
}

/** Memories through their thread, without a daemon around them, beside others; and the tool as an agent calls it. */
export const memoriesSection: Section = {
  async run({ qdrantUrl }) {
    const rows: Rows = { search: [], store: [], facts: [{ name: 'load at the start', value: load() }] };
    for (const size of SIZES) await measureOwn(size, rows);
    for (const size of SIZES) await measureWithVectors(size, rows);
    for (const peer of [lancedb, serverMemory]) for (const size of SIZES) await measurePeer(peer, size, rows);
    await measureQdrant(qdrantUrl, rows);
    const call = await measureTool();
    const aims = SIZES.map((size, index) => ({ row: nameOf(size), atMost: AIMS_MS[index] ?? 0, times: null }));
    return {
      tables: [
        {
          title: `a search for six words, ${LIMIT} results, ms`,
          base: null,
          rows: rows.search,
          aims,
        },
        { title: 'storing one, ms', base: null, rows: rows.store, aims: [] },
        { title: 'memory_search as a process, ms', base: null, rows: [call], aims: [] },
      ],
      facts: [...rows.facts, { name: 'load at the end', value: load() }],
    };
  },
};

async function measureOwn(size: number, rows: Rows): Promise<void> {
  sayStep(`${nameOf(size)} memories`);
  const random = seeded(size);
  await withMemories(null, async ({ memories }) => {
    const began = performance.now();
    await fill(memories, size, random);
    const importMs = performance.now() - began;
    await memories.search(PROJECT, { query: fillerQuery(random), limit: LIMIT, filter: NO_FILTER });
    rows.search.push(row(nameOf(size), await timesOf(SEARCHES, () => searchOnce(memories, random))));
    const more = fillers(STORES, random).map(draftOf);
    const store = (index: number) => memories.store(PROJECT, more[index] ?? draftOf(NOTHING), AUTHOR);
    rows.store.push(row(nameOf(size), await timesOf(STORES, store)));
    rows.facts.push({ name: `imported ${nameOf(size)}, ms each`, value: (importMs / size).toFixed(3) });
  });
}

/** What comparing all vectors and fusing costs. The vectors are random, and the model takes no time. */
async function measureWithVectors(size: number, rows: Rows): Promise<void> {
  const name = `${nameOf(size)} with vectors of ${DIMENSION}`;
  sayStep(name);
  const random = seeded(size);
  const instant: Embedder = {
    name: 'bench',
    embed: async (texts) => ({ model: 'bench', revision: '', vectors: texts.map(() => unitVector(random)) }),
    stop: async () => {},
  };
  await withMemories(instant, async ({ memories, dense }) => {
    await fill(memories, size, random);
    const began = performance.now();
    await dense?.catchUp();
    const ms = (performance.now() - began) / size;
    await searchOnce(memories, random);
    rows.search.push(row(name, await timesOf(SEARCHES, () => searchOnce(memories, random))));
    rows.facts.push({ name: `${nameOf(size)} vectors stored, ms each`, value: ms.toFixed(3) });
  });
}

async function measurePeer(peer: MemoryPeerKind, size: number, rows: Rows): Promise<void> {
  const name = `${peer.name}, ${nameOf(size)}`;
  if (peer.missing !== null) return void rows.search.push(missingRow(name, peer.missing));
  sayStep(name);
  const random = seeded(size);
  await inTempDir(async (dir) => {
    const opened = await peer.open(fillers(size, random), join(dir, 'peer'));
    try {
      await opened.search(fillerQuery(random), LIMIT);
      const search = () => opened.search(fillerQuery(random), LIMIT);
      rows.search.push(row(name, await timesOf(PEER_SEARCHES, search)));
      const more = fillers(PEER_STORES, random);
      rows.store.push(row(name, await timesOf(PEER_STORES, (index) => opened.store(more[index] ?? NOTHING))));
    } finally {
      await opened.stop();
    }
  });
}

async function measureQdrant(url: string | null, rows: Rows): Promise<void> {
  if (url === null) return void rows.search.push(missingRow('Qdrant', 'QDRANT_URL names no server'));
  const qdrant = await BenchQdrant.create(url, DIMENSION);
  const random = seeded(7);
  const vector = () => [...unitVector(random)];
  try {
    let there = 0;
    for (const size of SIZES) {
      const name = `Qdrant, ${nameOf(size)}`;
      sayStep(name);
      const more = fillers(size - there, random);
      const began = performance.now();
      await qdrant.put(more, vector);
      const seconds = (performance.now() - began) / 1_000;
      rows.facts.push({ name: `${name}: ${nameOf(size - there)} sent, s`, value: seconds.toFixed(1) });
      there = size;
      const words = () => qdrant.search(fillerQuery(random), LIMIT, null);
      rows.search.push(row(`${name}, words`, await timesOf(SEARCHES, words)));
      const hybrid = () => qdrant.search(fillerQuery(random), LIMIT, vector());
      rows.search.push(row(`${name}, words and vectors`, await timesOf(SEARCHES, hybrid)));
      const one = (lesson: Lesson | undefined) => qdrant.put([lesson ?? NOTHING], vector);
      const stored = fillers(PEER_STORES, random);
      rows.store.push(row(name, await timesOf(PEER_STORES, (index) => one(stored[index]))));
    }
  } finally {
    await qdrant.remove();
  }
}

/** From spawn to the last byte, in a project with 1,000 memories. */
async function measureTool(): Promise<Row> {
  sayStep('memory_search as a process');
  const random = seeded(3);
  const at = await installForBench({});
  try {
    const file = join(at.home, 'memories.jsonl');
    writeFileSync(
      file,
      fillers(SIZES[0], random)
        .map((lesson) => JSON.stringify(lesson))
        .join('\n'),
    );
    await at.ctxd('memory', 'import', file);
    const call = () =>
      runProcess(TOOL, [JSON.stringify({ query: fillerQuery(random) })], { cwd: at.project, env: at.env });
    for (let warm = 0; warm < 3; warm++) await call();
    return row('memory_search, 1,000 memories', await timesOf(CALLS, call));
  } finally {
    await at.remove();
  }
}

async function fill(memories: Memories, size: number, random: () => number): Promise<void> {
  const drafts = fillers(size, random).map(draftOf);
  for (let from = 0; from < size; from += BATCH)
    await memories.storeAll(PROJECT, drafts.slice(from, from + BATCH), AUTHOR);
}

async function searchOnce(memories: Memories, random: () => number): Promise<void> {
  const query = fillerQuery(random);
  const { wordsOnly } = await memories.search(PROJECT, { query, limit: LIMIT, filter: NO_FILTER });
  if (wordsOnly !== null) throw new Error(wordsOnly);
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

const NOTHING: Lesson = { title: 'nothing', description: '', content: 'nothing' };

function row(name: string, times: readonly number[]): Row {
  return { name, times: spreadOf(times), note: '' };
}

function nameOf(size: number): string {
  return size.toLocaleString('en-US');
}

function load(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}

function unitVector(random: () => number): Float32Array<ArrayBuffer> {
  const values = Float32Array.from({ length: DIMENSION }, () => random() - 0.5);
  const length = Math.hypot(...values);
  return values.map((value) => value / length);
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
