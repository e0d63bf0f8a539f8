import { afterEach, expect, it } from 'vitest';
import { ALL, openHttpDoor, type TestHttpDoor } from '../helpers/http-door.ts';

let at: TestHttpDoor;
afterEach(() => at.remove());

const PATH = '/mcp?project=/p&surface=passthrough';
const ACCEPT = { accept: 'application/json, text/event-stream' };
const clientInfo = { name: 'test', version: '1' };
const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };

async function open(token: string): Promise<string> {
  const body = { jsonrpc: '2.0', id: 0, method: 'initialize', params: HELLO };
  const { headers } = await at.ask(PATH, { token, body, headers: ACCEPT });
  return String(headers['mcp-session-id']);
}

async function statusOf(token: string, session: string): Promise<number> {
  const body = { jsonrpc: '2.0', id: 1, method: 'ping' };
  return (await at.ask(PATH, { token, body, headers: { ...ACCEPT, 'mcp-session-id': session } })).status;
}

it('issue 34: a token that opens session after session ends its own, and none of another token of the project', async () => {
  at = await openHttpDoor();
  for (const name of ['greedy', 'modest']) at.grants.set(name, { name, scope: '', permissions: ALL });
  const modest = [await open('modest'), await open('modest')];
  const greedy: string[] = [];
  for (let session = 0; session < 40; session++) greedy.push(await open('greedy'));
  for (const session of modest) expect(await statusOf('modest', session)).toBe(200);
  expect(await statusOf('greedy', greedy[0] ?? '')).toBe(404);
  expect(await statusOf('greedy', greedy.at(-1) ?? '')).toBe(200);
  expect(await statusOf('greedy', modest[0] ?? '')).toBe(404);
});
