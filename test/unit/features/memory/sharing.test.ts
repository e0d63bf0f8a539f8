import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { acceptConfig } from '#src/config/load.js';
import { systemClock, systemTimer } from '#src/core/clock.js';
import type { JsonObject } from '#src/core/json.js';
import { silentLogger } from '#src/core/log.js';
import { Memories } from '#src/features/memory/memories.js';
import { MEMORY_MIGRATIONS } from '#src/features/memory/migrations.js';
import { Sharing } from '#src/features/memory/sharing.js';
import { MemoryStore } from '#src/features/memory/store.js';
import { createScrubber } from '#src/scrub/session-scrubber.js';
import { openQdrant, type TestQdrant } from '../../../helpers/qdrant-server.ts';
import { generate, seededRandom } from '../../../helpers/sample-patterns.ts';
import { createTestDatabase } from '../../../helpers/test-database.ts';
import { engine, scanner } from '../../../helpers/test-rules.ts';
import { makeTempDir } from '../../stores/open-stores.ts';
import { draftOf, MODEL } from './open-memories.ts';

const ROOT = '/home/ann/shop';

async function openSharing(settings: JsonObject) {
  const file = join(await makeTempDir(), 'memory.db');
  const database = createTestDatabase({ file, migrations: MEMORY_MIGRATIONS });
  const store = new MemoryStore({ database, logger: silentLogger });
  await store.start();
  onTestFinished(() => store.stop());
  let last = 0;
  const sharing = new Sharing({
    config: acceptConfig('config.json', { memory: { qdrant: settings } }).memory.qdrant,
    database,
    dense: null,
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
  await sharing.start();
  onTestFinished(() => sharing.stop());
  return { sharing, memories: new Memories({ store, clock: systemClock, shared: sharing.syncer }) };
}

const settingsFor = ({ url, collection }: TestQdrant) => ({ url, collection, project_ids: { [ROOT]: 'acme/shop' } });

it('FR-9.5 doctor says whether the Qdrant server answers, and what waits for it', async () => {
  const qdrant = await openQdrant();
  const { sharing, memories } = await openSharing(settingsFor(qdrant));
  await memories.store(ROOT, draftOf('Lesson'), MODEL);
  expect(await sharing.carryOut(ROOT, 'now')).toMatchObject({ state: 'idle', pending: 0, project_id: 'acme/shop' });
  expect(await sharing.check()).toEqual({
    status: 'ok',
    remedy: '',
    detail: `${qdrant.url}, collection ${qdrant.collection}: everything was sent`,
  });
  await qdrant.kill();
  await memories.store(ROOT, draftOf('Another thing'), MODEL);
  await expect(sharing.carryOut(ROOT, 'now')).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  const { status, detail } = await sharing.check();
  expect(status).toBe('warn');
  expect(detail).toMatch(
    /^the Qdrant server at \S+ cannot be reached \(\w+\); memories are stored and found on this machine meanwhile, 1 change waits to be sent$/,
  );
});

it('issue 18 part 6 is off without a server, and says how to set one', async () => {
  const { sharing } = await openSharing({});
  expect(await sharing.carryOut('', 'status')).toMatchObject({ state: 'off', url: '' });
  await expect(sharing.carryOut('', 'now')).rejects.toMatchObject({ code: 'ARGS_INVALID' });
  await expect(sharing.carryOut('', 'forget')).rejects.toMatchObject({ code: 'ARGS_INVALID' });
});

it('issue 18 part 6 masks the secrets in what others wrote', async () => {
  const qdrant = await openQdrant();
  const [ann, bob] = [await openSharing(settingsFor(qdrant)), await openSharing(settingsFor(qdrant))];
  const token = generate('ghp_[A-Za-z0-9]{36}', seededRandom(18));
  // The store takes what it is given: masking comes before it.
  const { id } = await ann.memories.store(
    ROOT,
    draftOf('Deploying', { content: `Use ${token}.`, tags: ['ci'] }),
    MODEL,
  );
  await ann.sharing.carryOut(ROOT, 'now');
  await bob.sharing.carryOut(ROOT, 'now');
  const [memory] = await bob.memories.read(ROOT, [id]);
  expect(memory).toMatchObject({ title: 'Deploying', content: 'Use [SECRET:github-pat].', tags: ['ci'] });
});

it('issue 18 part 6 reads the key from its file, sends it, and names the file if it is missing', async () => {
  const qdrant = await openQdrant();
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'contextd-key-')));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'key');
  const { sharing } = await openSharing({ ...settingsFor(qdrant), api_key_file: file });
  await expect(sharing.carryOut(ROOT, 'now')).rejects.toMatchObject({ message: expect.stringContaining(file) });
  writeFileSync(file, 'open-sesame\n');
  await sharing.carryOut(ROOT, 'now');
  expect(qdrant.keys).toContain('open-sesame');
});

it('issue 18 part 6 takes https, or http on this machine, and one id for one project', () => {
  const accept = (settings: JsonObject) => () => acceptConfig('config.json', { memory: { qdrant: settings } });
  for (const url of ['https://qdrant.example.com', 'https://qdrant.example.com:6333/team', 'http://127.0.0.1:6333'])
    expect(accept({ url })).not.toThrow();
  for (const url of ['http://qdrant.example.com', 'https://ann:key@qdrant.example.com', 'qdrant.example.com:6333', ''])
    expect(accept({ url })).toThrow('/memory/qdrant/url');
  expect(accept({ project_ids: { '/a': 'one', '/b': 'two' } })).not.toThrow();
  expect(accept({ project_ids: { '/a': 'one', '/b': 'one' } })).toThrow(
    '/memory/qdrant/project_ids/~1b must be another id than that of /a, but is "one"',
  );
  expect(accept({ project_ids: { 'not/absolute': 'one' } })).toThrow('/memory/qdrant/project_ids');
});
