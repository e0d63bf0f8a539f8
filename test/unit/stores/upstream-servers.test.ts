import { describe, expect, it } from 'vitest';
import { createUpstreamServerStore, type StoredServer } from '#src/stores/upstream-servers.js';
import { makeTempDir, openTestDatabase } from './open-stores.ts';

const SERVER: StoredServer = {
  project: '/p',
  name: 'demo',
  spec: {
    command: ['node', 'x.js'],
    url: '',
    usesCredential: false,
    hosts: ['npm'],
    paths: [{ path: '/srv/data', isWritable: true }],
    project: 'read',
  },
  variables: { KEY: 'v' },
  addedMs: 7,
  givenBy: 'ann',
  accepted: null,
  seen: [],
};

async function open() {
  const database = await openTestDatabase(await makeTempDir());
  const again = async () => {
    const store = createUpstreamServerStore({ database });
    await store.start();
    return store;
  };
  return { database, again, store: await again() };
}

describe('issue 34 the MCP servers that a person added', () => {
  it('issue 34 are the same after a restart, with what was accepted', async () => {
    const { store, again } = await open();
    const tools = [{ name: 'a', text: '{}' }];
    await store.set(SERVER);
    await store.set({ ...SERVER, name: 'other', accepted: tools, seen: [...tools, { name: 'b', text: '{}' }] });
    await store.set({ ...SERVER, name: 'empty', accepted: [], seen: [] });
    const kept = await again();
    expect(kept.list('/p')).toEqual(store.list('/p'));
    expect(kept.find('/p', 'demo')).toEqual(SERVER);
    expect(kept.find('/p', 'empty')?.accepted).toEqual([]);
    expect(kept.list('/other')).toEqual([]);
  });

  it('issue 34 are gone after they are removed, or their project is', async () => {
    const { store, again } = await open();
    await store.set(SERVER);
    await store.set({ ...SERVER, name: 'other' });
    await store.set({ ...SERVER, project: '/other' });
    await store.remove('/p', 'demo');
    expect((await again()).list('/p').map(({ name }) => name)).toEqual(['other']);
    await store.forget('/p');
    expect((await again()).all().map(({ project }) => project)).toEqual(['/other']);
  });

  for (const [column, text] of [
    ['spec', '{"command":["x"],"url":"","usesCredential":false,"hosts":[],"paths":[],"project":"everything"}'],
    ['spec', '[]'],
    ['variables', '"none"'],
    ['accepted', '[{"name":1}]'],
  ] as const)
    it(`issue 34 are not guessed if a row is damaged: ${column} ${text}`, async () => {
      const { database, store, again } = await open();
      await store.set(SERVER);
      await database.write([{ sql: `UPDATE upstream_servers SET ${column} = ?`, params: [text] }]);
      await expect(again()).rejects.toMatchObject({
        code: 'INTERNAL_ERROR',
        message: 'the state database holds a damaged MCP server demo of /p',
      });
    });
});
