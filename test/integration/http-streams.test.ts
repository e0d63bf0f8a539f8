import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemTimer } from '#src/core/clock.js';
import { UpstreamConnection } from '#src/upstream/connection.js';
import { HttpTransport } from '#src/upstream/http-transport.js';

/** What the server does with the stream that a call is answered through. */
type Script = (stream: ServerResponse, id: number) => void;

const answerTo = (id: number) =>
  `data: ${JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'done' }] } })}\n\n`;
const NOTICE = `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: '' } })}\n\n`;

let script: Script;
/** What answers a stream that is opened again. */
let resumed: Script;
const requests: string[] = [];
let lastCall = 0;
const closings: (() => unknown)[] = [];
const waits: { ms: number; wake(): void }[] = [];

beforeEach(() => {
  requests.splice(0);
  waits.splice(0);
  resumed = (stream) => stream.writeHead(404).end();
});
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

const eventually = (check: () => void) => vi.waitFor(check, { timeout: 60_000 });

function events(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' });
}

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const lastEvent = request.headers['last-event-id'];
  if (request.method !== 'POST') {
    requests.push(`${request.method} ${lastEvent ?? ''}`.trim());
    if (lastEvent === undefined) return void response.writeHead(405).end();
    return resumed(response, lastCall);
  }
  const { id, method } = (await json(request)) as { id?: number; method: string };
  requests.push(method);
  const say = (result: unknown) =>
    void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  if (id === undefined) return void response.writeHead(202).end();
  if (method === 'initialize')
    return say({
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'raw', version: '1' },
    });
  if (method === 'tools/call') {
    lastCall = id;
    return script(events(response), id);
  }
  response.writeHead(400).end();
}

/** A server of 2025-11-25 over HTTP, and a connection to it whose times the test turns by hand. */
async function connect(): Promise<UpstreamConnection> {
  const server = createServer((request, response) => void take(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closings.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const timer = {
    after(ms: number, wake: () => void) {
      const wait = { ms, wake };
      waits.push(wait);
      return () => void (waits.includes(wait) && waits.splice(waits.indexOf(wait), 1));
    },
  };
  const transport = new HttpTransport(url, { fetch: (target, init) => fetch(target, init), timer });
  const connection = await UpstreamConnection.open(transport, {
    url,
    version: '1',
    timeoutMs: 60_000,
    probeMs: 60_000,
    isLegacy: true,
    onToolsChanged() {},
    timer: systemTimer,
  });
  closings.push(() => connection.close());
  return connection;
}

function call(connection: UpstreamConnection, signal = new AbortController().signal) {
  const definition = { name: 'echo', inputSchema: { type: 'object' as const } };
  // Longer than the test: nothing here may wait for it.
  const made = connection.callTool({ definition, upstreamName: 'echo', args: {}, signal, timeoutMs: 600_000 });
  made.catch(() => {});
  return made;
}

async function turn(): Promise<number> {
  await eventually(() => expect(waits).not.toEqual([]));
  const [wait] = waits.splice(0, 1);
  wait?.wake();
  return wait?.ms ?? 0;
}

describe('the stream that a call over HTTP is answered through', () => {
  const cuts: [string, Script][] = [
    ['breaks', (stream) => stream.write(NOTICE, () => stream.destroy())],
    ['ends without the answer', (stream) => stream.end(NOTICE)],
    ['ends at once', (stream) => stream.end()],
    ['ends with the answer to another call', (stream, id) => stream.end(answerTo(id + 1))],
  ];
  for (const [how, cut] of cuts)
    it(`issue 34: a call whose stream ${how} fails then, and not at its time-out`, async () => {
      script = cut;
      await expect(call(await connect())).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
      expect(waits).toEqual([]);
    });

  it('issue 34: an answer that comes twice, or before the stream breaks, is the answer', async () => {
    script = (stream, id) => stream.write(answerTo(id) + answerTo(id), () => stream.destroy());
    expect(await call(await connect())).toMatchObject({ content: [{ text: 'done' }] });
  });

  it('issue 34: a stream with ids of events is opened again from the last one, and not faster than once a second', async () => {
    script = (stream) => stream.end('retry: 0\nid: first\ndata: \n\n');
    resumed = (stream, id) => events(stream).end(answerTo(id));
    const made = call(await connect());
    expect(await turn()).toBe(1_000);
    expect(await made).toMatchObject({ content: [{ text: 'done' }] });
    expect(requests.at(-1)).toBe('GET first');
  });

  it('issue 34: a time to wait that no timer can have is half a minute', async () => {
    script = (stream) => stream.end('retry: 99999999999\nid: first\ndata: \n\n');
    resumed = (stream, id) => events(stream).end(answerTo(id));
    const made = call(await connect());
    expect(await turn()).toBe(30_000);
    await made;
  });

  it('issue 34: a call whose stream cannot be opened again fails after the attempts', async () => {
    script = (stream) => stream.end('id: first\ndata: \n\n');
    const made = call(await connect());
    await turn();
    await turn();
    await expect(made).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
    expect(requests.filter((request) => request === 'GET first')).toHaveLength(2);
  });

  it('issue 34: the stream of a cancelled call is not opened again', async () => {
    script = (stream) => stream.end('id: first\ndata: \n\n');
    const connection = await connect();
    const ending = new AbortController();
    const made = call(connection, ending.signal);
    await eventually(() => expect(waits).not.toEqual([]));
    ending.abort();
    await expect(made).rejects.toThrow();
    await eventually(() => expect(requests.at(-1)).toBe('notifications/cancelled'));
    script = (stream, id) => stream.end(answerTo(id));
    await turn();
    // It would come after the stream.
    await call(connection);
    expect(requests).not.toContain('GET first');
  });
});
