import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import type { PassingRequests } from '#src/call/passing.js';
import { UNREAD_MAX_BYTES } from '#src/core/limits.js';
import type { McpMessage, PassedRequest } from '#src/core/passing.js';
import { CallDoor, type PassedEvent__Output as PassedEvent } from '#src/protocol/generated/tool.js';
import { echo } from '../helpers/behind.ts';
import { type Clients, openDoor, type TestDoor } from '../helpers/door.ts';
import { openHttpDoor, type TestHttpDoor, TOKEN } from '../helpers/http-door.ts';

let opened: TestDoor | TestHttpDoor | undefined;
afterEach(() => opened?.remove());

/** Beside what is counted: the buffers of the connection, and the message that passed the limit. */
const BUFFERS_BYTES = 12 * 1024 * 1024;
const LINE_BYTES = 64 * 1024;
/** A flood that nothing stops ends here. */
const LINES_MAX = (4 * UNREAD_MAX_BYTES) / LINE_BYTES;
const LINE: McpMessage = { method: 'notifications/message', params: { data: 'x'.repeat(LINE_BYTES) } };

/** Sends lines until the request is cancelled. Returns how many. */
async function flood({ signal, notify }: Pick<PassedRequest, 'signal' | 'notify'>): Promise<number> {
  let lines = 0;
  for (; lines < LINES_MAX && !signal.aborted; lines++) {
    notify(LINE);
    // The connection takes what it can.
    await setImmediate();
  }
  return lines;
}

/** Behind a door: `prompts/get` floods, and every other request is answered. */
function flooding() {
  const lines = Promise.withResolvers<number>();
  const followers: ((message: McpMessage) => void)[] = [];
  const passing: PassingRequests = {
    async request(_caller, request) {
      if (request.method !== 'prompts/get') return { resources: [] };
      lines.resolve(await flood(request));
      request.signal.throwIfAborted();
      return { messages: [] };
    },
    closeClient: async () => {},
    follow(_project, listener) {
      followers.push(listener);
      return () => followers.splice(followers.indexOf(listener), 1);
    },
  };
  return { passing, lines: lines.promise, followers };
}

function expectBounded(lines: number): void {
  expect(lines * LINE_BYTES).toBeGreaterThan(UNREAD_MAX_BYTES);
  expect(lines * LINE_BYTES).toBeLessThan(UNREAD_MAX_BYTES + BUFFERS_BYTES);
}

describe('a bridge that does not read, over gRPC', () => {
  const CONTEXT = { project_root: '/p', protocol_version: 2, door: CallDoor.CALL_DOOR_MCP };
  const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
  const passed = (client: string, method: string) => ({
    context: CONTEXT,
    client,
    is_legacy: true,
    capabilities_json: json({}),
    message_json: json({ method, params: {} }),
  });

  async function open(passing: PassingRequests): Promise<TestDoor> {
    const door = await openDoor({ dispatch: async (call) => echo(call), passing });
    opened = door;
    return door;
  }

  async function follow({ tools }: Clients) {
    const events = tools.FollowServers({ context: CONTEXT })[Symbol.asyncIterator]();
    const { value } = await events.next();
    return { client: String(value.client), events };
  }

  /** The events of a stream until it fails, and why it does. */
  async function toTheEnd(events: AsyncIterable<PassedEvent>) {
    let notices = 0;
    try {
      for await (const { notice_json } of events) notices += notice_json === undefined ? 0 : 1;
    } catch (thrown) {
      return { notices, thrown };
    }
    return { notices, thrown: null };
  }

  it('issue 34: the request is cancelled when 8 MiB wait, other clients are answered, and the bridge learns why', async () => {
    const { passing, lines } = flooding();
    const door = await open(passing);
    const [deaf, other] = [door.clients('proxy'), door.clients('proxy')];
    const { client } = await follow(deaf);
    const stream = deaf.tools.Pass(passed(client, 'prompts/get'));
    const sent = await lines;
    expectBounded(sent);
    const { client: reader } = await follow(other);
    const [answer] = await other.tools.Pass(passed(reader, 'resources/list')).toArray();
    expect(answer).toMatchObject({ result_json: json({ resources: [] }) });
    const { notices, thrown } = await toTheEnd(stream);
    expect(notices).toBe(sent - 1);
    expect(thrown).toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
      details: `the client left more than ${UNREAD_MAX_BYTES} bytes unread`,
    });
  });

  it('issue 34: what servers keep for a client ends when it leaves 8 MiB of announcements unread', async () => {
    const { passing, followers } = flooding();
    const ended = Promise.withResolvers<string>();
    const door = await open({ ...passing, closeClient: async (_project, key) => ended.resolve(key) });
    const { client, events } = await follow(door.clients('proxy'));
    let lines = 0;
    for (; lines < LINES_MAX && followers.length > 0; lines++) {
      followers[0]?.(LINE);
      await setImmediate();
    }
    expectBounded(lines);
    expect(await ended.promise).toBe(client);
    const { thrown } = await toTheEnd({ [Symbol.asyncIterator]: () => events });
    expect(thrown).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
  });

  it('issue 34: a bridge that reads on gets 32 MiB whole', async () => {
    let read = 0;
    const clients = (
      await open({
        ...flooding().passing,
        async request(_caller, { notify }) {
          for (let lines = 0; lines < LINES_MAX; lines++) {
            notify(LINE);
            // As a bridge does that is as fast as the server.
            while (lines - read > UNREAD_MAX_BYTES / LINE_BYTES / 2) await setImmediate();
          }
          return {};
        },
      })
    ).clients('proxy');
    const { client } = await follow(clients);
    const events: PassedEvent[] = [];
    for await (const event of clients.tools.Pass(passed(client, 'prompts/get'))) {
      read += 1;
      if (event.notice_json === undefined) events.push(event);
    }
    expect(read).toBe(LINES_MAX + 1);
    expect(events).toMatchObject([{ result_json: json({}) }]);
  });
});

describe('a client that does not read, over HTTP', () => {
  const PATH = '/mcp?project=/p&surface=passthrough';
  const HELLO = {
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  };
  const ACCEPT = { accept: 'application/json, text/event-stream' };

  async function open(passing: PassingRequests): Promise<TestHttpDoor> {
    const door = await openHttpDoor({ passing });
    opened = door;
    return door;
  }

  async function openSession(door: TestHttpDoor): Promise<string> {
    const { headers } = await door.ask(PATH, { body: HELLO, headers: ACCEPT });
    return String(headers['mcp-session-id']);
  }

  /** A request whose answer is not read until the test reads it. */
  async function askDeaf(door: TestHttpDoor, method: string, headers: object, body = ''): Promise<Socket> {
    const socket = await door.dial();
    const all = {
      Host: door.host,
      Authorization: `Bearer ${TOKEN}`,
      Accept: ACCEPT.accept,
      ...(body === '' ? {} : { 'Content-Type': 'application/json', 'Content-Length': String(body.length) }),
      ...headers,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`${method} ${PATH} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
    return socket;
  }

  /** What comes until the answer ends. */
  async function toTheEnd(socket: Socket): Promise<string> {
    let text = '';
    for await (const chunk of socket) {
      text += chunk;
      if (text.endsWith('\r\n0\r\n\r\n')) break;
    }
    return text;
  }

  const linesIn = (text: string): number => text.split('"data":"xx').length - 1;
  const META = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/logLevel': 'debug',
  };
  const request = (params: object) => JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'prompts/get', params });

  it.each(['2025-11-25', '2026-07-28'])(
    'issue 34: a request of %s is cancelled and ends with an error when 8 MiB wait, and other clients are answered',
    async (era) => {
      const { passing, lines } = flooding();
      const door = await open(passing);
      const isModern = era === '2026-07-28';
      const socket = await askDeaf(
        door,
        'POST',
        isModern
          ? { 'MCP-Protocol-Version': era, 'Mcp-Method': 'prompts/get', 'Mcp-Name': 'x' }
          : { 'Mcp-Session-Id': await openSession(door) },
        request({ name: 'x', ...(isModern ? { _meta: META } : {}) }),
      );
      expectBounded(await lines);
      expect((await door.ask('/v1/health', {})).status).toBe(200);
      const text = await toTheEnd(socket);
      expect(linesIn(text)).toBeLessThanOrEqual(await lines);
      const last = text.slice(text.lastIndexOf('data: '));
      expect(last).toContain(`the client left more than ${UNREAD_MAX_BYTES} bytes unread`);
      expect(last).toContain('"id":7');
      expect(last).toContain('"error_code":"RESOURCE_LIMIT"');
    },
  );

  it('issue 34: the stream of a session ends with its next message when the token is revoked, and so does a subscription', async () => {
    const { passing, followers } = flooding();
    const door = await open(passing);
    const filter = { notifications: { resourcesListChanged: true } };
    const listen = { jsonrpc: '2.0', id: 8, method: 'subscriptions/listen', params: { ...filter, _meta: META } };
    const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'subscriptions/listen' };
    const streams = [
      await askDeaf(door, 'GET', { 'Mcp-Session-Id': await openSession(door) }),
      await askDeaf(door, 'POST', headers, JSON.stringify(listen)),
    ];
    await Promise.all(streams.map((stream) => once(stream, 'readable')));
    const ends = streams.map(toTheEnd);
    door.grants.clear();
    while (followers.length < 2) await setImmediate();
    for (const follower of [...followers]) follower({ method: 'notifications/resources/list_changed', params: {} });
    for (const text of await Promise.all(ends)) {
      expect(text).toMatch(/^HTTP\/1\.1 200/);
      expect(text).not.toContain('list_changed');
    }
  });

  it('issue 34: the stream of a session ends when 8 MiB of announcements wait, and its client can open another', async () => {
    const { passing, followers } = flooding();
    const door = await open(passing);
    const session = { 'Mcp-Session-Id': await openSession(door) };
    const socket = await askDeaf(door, 'GET', session);
    for (let lines = 0; lines < LINES_MAX; lines++) {
      followers[0]?.(LINE);
      await setImmediate();
    }
    const text = await toTheEnd(socket);
    expect(linesIn(text) * LINE_BYTES).toBeGreaterThan(UNREAD_MAX_BYTES / 2);
    expect(linesIn(text) * LINE_BYTES).toBeLessThan(UNREAD_MAX_BYTES + BUFFERS_BYTES);
    const again = await askDeaf(door, 'GET', session);
    const [head] = await again.take(1).toArray();
    expect(String(head)).toMatch(/^HTTP\/1\.1 200/);
    again.destroy();
  });
});
