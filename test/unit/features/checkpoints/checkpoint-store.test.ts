import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SessionRef } from '#src/call/session.js';
import type { Checkpoint } from '#src/features/checkpoints/checkpoint.js';
import { notKept } from '#src/features/checkpoints/checkpoint-files.js';
import { CheckpointStore, KEPT_PER_SESSION } from '#src/features/checkpoints/checkpoint-store.js';
import { factsOf } from '#src/features/checkpoints/session-facts.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';
import {
  DAY_MS,
  makeTempDir,
  openTestArtifacts,
  openTestDatabase,
  SESSION_A,
  SESSION_B,
} from '../../stores/open-stores.ts';

let made = 0;

function checkpointOf(session: SessionRef, change: Partial<Checkpoint> = {}): Checkpoint {
  made += 1;
  return {
    id: `cp_${String(made).padStart(10, '0')}`,
    session,
    name: '',
    cause: 'asked',
    position: made,
    createdMs: made,
    body: {
      note: 'n',
      facts: factsOf([]),
      trail: [],
      madeWith: { contextd: '1', config: 'c', tools: {} },
      files: notKept('none were kept'),
    },
    ...change,
  };
}

describe('issue 19 part 6: stored checkpoints', () => {
  it('keep their outputs from age and quota, until they are removed themselves', async () => {
    const { artifacts, database, clock } = await openTestArtifacts(await makeTempDir(), 100_000);
    const store = new CheckpointStore({ database, pinMaxBytes: 50_000 });
    const put = async (text: string): Promise<string> => {
      const { id, committed } = artifacts.put(SESSION_A, 'req_1', 'safe_bash', [{ field: 'stdout', text }], 0);
      await committed;
      return id;
    };
    const [kept, large, loose] = [
      await put('k'.repeat(30_000)),
      await put('l'.repeat(30_000)),
      await put('o'.repeat(10)),
    ];
    // The second does not fit beside the first.
    await store.save(checkpointOf(SESSION_A), '', [kept, large]);
    for (const text of ['a', 'b', 'c']) await put(text.repeat(30_000));
    await artifacts.prune();
    clock.nowMs += 30 * DAY_MS;
    await artifacts.prune();
    const bytesOf = async (id: string) =>
      artifacts.info(SESSION_A, id).then(
        ({ bytes }) => bytes,
        () => 0,
      );
    expect(await Promise.all([kept, large, loose].map(bytesOf))).toEqual([30_000, 0, 0]);
    await store.forget(SESSION_A.project);
    await artifacts.prune();
    expect(await bytesOf(kept)).toBe(0);
  });

  it('are bounded: the newest stay, those with a name longer, and lists never have those of another session or branch', async () => {
    const store = new CheckpointStore({ database: await openTestDatabase(await makeTempDir()), pinMaxBytes: 0 });
    const other = checkpointOf(SESSION_B);
    const branch = checkpointOf({ ...SESSION_A, branch: 'br_1' });
    const named = checkpointOf(SESSION_A, { name: 'first' });
    for (const one of [other, branch, named]) await store.save(one, '', []);
    const many = Array.from({ length: KEPT_PER_SESSION + 5 }, () => checkpointOf(SESSION_A));
    for (const one of many) await store.save(one, '', []);
    const left = [...many.slice(-KEPT_PER_SESSION + 1).reverse(), named].map(({ id }) => id);
    expect((await store.list(SESSION_A)).map(({ id }) => id)).toEqual(left);
    expect((await store.list(SESSION_B)).map(({ id }) => id)).toEqual([other.id]);
    expect((await store.read(SESSION_A.project, branch.id)).session.branch).toBe('br_1');
    await expect(store.read('/another/project', branch.id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    for (let n = 0; n < KEPT_PER_SESSION; n++) await store.save(checkpointOf(SESSION_A, { name: 'x' }), '', []);
    const last = checkpointOf(SESSION_A);
    await store.save(last, '', []);
    expect((await store.list(SESSION_A))[0]?.id).toBe(last.id);
    const [next, tree] = [checkpointOf(SESSION_A), 'a'.repeat(40)];
    const files = { ...notKept(''), tree };
    await store.save({ ...next, body: { ...next.body, files } }, '', [], last.id);
    expect((await store.list(SESSION_A)).map(({ id }) => id)).toEqual(expect.arrayContaining([last.id, next.id]));
    expect(await store.trees(SESSION_A.project)).toEqual(new Set([tree]));
  });

  it('a full disk loses nothing that was saved, and half of nothing', async () => {
    const database = await openTestDatabase(await makeTempDir());
    const store = new CheckpointStore({ database, pinMaxBytes: 0 });
    await store.save(checkpointOf(SESSION_A), '', []);
    const [row] = await database.read('PRAGMA page_count');
    await database.write([{ sql: `PRAGMA max_page_count = ${Number(row?.page_count) + 20}`, params: [] }]);
    const big = (): Checkpoint => {
      const one = checkpointOf(SESSION_A);
      return { ...one, body: { ...one.body, note: 'x'.repeat(30_000) } };
    };
    const saved: string[] = [];
    let fault: unknown;
    while (fault === undefined) {
      const one = big();
      await store.save(one, '', []).then(
        () => saved.push(one.id),
        (thrown) => {
          fault = thrown;
        },
      );
    }
    expect(fault).toMatchObject({ code: 'STORAGE_FULL' });
    expect((await store.list(SESSION_A)).map(({ id }) => id).slice(0, -1)).toEqual(saved.reverse());
    for (const id of saved) expect((await store.read(SESSION_A.project, id)).body.note).toHaveLength(30_000);
    await database.write([{ sql: 'PRAGMA max_page_count = 1000000', params: [] }]);
    await store.save(big(), '', []);
  });

  it('any change of a byte is noticed', async () => {
    const database = await openTestDatabase(await makeTempDir());
    const store = new CheckpointStore({ database, pinMaxBytes: 0 });
    const one = checkpointOf(SESSION_A, { name: 'a name' });
    await store.save(one, '', []);
    const [row] = await database.read('SELECT body FROM checkpoints');
    const body = String(row?.body);
    const write = (text: string) => database.write([{ sql: 'UPDATE checkpoints SET body = ?', params: [text] }]);
    await fc.assert(
      fc.asyncProperty(fc.nat(body.length - 1), fc.string({ minLength: 1, maxLength: 1 }), async (place, character) => {
        const changed = body.slice(0, place) + character + body.slice(place + 1);
        await write(changed);
        const read = store.read(SESSION_A.project, one.id);
        if (changed === body) expect(await read).toMatchObject(one);
        else await expect(read).rejects.toMatchObject({ code: 'INTEGRITY_FAILED' });
      }),
      { numRuns: propertyRuns('slow') },
    );
  });
});
