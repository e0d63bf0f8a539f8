import { mkdir, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ARTIFACT_ID_PATTERN } from '#src/core/ids.js';
import { silentLogger } from '#src/core/log.js';
import { type ArtifactStore, createArtifactStore, type NewArtifact, SMALL_MAX_BYTES } from '#src/stores/artifacts.js';
import {
  DAY_MS,
  makeTempDir,
  openTestArtifacts,
  openTestDatabase,
  openTestKeys,
  SESSION_A,
  SESSION_B,
  type TestArtifacts,
  TestClock,
} from './open-stores.js';

const LARGE = 'large output\n'.repeat(20_000);

function put(artifacts: ArtifactStore, text: string, session = SESSION_A): Promise<string> {
  return whole(artifacts.put(session, 'req_1', 'safe_bash', [{ field: 'stdout', text }], 0));
}

async function whole({ id, committed }: NewArtifact): Promise<string> {
  await committed;
  return id;
}

async function readText(artifacts: ArtifactStore, id: string, session = SESSION_A): Promise<string> {
  const { bytes } = await artifacts.info(session, id);
  return (await artifacts.read(session, id, 0, bytes)).toString('utf8');
}

/** Paths of all content files, temporary ones included. */
async function listFiles({ dir }: TestArtifacts): Promise<string[]> {
  const entries = await readdir(join(dir, 'artifacts'), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function countContents({ database }: TestArtifacts): Promise<unknown> {
  const [row] = await database.read('SELECT (SELECT count(*) FROM contents) AS c, (SELECT count(*) FROM bodies) AS b');
  return row;
}

describe('an artifact', () => {
  it('is stored whole under a random id, its streams one after another', async () => {
    const { artifacts } = await openTestArtifacts(await makeTempDir());
    const streams = [
      { field: 'stdout', text: 'größer\n' },
      { field: 'stderr', text: '💥' },
    ];
    const id = await whole(artifacts.put(SESSION_A, 'req_1', 'safe_bash', streams, 5));
    expect(id).toMatch(ARTIFACT_ID_PATTERN);
    expect(await artifacts.info(SESSION_A, id)).toEqual({
      parts: [
        { field: 'stdout', bytes: 9 },
        { field: 'stderr', bytes: 4 },
      ],
      bytes: 13,
      droppedBytes: 5,
      tool: 'safe_bash',
      revision: 0,
    });
    expect(await readText(artifacts, id)).toBe('größer\n💥');
  });

  it.each([
    ['nothing', ''],
    ['the largest in the database', 'x'.repeat(SMALL_MAX_BYTES)],
    ['the smallest in a file', 'x'.repeat(SMALL_MAX_BYTES + 1)],
    ['lone surrogates at every place', '\ud800a'.repeat(140_000)],
    ['pairs at every place, shifted by one', `a${'💥'.repeat(300_000)}`],
  ])('is returned as its UTF-8: %s', async (_, text) => {
    const { artifacts } = await openTestArtifacts(await makeTempDir());
    const id = await put(artifacts, text);
    expect((await readText(artifacts, id)) === Buffer.from(text).toString()).toBe(true);
  });

  it.each([
    ['database', LARGE.slice(0, 1000)],
    ['file', LARGE],
  ])('is read by any byte range, from the %s', async (_, text) => {
    const { artifacts } = await openTestArtifacts(await makeTempDir());
    const id = await put(artifacts, text);
    const whole = Buffer.from(text);
    const position = fc.nat(whole.length + 10);
    await fc.assert(
      fc.asyncProperty(position, position, async (a, b) => {
        const [start, end] = [Math.min(a, b), Math.max(a, b)];
        expect((await artifacts.read(SESSION_A, id, start, end)).equals(whole.subarray(start, end))).toBe(true);
      }),
    );
    await expect(artifacts.read(SESSION_A, id, 5, 4)).rejects.toMatchObject({ code: 'ARGS_INVALID' });
    await expect(artifacts.read(SESSION_A, id, -1, 4)).rejects.toMatchObject({ code: 'ARGS_INVALID' });
  });

  it('does not exist for another session or under a made-up id', async () => {
    const { artifacts } = await openTestArtifacts(await makeTempDir());
    const id = await put(artifacts, 'secret of a');
    for (const [session, asked] of [
      [SESSION_B, id],
      [SESSION_A, 'art_0000000000000000'],
      [SESSION_A, '../../etc/passwd'],
    ] as const) {
      await expect(artifacts.info(session, asked)).rejects.toMatchObject({ code: 'NOT_FOUND' });
      await expect(artifacts.read(session, asked, 0, 1)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    }
  });

  it('survives a restart', async () => {
    const dir = await makeTempDir();
    const first = await openTestArtifacts(dir);
    const ids = [await put(first.artifacts, 'small'), await put(first.artifacts, LARGE)];
    await first.database.stop();
    const { artifacts } = await openTestArtifacts(dir);
    expect(await readText(artifacts, ids[0] ?? '')).toBe('small');
    expect(await readText(artifacts, ids[1] ?? '')).toBe(LARGE);
  });

  it('loses none of 200 concurrent puts', async () => {
    const { artifacts } = await openTestArtifacts(await makeTempDir());
    const texts = Array.from({ length: 200 }, (_, i) => (i % 10 === 0 ? `${i} ${LARGE}` : `output ${i}`));
    const ids = await Promise.all(texts.map((text) => put(artifacts, text)));
    expect(new Set(ids).size).toBe(200);
    expect(await Promise.all(ids.map((id) => readText(artifacts, id)))).toEqual(texts);
  });
});

describe('contents', () => {
  it('are stored once, however many artifacts and sessions hold them', async () => {
    const stores = await openTestArtifacts(await makeTempDir());
    const { artifacts } = stores;
    const puts = [SESSION_A, SESSION_B, SESSION_A].flatMap((session) => [
      put(artifacts, 'same', session),
      put(artifacts, LARGE, session),
    ]);
    expect(new Set(await Promise.all(puts)).size).toBe(6);
    expect(await countContents(stores)).toEqual({ c: 2, b: 1 });
    expect(await listFiles(stores)).toHaveLength(1);
  });

  it('are the same if the same bytes are split over streams differently, and keep their own parts', async () => {
    const stores = await openTestArtifacts(await makeTempDir());
    const one = await put(stores.artifacts, 'ab');
    const streams = [
      { field: 'stdout', text: 'a' },
      { field: 'stderr', text: 'b' },
    ];
    const two = await whole(stores.artifacts.put(SESSION_A, 'req_2', 't', streams, 0));
    expect(await countContents(stores)).toEqual({ c: 1, b: 1 });
    expect((await stores.artifacts.info(SESSION_A, one)).parts).toHaveLength(1);
    expect((await stores.artifacts.info(SESSION_A, two)).parts).toHaveLength(2);
  });

  it('have files of mode 0600 in folders of mode 0700, with names that differ between homes', async () => {
    const names = new Set<string>();
    for (const stores of [await openTestArtifacts(await makeTempDir()), await openTestArtifacts(await makeTempDir())]) {
      await put(stores.artifacts, LARGE);
      const [path = ''] = await listFiles(stores);
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      expect((await stat(join(path, '..'))).mode & 0o777).toBe(0o700);
      expect(path).toMatch(/\/artifacts\/[0-9a-f]{2}\/[0-9a-f]{62}$/);
      names.add(path.slice(-65));
    }
    expect(names.size).toBe(2);
  });

  it('count as expired if their file is missing or incomplete, and the next put of the same content restores them', async () => {
    const stores = await openTestArtifacts(await makeTempDir());
    const id = await put(stores.artifacts, LARGE);
    const [path = ''] = await listFiles(stores);
    await truncate(path, 100);
    await expect(stores.artifacts.read(SESSION_A, id, 0, 10)).rejects.toMatchObject({ code: 'EXPIRED' });
    await rm(path);
    await expect(stores.artifacts.read(SESSION_A, id, 0, 10)).rejects.toMatchObject({ code: 'EXPIRED' });
    await put(stores.artifacts, LARGE);
    expect(await readText(stores.artifacts, id)).toBe(LARGE);
  });
});

describe('pruning', () => {
  it('removes what is older than the limit: EXPIRED with the remedy, NOT_FOUND for another session', async () => {
    const stores = await openTestArtifacts(await makeTempDir());
    const { artifacts, clock } = stores;
    const old = [await put(artifacts, 'small'), await put(artifacts, LARGE)];
    clock.nowMs += 6 * DAY_MS;
    const young = [await put(artifacts, 'young'), await put(artifacts, LARGE)];
    clock.nowMs += 1 * DAY_MS + 1;
    expect(await artifacts.prune()).toBe(2);
    for (const id of old) {
      await expect(artifacts.info(SESSION_A, id)).rejects.toMatchObject({
        code: 'EXPIRED',
        remedy: 'Run the command again.',
      });
      await expect(artifacts.read(SESSION_B, id, 0, 1)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    }
    expect(await readText(artifacts, young[0] ?? '')).toBe('young');
    expect(await readText(artifacts, young[1] ?? '')).toBe(LARGE);
    expect(await countContents(stores)).toEqual({ c: 2, b: 1 });
    clock.nowMs += 8 * DAY_MS;
    expect(await artifacts.prune()).toBe(2);
    expect(await countContents(stores)).toEqual({ c: 0, b: 0 });
    expect(await listFiles(stores)).toEqual([]);
  });

  it('forgets tombstones after 30 days', async () => {
    const { artifacts, clock } = await openTestArtifacts(await makeTempDir());
    const id = await put(artifacts, 'small');
    clock.nowMs += 8 * DAY_MS;
    await artifacts.prune();
    clock.nowMs += 31 * DAY_MS;
    await artifacts.prune();
    await expect(artifacts.info(SESSION_A, id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('removes the least recently used until the quota holds; a read counts as a use', async () => {
    const stores = await openTestArtifacts(await makeTempDir(), 1_000_000);
    const { artifacts, clock } = stores;
    const ids: string[] = [];
    for (const letter of ['a', 'b', 'c']) {
      ids.push(await put(artifacts, letter.repeat(300_000)));
      clock.nowMs += DAY_MS / 4;
    }
    await artifacts.read(SESSION_A, ids[0] ?? '', 0, 1);
    const newest = await put(artifacts, 'd'.repeat(300_000));
    await artifacts.prune();
    await expect(artifacts.info(SESSION_A, ids[1] ?? '')).rejects.toMatchObject({ code: 'EXPIRED' });
    for (const id of [ids[0], ids[2], newest]) await artifacts.info(SESSION_A, id ?? '');
    expect(await listFiles(stores)).toHaveLength(3);
  });

  it('starts by itself if a put exceeds the quota', async () => {
    const stores = await openTestArtifacts(await makeTempDir(), 100_000);
    for (let i = 0; i < 20; i++) {
      stores.clock.nowMs += 1;
      await put(stores.artifacts, `${i}`.padEnd(10_000, 'x'));
    }
    await stores.artifacts.stop();
    const [row] = await stores.database.read('SELECT sum(bytes) AS bytes FROM contents');
    expect(row?.bytes).toBeLessThanOrEqual(100_000);
  });

  it('never breaks a put of content that it is removing', async () => {
    const stores = await openTestArtifacts(await makeTempDir());
    const { artifacts, clock } = stores;
    for (let round = 0; round < 15; round++) {
      await Promise.all([put(artifacts, 'small'), put(artifacts, LARGE)]);
      clock.nowMs += 8 * DAY_MS;
      const pruning = artifacts.prune();
      const ids = await Promise.all([put(artifacts, 'small'), put(artifacts, LARGE)]);
      await pruning;
      expect(await readText(artifacts, ids[0])).toBe('small');
      expect(await readText(artifacts, ids[1])).toBe(LARGE);
    }
  });
});

describe('starting', () => {
  it('sweeps temporary files, and the first prune sweeps files without a row', async () => {
    const dir = await makeTempDir();
    const first = await openTestArtifacts(dir);
    const id = await put(first.artifacts, LARGE);
    await first.database.stop();
    const torn = join(dir, 'artifacts', 'tmp', 'torn');
    const orphan = join(dir, 'artifacts', 'ab', 'c'.repeat(62));
    await mkdir(join(orphan, '..'), { recursive: true });
    for (const path of [torn, orphan]) await writeFile(path, 'half');
    const second = await openTestArtifacts(dir);
    await expect(stat(torn)).rejects.toMatchObject({ code: 'ENOENT' });
    await second.artifacts.prune();
    await expect(stat(orphan)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await readText(second.artifacts, id)).toBe(LARGE);
  });

  it('names the place that it cannot write', async () => {
    const dir = await makeTempDir();
    await writeFile(join(dir, 'file'), '');
    const database = await openTestDatabase(dir);
    const store = createArtifactStore({
      database,
      keys: await openTestKeys(database),
      dir: join(dir, 'file', 'artifacts'),
      limits: { max_age_days: 7, max_bytes: 1000 },
      clock: new TestClock(),
      logger: silentLogger,
    });
    await expect(store.start()).rejects.toMatchObject({
      code: 'PATH_INVALID',
      message: expect.stringContaining(join(dir, 'file', 'artifacts')),
    });
  });
});

describe('SEC-1.1 an artifact in which a secret was found later', () => {
  it.each([
    ['small', 'before value after\n', 'before [SECRET_1] after\n'],
    ['large', `value\n${LARGE}`, `[SECRET_1]\n${LARGE}`],
    ['large, then small', `value\n${LARGE}`, '[SECRET_1]\n'],
  ])('gets another text under its id, and nothing is left of the old text: %s', async (_what, former, text) => {
    const opened = await openTestArtifacts(await makeTempDir());
    const { artifacts } = opened;
    const id = await put(artifacts, former);
    await artifacts.replace(SESSION_A, id, [{ field: 'stdout', text }]);
    expect(await readText(artifacts, id)).toBe(text);
    expect(await artifacts.info(SESSION_A, id)).toMatchObject({ revision: 1, bytes: text.length, tool: 'safe_bash' });
    const small = text.length <= SMALL_MAX_BYTES;
    expect(await countContents(opened)).toEqual({ c: 1, b: small ? 1 : 0 });
    expect(await listFiles(opened)).toHaveLength(small ? 0 : 1);
  });

  it('stays unchanged for every other session with the same content, and no other session can change it', async () => {
    const { artifacts } = await openTestArtifacts(await makeTempDir());
    const [mine, theirs] = [await put(artifacts, 'same\n'), await put(artifacts, 'same\n', SESSION_B)];
    await artifacts.replace(SESSION_A, mine, [{ field: 'stdout', text: 'other\n' }]);
    expect(await readText(artifacts, theirs, SESSION_B)).toBe('same\n');
    const change = artifacts.replace(SESSION_A, theirs, [{ field: 'stdout', text: 'x' }]);
    await expect(change).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await readText(artifacts, theirs, SESSION_B)).toBe('same\n');
  });
});
