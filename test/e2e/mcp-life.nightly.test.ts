import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { CTXD, type Installation, install, isAlive } from '../helpers/installation.ts';
import { connectClient, ERAS, RawServer, textOf } from '../helpers/mcp-client.ts';
import { AT_NIGHT } from '../helpers/property-runs.ts';

let at: Installation;

beforeAll(async () => {
  at = await install();
});

afterAll(() => at.remove());

it('issue 34: a server that waits starts no daemon that a person stopped', async () => {
  const server = new RawServer(at);
  await server.initialize();
  server.send({ id: 1, method: 'tools/list' });
  await server.answer(1);
  const { pid } = await at.status();
  await at.run(CTXD, ['server', 'stop']);
  server.send({ id: 2, method: 'ping' });
  await server.answer(2);
  expect((await at.run(CTXD, ['server', 'status'])).code).toBe(69);
  expect(isAlive(pid)).toBe(false);
  await server.close();
});

it('issue 34: a daemon that a server starts is no descendant of it, because clients end all of them with the server', async () => {
  await at.run(CTXD, ['server', 'stop']);
  const server = new RawServer(at);
  await server.initialize();
  server.call(1, 'safe_bash', { command: 'echo begun' });
  await server.answer(1);
  const { pid } = await at.status();
  await vi.waitFor(() => expect(ancestorsOf(pid)).not.toContain(server.process.pid));
  await server.close();
});

// A client of the other era loses its daemon in mcp-passthrough-life.nightly.test.ts.
it.each(AT_NIGHT ? ERAS : ERAS.slice(-1))(
  'issue 34: a server of %s outlives its daemon: the next call starts another',
  async (era) => {
    const client = await connectClient(at, era);
    const bash = (command: string) => client.callTool({ name: 'safe_bash', arguments: { command } });
    await client.listTools();
    expect(textOf(await bash('echo one'))).toBe('one\n');
    const { pid } = await at.status();
    process.kill(pid, 'SIGKILL');
    expect(textOf(await bash('echo two'))).toBe('two\n');
    expect((await at.status()).pid).not.toBe(pid);
    await at.run(CTXD, ['server', 'stop']);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('safe_bash');
    await client.close();
  },
);

it('issue 34: a call that was running when its daemon was killed is INTERRUPTED and runs once', async () => {
  const server = new RawServer(at);
  await server.initialize();
  const command = 'echo x >> ran; echo begun; sleep 600';
  server.call(1, 'safe_bash', { command }, { _meta: { progressToken: 1 } });
  await server.next(({ method }) => method === 'notifications/progress');
  const { pid } = await at.status();
  process.kill(pid, 'SIGKILL');
  const { result } = await server.answer(1);
  expect(result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('the daemon ended before safe_bash had answered') }],
  });
  server.call(2, 'safe_bash', { command: 'cat ran' });
  expect((await server.answer(2)).result).toEqual({ content: [{ type: 'text', text: 'x\n' }] });
  await server.close();
});

function ancestorsOf(pid: number): number[] {
  const parent = Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return parent <= 1 ? [parent] : [parent, ...ancestorsOf(parent)];
}
