import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { ERAS, RawServer } from '../helpers/mcp-client.ts';

let at: Installation;
let server: RawServer;

beforeAll(async () => {
  at = await install({ warm: true });
});

afterEach(() => server.close());
afterAll(() => at.remove());

/** A server that a client of 2025 has greeted. */
async function greeted(): Promise<RawServer> {
  server = new RawServer(at);
  await server.initialize();
  return server;
}

/** The server still answers as it should. */
async function isUnharmed(id: number): Promise<void> {
  server.call(id, 'safe_bash', { command: 'echo still here' });
  expect((await server.answer(id)).result).toEqual({ content: [{ type: 'text', text: 'still here\n' }] });
}

it('issue 34: a tool that does not exist is an error of its call only', async () => {
  await greeted();
  for (const [id, name] of ['nope', 'x'.repeat(10_000), '../safe_bash', 'constructor', ''].entries())
    server.call(id, name, {});
  for (const id of [0, 1, 2, 3, 4]) expect((await server.answer(id)).result).toMatchObject({ isError: true });
  await isUnharmed(5);
});

it('issue 34: takes arguments of 5 MB', async () => {
  await greeted();
  server.call(1, 'safe_write', { path: 'large.txt', content: 'x'.repeat(5_000_000) });
  expect((await server.answer(1)).result).toMatchObject({ content: [{ text: expect.stringContaining('5000000') }] });
  await isUnharmed(2);
});

it('issue 34: arguments nested 100,000 levels deep are refused', async () => {
  await greeted();
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  server.write(
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe_bash","arguments":{"command":${deep}}}}`,
  );
  const { result, error } = await server.answer(1);
  expect(result ?? error).toMatchObject(result === undefined ? { code: expect.any(Number) } : { isError: true });
  await isUnharmed(2);
});

it('issue 34: a message of more than 32 MiB ends the server with status 1 and a line that names the limit', async () => {
  await greeted();
  const exited = once(server.process, 'close');
  // The server stops reading in the middle of it.
  server.process.stdin?.on('error', () => {});
  server.write('x'.repeat(34_000_000));
  expect(await exited).toEqual([1, null]);
  expect(server.stderr).toContain('a message of the client has more than 33554432 bytes');
  expect(server.stderr).not.toContain('await');
});

it('issue 34: what is no request is passed over', async () => {
  await greeted();
  const lines = [
    'not json',
    '',
    '[]',
    'null',
    '{"jsonrpc":"1.0","id":1,"method":"tools/list"}',
    '{"jsonrpc":"2.0","id":{},"method":"tools/list"}',
    '{"jsonrpc":"2.0","method":"notifications/unknown"}',
    // Answers that nobody asked for, one of them twice.
    '{"jsonrpc":"2.0","id":7,"result":{}}',
    '{"jsonrpc":"2.0","id":7,"result":{}}',
    '{"jsonrpc":"2.0","id":8,"error":{"code":1,"message":"no"}}',
  ];
  for (const line of lines) server.write(line);
  server.send({ id: 'x', method: 'no/such/method' });
  server.send({ id: 'y', method: 'tools/call', params: { name: 7 } });
  expect((await server.answer('x')).error?.code).toBe(-32601);
  expect((await server.answer('y')).error?.code).toBe(-32602);
  await isUnharmed(9);
});

it('issue 34: a cancelled call ends with what it started and is not answered; cancelling it again changes nothing', async () => {
  await greeted();
  server.call(1, 'safe_bash', { command: 'echo begun; sleep 600' }, { _meta: { progressToken: 'p' } });
  const progress = await server.next(({ method }) => method === 'notifications/progress');
  expect(progress.params).toEqual({ progressToken: 'p', progress: 1, message: 'begun' });
  const cancel = { method: 'notifications/cancelled', params: { requestId: 1, reason: 'enough' } };
  server.send(cancel);
  server.send(cancel);
  await isUnharmed(2);
  // OpenCode cancels every call that was answered.
  server.send({ method: 'notifications/cancelled', params: { requestId: 2 } });
  server.send({ method: 'notifications/cancelled', params: { requestId: 99 } });
  await isUnharmed(3);
  const { stdout } = await at.run(CTXD, ['audit', 'tail', '--json']);
  expect(JSON.parse(stdout)).toContainEqual(
    expect.objectContaining({ door: 'mcp', error_code: 'CANCELLED', input: { command: 'echo begun; sleep 600' } }),
  );
  const { stdout: running } = await at.run(CTXD, ['ps', '--json']);
  expect(JSON.parse(running)).toEqual({ items: [] });
  expect(server.lines.filter(({ id }) => id === 1)).toEqual([]);
});

it('issue 34: a client that hangs up cancels its calls, and the server ends', async () => {
  await greeted();
  server.call(1, 'safe_bash', { command: 'echo begun; sleep 500' }, { _meta: { progressToken: 1 } });
  await server.next(({ method }) => method === 'notifications/progress');
  expect(await server.close()).toBe(0);
  expect(server.stderr).toBe('');
});

it('issue 34: a first message of an unknown revision names those that are spoken', async () => {
  server = new RawServer(at);
  const [key, clientInfo] = ['io.modelcontextprotocol', { name: 't', version: '1' }];
  const _meta = {
    [`${key}/protocolVersion`]: '2031-01-01',
    [`${key}/clientCapabilities`]: {},
    [`${key}/clientInfo`]: clientInfo,
  };
  server.send({ id: 1, method: 'server/discover', params: { _meta } });
  expect((await server.answer(1)).error).toMatchObject({ code: -32022, data: { supported: [ERAS[1]] } });
});
