import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { mix } from '#src/features/memory/dense/fuse.js';
import { LocalEmbedder } from '#src/features/memory/dense/local-embedder.js';
import { searchMemories } from '#src/features/memory/memory-services.js';
import { queryWords } from '#src/features/memory/query.js';
import { type MemoryFilter, NO_FILTER } from '#src/features/memory/rows.js';
import { EMBEDDING_FAULTS, openEmbeddingServer } from '../../../helpers/embedding-server.ts';
import { propertyRuns, shapeRuns } from '../../../helpers/property-runs.ts';
import { makeTempDir } from '../../stores/open-stores.ts';
import { openDense, QUERY_MS } from './open-dense.ts';
import { draftOf, MODEL, PROJECT } from './open-memories.ts';

type Opened = Awaited<ReturnType<typeof openDense>>;

const add = async ({ memories }: Opened, title: string, more = {}) =>
  (await memories.store(PROJECT, draftOf(title, more), MODEL)).id;
const search = ({ memories }: Opened, query: string, filter: Partial<MemoryFilter> = {}, limit = 20) =>
  memories.search(PROJECT, { query, limit, filter: { ...NO_FILTER, ...filter } });
const titles = async (opened: Opened, query: string, filter: Partial<MemoryFilter> = {}) =>
  (await search(opened, query, filter)).memories.map(({ title }) => title);

const NO_RETRIEVALS = { divide: async () => new Set<string>(), settle: async () => {}, noteReads: async () => {} };

describe('ranking by meaning', () => {
  it('issue 18 part 2 finds what shares no word, and ranks what shares both first', async () => {
    const opened = await openDense(await openEmbeddingServer());
    await add(opened, 'Pears are ripe');
    await add(opened, 'Linker needs more memory');
    await add(opened, 'Fruit salad');
    await opened.dense.catchUp();
    expect((await titles(opened, 'fruit')).slice(0, 2)).toEqual(['Fruit salad', 'Pears are ripe']);
    expect((await titles(opened, 'apples'))[2]).toBe('Linker needs more memory');
    expect((await search(opened, 'fruit')).wordsOnly).toBeNull();
  });

  it('issue 31.6 scores words and meaning as one, as computed directly', async () => {
    const server = await openEmbeddingServer();
    const opened = await openDense(server);
    // A memory's angle to any query is its number in the permutation: the order by meaning is the permutation.
    let angles: readonly number[] = [];
    const angleOf = (place: number): number => 0.02 * (place + 1);
    server.vectorOf = (text) => {
      const number = Number(/lesson(\d+)/.exec(text)?.[1] ?? -1);
      const angle = number < 0 ? 0 : angleOf(angles[number] ?? 0);
      return [3 * Math.cos(angle), 3 * Math.sin(angle)];
    };
    const words = ['red', 'green', 'blue', 'cyan', 'teal', 'pink'];
    const count = 24;
    const permutation = fc.shuffledSubarray([...Array(count).keys()], { minLength: count });
    const contents = fc.array(fc.subarray(words), { minLength: count, maxLength: count });
    const asked = fc.subarray([...words, 'nowhere', 'unknown', 'absent'], { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(permutation, contents, asked, async (order, texts, query) => {
        const project = `/p/${Math.random()}`;
        angles = order;
        const filling = (number: number) => Array.from({ length: 9 }, (_, place) => `x${number}y${place}`).join(' ');
        const drafts = texts.map((own, number) =>
          draftOf(`lesson${number}`, { content: `${own.join(' ')} ${filling(number)}` }),
        );
        await opened.memories.storeAll(project, drafts, { ...MODEL, origin: 'import' });
        await opened.dense.catchUp();
        const all = await opened.memories.list(project, '', 100, false);
        const byWords = await opened.store.search(project, queryWords(query.join(' ')), NO_FILTER, 50);
        const best = byWords[0];
        const weight = Math.max(1e-9, 0.8 * Math.max(0, 1 - (best?.coverage ?? 0) / 0.5));
        const scores = new Map(
          all.map(({ id, title }) => {
            const match = byWords.find(({ memory }) => memory.id === id);
            const share = match === undefined ? 0 : match.relevance / (best?.relevance ?? 1);
            return [id, share + weight * Math.cos(angleOf(order[Number(title.slice('lesson'.length))] ?? 0))];
          }),
        );
        const found = await opened.memories.search(project, { query: query.join(' '), limit: 50, filter: NO_FILTER });
        expect(found.wordsOnly).toBeNull();
        expect(found.memories).toHaveLength(count);
        // Vectors are stored in 32 bits: equal but for that.
        const inOrder = found.memories.map(({ id }) => scores.get(id) ?? 0);
        for (const [index, score] of inOrder.entries())
          expect(score).toBeLessThanOrEqual((inOrder[index - 1] ?? Number.POSITIVE_INFINITY) + 1e-6);
      }),
      { numRuns: propertyRuns('door') },
    );
  });

  const matches = fc.uniqueArray(
    fc.record({
      id: fc.constantFrom(...'abcdefghij'),
      relevance: fc.double({ min: 0.01, max: 30, noNaN: true }),
      coverage: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    { selector: ({ id }) => id, minLength: 1 },
  );
  const cosines = fc.dictionary(fc.constantFrom(...'abcdefghijklmnop'), fc.double({ min: -1, max: 1, noNaN: true }));
  const order = (scores: ReadonlyMap<string, number>): string[] =>
    [...scores].sort(([, one], [, other]) => other - one).map(([id]) => id);

  it('issue 31.6 no model moves the order of words if the best match has half of the query', () => {
    fc.assert(
      fc.property(matches, cosines, (found, near) => {
        const words = [...found].sort((a, b) => b.relevance - a.relevance);
        const [best, ...rest] = words;
        if (best === undefined) return;
        const strong = [{ ...best, coverage: Math.max(0.5, best.coverage) }, ...rest];
        const gaps = words.every(({ relevance }, at) => at === 0 || (words[at - 1]?.relevance ?? 0) - relevance > 1e-6);
        if (!gaps) return;
        expect(order(mix(strong, new Map(Object.entries(near)))).slice(0, words.length)).toEqual(
          words.map(({ id }) => id),
        );
      }),
    );
  });

  it('issue 31.6 meaning never moves a memory up by more than four fifths of the best match', () => {
    fc.assert(
      fc.property(matches, cosines, (found, near) => {
        const scores = mix(found, new Map(Object.entries(near)));
        const best = Math.max(...found.map(({ relevance }) => relevance));
        for (const { id, relevance } of found)
          for (const other of scores.keys()) {
            const theirs = found.find((one) => one.id === other)?.relevance ?? 0;
            if (relevance - theirs > 0.8 * best + 1e-6) expect(scores.get(id)).toBeGreaterThan(scores.get(other) ?? 0);
          }
      }),
    );
  });

  it('issue 18 part 2 keeps filters, projects and what is set aside', async () => {
    const opened = await openDense(await openEmbeddingServer());
    const { memories } = opened;
    await add(opened, 'Pears are ripe', { tags: ['garden'] });
    const global = await add(opened, 'Apple trees', { outcome: 'failure' });
    await memories.promote(PROJECT, global);
    await memories.store('/home/me/other', draftOf('Pears of others'), MODEL);
    const failing = await add(opened, 'An apple a day');
    for (const session of ['a', 'b', 'c', 'd'])
      await memories.giveFeedback(
        PROJECT,
        { id: failing, outcome: 'failure', note: '' },
        { session, requestId: 'req_2' },
      );
    await opened.dense.catchUp();
    expect((await titles(opened, 'fruit')).sort()).toEqual(['Apple trees', 'Pears are ripe']);
    expect(await titles(opened, 'fruit', { tags: ['garden'] })).toEqual(['Pears are ripe']);
    expect(await titles(opened, 'fruit', { outcome: 'failure' })).toEqual(['Apple trees']);
    expect(await titles(opened, 'fruit', { scope: 'project' })).toEqual(['Pears are ripe']);
    expect(await titles(opened, 'fruit', { scope: 'global' })).toEqual(['Apple trees']);
    await memories.forget(PROJECT, [global]);
    expect(await titles(opened, 'fruit')).toEqual(['Pears are ripe']);
  });

  it('issue 18 part 2 compares exactly what the table holds, after any changes', async () => {
    const opened = await openDense(await openEmbeddingServer());
    const { vectors, memories, store, database } = opened;
    const one = await vectors.open({ model: 'm', revision: '', dimension: 3 });
    const other = await vectors.open({ model: 'm', revision: '2', dimension: 3 });
    const change = fc.record({
      kind: fc.constantFrom('add', 'add', 'vector', 'vector', 'forget', 'promote', 'aside', 'rewrite', 'search'),
      pick: fc.nat(1_000),
      values: fc.tuple(
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: -9, max: 9 }),
        fc.integer({ min: -9, max: 9 }),
      ),
      embedding: fc.constantFrom(one, one, other),
    });
    let number = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 5, maxLength: 40 }), async (changes) => {
        const project = `/p/${++number}`;
        const check = async (values: readonly number[], embedding: number): Promise<void> => {
          const vector = Float32Array.from(values);
          const rows = await database.read(
            `SELECT items.id AS id, vectors.vector AS vector FROM items JOIN vectors ON vectors.seq = items.seq
              WHERE (items.project = ? OR items.scope = 'global') AND items.is_quarantined = 0 AND vectors.embedding = ?`,
            project,
            embedding,
          );
          const expected = rows.map(({ id, vector: blob }) => {
            const stored = new Float32Array((blob as Uint8Array).slice().buffer);
            return { id: String(id), score: stored.reduce((sum, value, at) => sum + value * (vector[at] ?? 0), 0) };
          });
          expected.sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
          const asked = { project, embedding, vector, limit: 1_000 };
          const ids = expected.map(({ id }) => id);
          expect([...(await vectors.nearest({ ...asked, filter: NO_FILTER })).keys()]).toEqual(ids);
          expect([...(await vectors.nearest({ ...asked, filter: { ...NO_FILTER, sinceMs: 1 } })).keys()]).toEqual(ids);
        };
        for (const { kind, pick, values, embedding } of changes) {
          const all = await memories.list(project, '', 1_000, true);
          const item = all[pick % Math.max(1, all.length)];
          if (kind === 'add' || item === undefined)
            await memories.storeAll(project, [draftOf(`item ${++number}`)], { ...MODEL, origin: 'import' });
          else if (kind === 'vector') await vectors.put(embedding, [{ ...item, vector: Float32Array.from(values) }]);
          else if (kind === 'forget') await memories.forget(project, [item.id]);
          else if (kind === 'promote') await memories.promote(project, item.id);
          else if (kind === 'aside') await store.change(item, { isQuarantined: !item.isQuarantined });
          else if (kind === 'rewrite')
            await database.write([{ sql: 'UPDATE items SET content = ? WHERE id = ?', params: [`${pick}`, item.id] }]);
          else await check(values, embedding);
        }
        await check([1, 2, 3], one);
        await check([3, -2, 1], other);
      }),
      { numRuns: shapeRuns(40) },
    );
  });
});

describe('vectors', () => {
  it('issue 18 part 2 are made of what is stored, 2,000 characters of each, and again when a text changes', async () => {
    const server = await openEmbeddingServer();
    const opened = await openDense(server);
    const id = await add(opened, 'Pears are ripe', { content: 'z'.repeat(5_000), description: 'In autumn' });
    await opened.dense.catchUp();
    expect(server.texts.at(-1)).toBe(`Pears are ripe\nIn autumn\n${'z'.repeat(2_000)}`.slice(0, 2_000));
    expect(server.keys).toContain('Bearer open-sesame');
    const asked = server.texts.length;
    await opened.memories.giveFeedback(
      PROJECT,
      { id, outcome: 'success', note: '' },
      { session: 's', requestId: 'req_1' },
    );
    await opened.dense.catchUp();
    expect(server.texts).toHaveLength(asked);
    await opened.database.write([{ sql: `UPDATE items SET title = 'Plums' WHERE id = ?`, params: [id] }]);
    await opened.dense.catchUp();
    expect(server.texts.at(-1)).toContain('Plums');
  });

  it('issue 18 part 2 keep waiting if their text changed while the model worked', async () => {
    const server = await openEmbeddingServer();
    const opened = await openDense(server);
    const id = await add(opened, 'Old title');
    await opened.dense.probe();
    const [waiting] = await opened.vectors.unembedded(1, 10);
    await opened.database.write([{ sql: `UPDATE items SET title = 'New title' WHERE id = ?`, params: [id] }]);
    if (waiting === undefined) throw new Error('nothing waits');
    await opened.vectors.put(1, [{ ...waiting, vector: Float32Array.of(1, 0, 0) }]);
    expect(await opened.vectors.missing(1)).toBe(1);
  });

  it('issue 18 part 2 of two models, revisions or dimensions never mix', async () => {
    const server = await openEmbeddingServer();
    const first = await openDense(server);
    await add(first, 'Pears are ripe');
    await add(first, 'Linker needs more memory');
    await first.dense.catchUp();
    expect(await titles(first, 'fruit')).toHaveLength(2);
    await first.stop();
    for (const options of [{ model: 'another' }, { revision: '2' }, {}]) {
      if (Object.keys(options).length === 0) server.vectorOf = () => [1, 2, 3, 4, 5];
      const next = await openDense(server, { dir: first.dir, ...options });
      const { memories: found, wordsOnly } = await search(next, 'fruit');
      expect([found, wordsOnly]).toEqual([[], expect.stringContaining('have no vectors of')]);
      await next.dense.catchUp();
      expect(await titles(next, 'fruit')).toHaveLength(2);
      expect(await next.vectors.counts()).toMatchObject([{ count: 2, ...options }]);
      // The log says that everything is made again.
      expect(next.events).toContainEqual({
        event: 'memory.embedding_changed',
        fields: expect.objectContaining({ memories: 2 }),
      });
      await next.stop();
    }
  });

  it('issue 18 part 2 are made again when the model answers another dimension while contextd runs', async () => {
    const server = await openEmbeddingServer();
    const opened = await openDense(server);
    await add(opened, 'Pears are ripe');
    await opened.dense.start();
    await vi.waitFor(async () => expect((await opened.dense.status()).waiting).toBe(0));
    server.vectorOf = (text) => [/fruit|pear/i.test(text) ? 1 : 0, 1, 0, 0, 1];
    expect((await search(opened, 'fruit')).wordsOnly).toBe(
      'the memories have no vectors of topics with 5 numbers, but of topics with 3 numbers',
    );
    await vi.waitFor(async () => {
      opened.timer.pass(20);
      expect(await opened.dense.status()).toMatchObject({ identity: { dimension: 5 }, waiting: 0 });
    });
    expect(opened.events.map(({ event }) => event)).toEqual(['memory.embedding_changed']);
    expect((await search(opened, 'fruit')).wordsOnly).toBeNull();
  });

  it('issue 18 part 2 are made in the background, some at a time with rests, and go on after a restart', async () => {
    const server = await openEmbeddingServer();
    const first = await openDense(server);
    await first.memories.storeAll(
      PROJECT,
      Array.from({ length: 40 }, (_, index) => draftOf(`Lesson ${index}`)),
      { ...MODEL, origin: 'import' },
    );
    await first.dense.start();
    // One batch, and then it rests until the timer wakes it.
    await vi.waitFor(async () => expect((await first.dense.status()).waiting).toBe(24));
    await first.stop();
    server.texts.length = 0;
    const second = await openDense(server, { dir: first.dir });
    await second.dense.start();
    await vi.waitFor(async () => {
      second.timer.pass(20);
      expect((await second.dense.status()).waiting).toBe(0);
    });
    expect(server.texts.filter((text) => text.startsWith('Lesson'))).toHaveLength(24);
  });

  it('issue 18 part 2 are left out for a text that the model refuses, unless it refuses every text', async () => {
    const server = await openEmbeddingServer();
    const opened = await openDense(server);
    for (const title of ['Pears are ripe', 'Too odd for the model', 'Linker needs more memory'])
      await add(opened, title);
    server.fault = () => '400';
    await expect(opened.dense.catchUp()).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' });
    expect(await opened.vectors.missing(1)).toBe(3);
    server.fault = (texts) => (texts.some((text) => text.includes('odd')) ? '400' : null);
    await opened.dense.catchUp();
    expect((await opened.dense.status()).waiting).toBe(0);
    expect((await titles(opened, 'apple')).sort()).toEqual(['Linker needs more memory', 'Pears are ripe']);
    expect(opened.events.map(({ event }) => event)).toContain('memory.embedding_refused');
  });
});

describe('a model that fails', () => {
  const SAID: Record<string, RegExp> = {
    broken: /^the embedding model (cannot be reached|failed)/,
    hung: /^the embedding model did not answer within 151 ms$/,
    '500': /answered 500$/,
    '429': /answered 429$/,
    redirect: /^the embedding model failed/,
    truncated: /not JSON$/,
    html: /not JSON$/,
    nan: /not JSON$/,
    wrong: /have no vectors of topics with 4 numbers, but of topics with 3 numbers$/,
    short: /answered 0 vectors for 1 texts$/,
    zero: /answered a vector without a direction$/,
    text: /answered a vector that is no list of numbers$/,
  };

  it.each(EMBEDDING_FAULTS)('issue 18 part 2 leaves a search by words, which says so: %s', async (fault) => {
    const server = await openEmbeddingServer();
    const opened = await openDense(server);
    await add(opened, 'Fruit salad');
    await add(opened, 'Pears are ripe');
    await opened.dense.catchUp();
    server.fault = () => fault;
    const asked = server.texts.length;
    const pending = search(opened, 'fruit');
    if (fault === 'hung') {
      await vi.waitFor(() => expect(server.texts.length).toBeGreaterThan(asked));
      opened.timer.pass(QUERY_MS);
    }
    const { memories, wordsOnly } = await pending;
    expect(memories.map(({ title }) => title)).toEqual(['Fruit salad']);
    expect(wordsOnly).toMatch(SAID[fault] ?? /^never$/);
    // The answer to an agent says why, and stays short.
    const { answer, warnings } = await searchMemories(
      { project: PROJECT, session: 's', branch: null },
      { query: 'fruit' },
      { isCore: true },
      { memories: opened.memories, retrievals: NO_RETRIEVALS, countTokens: () => 1, clock: opened.clock },
    );
    expect(answer).not.toHaveProperty('degraded');
    const why = expect.stringMatching(/^searched by words only: the (embedding|memories)/);
    expect(warnings).toEqual([['FALLBACK_USED', why]]);
    server.fault = () => null;
    opened.clock.nowMs += 60_000;
    await opened.dense.catchUp();
    expect(await titles(opened, 'fruit')).toEqual(['Fruit salad', 'Pears are ripe']);
  });

  it('issue 18 part 2 is not asked again for half a second, then twice as long', async () => {
    const server = await openEmbeddingServer();
    const opened = await openDense(server);
    await add(opened, 'Fruit salad');
    await opened.dense.catchUp();
    await server.kill();
    expect((await search(opened, 'fruit')).wordsOnly).toMatch(/cannot be reached|failed/);
    await server.revive();
    const asked = server.texts.length;
    expect((await search(opened, 'fruit')).wordsOnly).toMatch(/cannot be reached|failed/);
    expect(server.texts).toHaveLength(asked);
    opened.clock.nowMs += 500;
    expect((await search(opened, 'fruit')).wordsOnly).toBeNull();
  });

  it('issue 18 part 2 never gets a secret of a query', async () => {
    const server = await openEmbeddingServer();
    const opened = await openDense(server);
    await opened.dense.probe();
    await search(opened, 'login with swordfish');
    expect(server.texts.at(-1)).toBe('query: login with [SECRET:test]');
    expect(server.texts.join()).not.toContain('swordfish');
  });
});

describe('a local model', () => {
  it('issue 18 part 2 whose package is not installed is named with the command that installs it', async () => {
    const dir = await makeTempDir();
    const { mkdir, writeFile } = await import('node:fs/promises');
    await mkdir(join(dir, 'onnx'));
    await writeFile(join(dir, 'onnx', 'model.onnx'), 'no model');
    const embedder = new LocalEmbedder({
      folder: dir,
      revision: '',
      prefixes: { query: '', document: '' },
      installRoot: '/opt/contextd',
    });
    onTestFinished(() => embedder.stop());
    await expect(embedder.embed(['text'], 'query', new AbortController().signal)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('@huggingface/transformers'),
      remedy: expect.stringContaining('ONNXRUNTIME_NODE_INSTALL=skip npm install --no-save --prefix /opt/contextd'),
    });
  });

  it('issue 18 part 2 whose folder has no model says which file is missing', async () => {
    const embedder = new LocalEmbedder({
      folder: '/nowhere/model',
      revision: '',
      prefixes: { query: '', document: '' },
      installRoot: '/opt/contextd',
    });
    onTestFinished(() => embedder.stop());
    await expect(embedder.embed(['text'], 'query', new AbortController().signal)).rejects.toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      message: expect.stringContaining('/nowhere/model/onnx/model.onnx'),
    });
  });
});
