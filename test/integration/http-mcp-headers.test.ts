import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHttpDoor, type TestHttpDoor, TOKEN } from '../helpers/http-door.ts';

let at: TestHttpDoor;
beforeAll(async () => {
  at = await openHttpDoor({ passing: { request: async () => ({ resources: [] }) } });
});
afterAll(() => at?.remove());

const PATH = '/mcp?project=/p&surface=passthrough';
const ACCEPT = 'application/json, text/event-stream';
const INJECTED = 'X-Injected: 1';
const encoded = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`;

/** As they go over the wire: `latin1`. */
const VALUES: Readonly<Record<string, string>> = {
  'a line end': `a\r\n${INJECTED}`,
  'a bare line feed': `a\n${INJECTED}`,
  'a bare carriage return': `a\r${INJECTED}`,
  'a folded line': `a\r\n ${INJECTED}`,
  'a line end in percents': `a%0d%0a${INJECTED}`,
  'a line end as base64': encoded(`a\r\n${INJECTED}`),
  'broken base64': '=?base64?%%%?=',
  'a NUL': 'a\0b',
  'control characters': 'a\x01\x1b[31m\x7f',
  latin1: 'caf\xe9 \xff',
  'UTF-8': Buffer.from('naïve 🎈').toString('latin1'),
  nothing: '',
  blanks: ' \t ',
  '12 KB': 'x'.repeat(12_000),
  quotes: `"'; data: {"jsonrpc":"2.0","id":1,"result":{}}`,
};
const HEADERS = [
  'Mcp-Session-Id',
  'Mcp-Name',
  'Mcp-Method',
  'MCP-Protocol-Version',
  'Last-Event-ID',
  'Authorization',
  'Mcp-Param-x',
];

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const BODIES = {
  '2025-11-25': { jsonrpc: '2.0', id: 1, method: 'resources/list', params: {} },
  '2026-07-28': { jsonrpc: '2.0', id: 1, method: 'resources/list', params: { _meta: META } },
};

async function answerTo(socket: Socket, lines: readonly string[], body: string): Promise<string> {
  const length = body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
  socket.write(Buffer.from([...lines, ...length, 'Connection: close', '', body].join('\r\n'), 'latin1'));
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  await once(socket, 'close');
  return text;
}

function expectHarmless(answer: string): void {
  const [head = '', body = ''] = answer.split('\r\n\r\n', 2);
  expect(head).toMatch(/^HTTP\/1\.1 (?:200|202|400|401|403|404|405|413|431) /);
  expect(head).not.toMatch(/^x-injected/im);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what no answer may hold
  expect(`${head}${body}`).not.toMatch(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/);
}

describe.each(HEADERS)('the header %s of a client over HTTP', (name) => {
  it.each(Object.keys(VALUES))(
    'issue 34: with %s is answered or refused, and nothing of it gets into a header',
    async (what) => {
      const sent = (own: Record<string, string>): string[] =>
        Object.entries({ Host: at.host, Authorization: `Bearer ${TOKEN}`, Accept: ACCEPT, ...own }).map(
          ([header, value]) => `${header}: ${value}`,
        );
      const value = VALUES[what] ?? '';
      for (const [revision, body] of Object.entries(BODIES)) {
        const usual = { 'MCP-Protocol-Version': revision, 'Mcp-Method': 'resources/list' };
        const lines = [`POST ${PATH} HTTP/1.1`, ...sent({ ...usual, [name]: value })];
        expectHarmless(await answerTo(await at.dial(), lines, JSON.stringify(body)));
      }
      for (const method of ['GET', 'DELETE']) {
        const lines = [`${method} ${PATH} HTTP/1.1`, ...sent({ 'Mcp-Session-Id': 'unknown', [name]: value })];
        expectHarmless(await answerTo(await at.dial(), lines, ''));
      }
      expect((await at.ask('/v1/health', {})).status).toBe(200);
    },
  );
});
