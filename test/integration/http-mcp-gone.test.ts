import type { Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import type { JsonObject } from '#src/core/json.js';
import type { PassedRequest } from '#src/core/passing.js';
import { openHttpDoor, type TestHttpDoor, TOKEN } from '../helpers/http-door.ts';

let at: TestHttpDoor;
afterEach(() => at.remove());

const ended = (signal: AbortSignal | undefined) =>
  new Promise<void>((resolve) => {
    if (signal?.aborted) resolve();
    else signal?.addEventListener('abort', () => resolve(), { once: true });
  });

/** A client of 2026-07-28 that gets a prompt. */
function ask(socket: Socket): void {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'prompts/get', params: { name: 'review', _meta } });
  const lines = [
    'POST /mcp?project=/p&surface=passthrough HTTP/1.1',
    `Host: ${at.host}`,
    `Authorization: Bearer ${TOKEN}`,
    'Accept: application/json, text/event-stream',
    'Content-Type: application/json',
    'MCP-Protocol-Version: 2026-07-28',
    'Mcp-Method: prompts/get',
    'Mcp-Name: review',
    `Content-Length: ${body.length}`,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** The request as servers get it, and the way to answer it. */
async function asked(): Promise<{ socket: Socket; request: PassedRequest; answer(result: JsonObject): void }> {
  const { promise, resolve } = Promise.withResolvers<PassedRequest>();
  const answered = Promise.withResolvers<JsonObject>();
  at = await openHttpDoor({
    passing: {
      request(_caller, request) {
        resolve(request);
        request.signal.addEventListener('abort', () => answered.reject(request.signal.reason), { once: true });
        return answered.promise;
      },
    },
  });
  const socket = await at.dial();
  ask(socket);
  return { socket, request: await promise, answer: answered.resolve };
}

it('decision 0124: a client of 2026 that hangs up before its answer begins cancels its request', async () => {
  const { socket, request } = await asked();
  expect([request.signal.aborted, request.client.left?.aborted]).toEqual([false, false]);
  socket.destroy();
  await ended(request.signal);
  await ended(request.client.left);
});

it('decision 0124: the connection on which a question went out stays open for ten minutes, and its end is noticed', async () => {
  const { socket, request, answer } = await asked();
  answer({
    resultType: 'input_required',
    inputRequests: { q: { method: 'elicitation/create', params: { message: 'Which?', requestedSchema: {} } } },
    requestState: 'x',
  });
  let text = '';
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += chunk;
    if (text.includes('input_required')) break;
  }
  expect(text).toMatch(/^keep-alive: timeout=600\r$/im);
  expect([request.signal.aborted, request.client.left?.aborted]).toEqual([false, false]);
  socket.destroy();
  await ended(request.client.left);
});
