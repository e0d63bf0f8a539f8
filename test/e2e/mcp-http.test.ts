import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AskOptions, askHttp } from '../helpers/http-door.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { ERAS, type Era, newClient, textOf } from '../helpers/mcp-client.ts';

let at: Installation;
let url: string;
let token: string;
/** For one project, and with the permission to read only. */
let reading: string;

beforeAll(async () => {
  at = await install({ warm: true });
  const printed = async (...words: string[]) => (await at.run(CTXD, ['http', ...words])).stdout.trim();
  token = await printed('token', '--name', 'client', '--allow', 'execute', '--project', at.project);
  reading = await printed('token', '--name', 'reader', '--allow', 'read', '--project', at.project);
  url = await printed('url');
});

afterAll(() => at.remove());

const ACCEPT = { accept: 'application/json, text/event-stream' };
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

function ask(body: unknown, options: AskOptions = {}, path = '/mcp') {
  return askHttp(url, path, { token, body, ...options, headers: { ...ACCEPT, ...options.headers } });
}

async function connect(era: Era, query = ''): Promise<Client> {
  const client = newClient(era);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp?session=over-http${query}`), { requestInit }),
  );
  return client;
}

/** A client is gone before the daemon knows it. */
function nothingRuns(): Promise<void> {
  const running = async () => JSON.parse((await at.run(CTXD, ['ps', '--json'])).stdout);
  return expect.poll(running, { timeout: 20_000 }).toEqual({ items: [] });
}

describe.each(ERAS)('a client of %s over HTTP', (era) => {
  let client: Client;

  beforeAll(async () => {
    client = await connect(era);
  });

  afterAll(() => client.close());

  it('issue 34: sees the surface that its address names, and calls through it', async () => {
    const compact = await connect(era, '&surface=compact');
    const { tools } = await compact.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['batch', 'call', 'schema', 'search']);
    const input = { command: 'seq 1 9000' };
    const result = await compact.callTool({ name: 'call', arguments: { operation: 'safe_bash', input } });
    expect(textOf(result)).toMatch(/rest: call \{"continuation":"\d+"\}\]\n$/);
    await compact.close();
    expect((await ask(LIST, {}, '/mcp?surface=everything')).status).toBe(400);
  });

  it('issue 34: lists and calls the tools of the project of its token', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('safe_bash');
    const command = `echo over http ${era}; pwd; exit 4`;
    const result = await client.callTool({ name: 'safe_bash', arguments: { command } });
    expect(textOf(result)).toBe(`over http ${era}\n${at.project}\n[contextd exit 4]\n`);
    const { stdout } = await at.run(CTXD, ['audit', 'tail', '--json']);
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ door: 'mcp', token: 'client', session: 'over-http', input: { command } }),
    );
  });

  it('issue 34: gets progress, and what it started ends when it hangs up', async () => {
    const leaving = await connect(era);
    const begun = Promise.withResolvers<string | undefined>();
    const call = leaving.callTool(
      { name: 'safe_bash', arguments: { command: `echo begun ${era}; sleep 600` } },
      { onprogress: ({ message }) => begun.resolve(message) },
    );
    const ended = expect(call).rejects.toThrow();
    expect(await begun.promise).toBe(`begun ${era}`);
    await leaving.close();
    await ended;
    await nothingRuns();
  });
});

it('issue 34: a client of 2026-07-28 cancels a call over HTTP', async () => {
  const client = await connect('2026-07-28');
  const controller = new AbortController();
  const call = client.callTool(
    { name: 'safe_bash', arguments: { command: 'echo begun; sleep 600' } },
    { signal: controller.signal, onprogress: () => controller.abort() },
  );
  await expect(call).rejects.toThrow();
  await nothingRuns();
  await client.close();
});

it('issue 34: a request without a token is refused, and one that may only read', async () => {
  expect((await ask(LIST, { token: null })).status).toBe(401);
  expect((await ask(LIST, { token: reading })).status).toBe(403);
  expect((await ask(LIST, { headers: { origin: 'http://evil.example' } })).status).toBe(403);
  expect((await ask(LIST, {}, '/mcp?project=/etc')).status).toBe(403);
});

it('issue 34: an unknown session is answered by 404, and a stream of notifications by 405', async () => {
  expect((await ask(LIST, { headers: { 'mcp-session-id': 'of-yesterday' } })).status).toBe(404);
  const stream = await askHttp(url, '/mcp', { token, headers: ACCEPT });
  expect({ status: stream.status, allow: stream.headers.allow }).toEqual({ status: 405, allow: 'POST' });
});

it('issue 34: what is no request of the protocol is refused, and the next one is served', async () => {
  for (const body of ['{', '[]', '7', {}, { jsonrpc: '2.0' }, { jsonrpc: '1.0', id: 1, method: 'tools/list' }])
    expect((await ask(body)).status).toBe(400);
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'nope', arguments: {} } };
  expect((await ask(call)).text).toContain('TOOL_NOT_FOUND');
  expect((await ask(LIST)).text).toContain('safe_bash');
});

it('issue 34: nothing can be subscribed to', async () => {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
  };
  const params = { _meta, notifications: { toolsListChanged: true } };
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' };
  const { text } = await ask({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params }, { headers });
  expect(text).toContain('"error"');
});
