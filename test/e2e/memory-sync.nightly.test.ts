import { expect, it, onTestFinished } from 'vitest';
import { openCaller } from '../helpers/daemon-caller.ts';
import { CTXD, install } from '../helpers/installation.ts';
import { openQdrant } from '../helpers/qdrant-server.ts';

it('NFR-2.1 issue 18 a daemon shares memories through a server, also one that is killed in the middle of a hundred', async () => {
  const qdrant = await openQdrant();
  const at = await install();
  const agent = await openCaller(at, 'sync');
  onTestFinished(async () => {
    agent.close();
    await at.remove();
  });
  const sync = async (action: string) => {
    const { code, stdout, stderr } = await at.run(CTXD, ['memory', 'sync', action, '--json']);
    return { code, stderr, state: stdout === '' ? null : JSON.parse(stdout) };
  };
  expect((await sync('status')).state).toMatchObject({ state: 'off' });
  expect(await sync('now')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no Qdrant server is configured'),
  });

  for (const [key, value] of [
    ['memory.qdrant.url', qdrant.url],
    ['memory.qdrant.collection', qdrant.collection],
    ['memory.qdrant.project_ids', JSON.stringify({ [at.project]: 'team-app' })],
  ] as const)
    expect(await at.run(CTXD, ['config', 'set', key, value])).toMatchObject({ code: 0 });
  await at.run(CTXD, ['server', 'restart']);

  const ids: string[] = [];
  for (let i = 0; i < 100; i++) {
    if (i === 40) await qdrant.kill();
    const title = `Lesson ${i} about topic${i}`;
    const { envelope: stored } = await agent.call('memory_store', {
      title,
      content: `Of number ${i}.`,
      outcome: 'success',
    });
    expect(stored.success).toBe(true);
    ids.push(String(stored.data.id));
    const { envelope: found } = await agent.call('memory_search', { query: `topic${i}` });
    expect(found.data.memories).toMatchObject([{ id: ids[i] }]);
  }
  const failing = await sync('now');
  expect(failing.code).toBe(1);
  expect((await sync('status')).state).toMatchObject({ state: 'failing', project_id: 'team-app' });
  expect((await at.run(CTXD, ['doctor'])).stdout).toContain('memories are stored and found on this machine meanwhile');

  await qdrant.revive();
  expect(await sync('now')).toMatchObject({ code: 0, state: { state: 'idle', pending: 0, fault: '' } });
  const count = async () =>
    (await qdrant.ask('POST', `/collections/${qdrant.collection}/points/count`, { exact: true })).body;
  expect(await count()).toMatchObject({ result: { count: 100 } });
  for (const [i, id] of ids.entries()) {
    const { envelope } = await agent.call('memory_search', { query: `topic${i}` });
    expect(envelope.data).toEqual({ memories: [expect.objectContaining({ id })] });
  }

  await qdrant.lose();
  expect(await sync('rebuild')).toMatchObject({ code: 0, state: { state: 'idle', pending: 0 } });
  expect(await count()).toMatchObject({ result: { count: 100 } });
}, 300_000);
