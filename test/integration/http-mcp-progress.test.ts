import { setImmediate } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import type { Dispatch } from '#src/call/request.js';
import { answerOf, openHttpDoor, type TestHttpDoor, TOKEN } from '../helpers/http-door.ts';

let at: TestHttpDoor;
afterEach(() => at.remove());

const PATH = '/mcp?project=/p';
const ACCEPT = { accept: 'application/json, text/event-stream' };

function callWith(progressToken: unknown): string {
  const params = { name: 'safe_bash', arguments: {}, _meta: { progressToken } };
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
}

/** The numbers of the notifications in a stream of events. */
function progressIn(text: string): number[] {
  return [...text.matchAll(/"progress":(\d+)/g)].map(([, number]) => Number(number));
}

it('issue 34: of lines that come faster than they are sent only the newest waits', async () => {
  const answered = Promise.withResolvers<void>();
  const dispatch: Dispatch = async (request) => {
    for (let line = 1; line <= 1_000; line++) request.onProgress?.(`line ${line}\n`);
    await answered.promise;
    return answerOf(request);
  };
  at = await openHttpDoor({ dispatch });
  const socket = await at.dial();
  let text = '';
  const newest = new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      text += chunk;
      if (text.includes('"line 1000"')) resolve();
    });
  });
  const body = callWith('p');
  socket.write(requestOf(body));
  await newest;
  answered.resolve();
  expect(progressIn(text)).toEqual([1, 1_000]);
  socket.destroy();
});

it('issue 34: a client that does not read makes no progress pile up in the daemon', async () => {
  const emitted = Promise.withResolvers<void>();
  // More than the buffers of a connection hold.
  const lines = 40_000;
  const dispatch: Dispatch = async (request) => {
    for (let line = 1; line <= lines; line++) {
      request.onProgress?.(`${'x'.repeat(200)}\n`);
      await setImmediate();
    }
    emitted.resolve();
    return answerOf(request);
  };
  at = await openHttpDoor({ dispatch });
  const socket = await at.dial();
  socket.write(requestOf(callWith('t'.repeat(1_024))));
  await emitted.promise;
  let text = '';
  for await (const chunk of socket) {
    text += chunk;
    if (text.includes('"result"')) break;
  }
  const numbers = progressIn(text);
  expect(numbers[0]).toBe(1);
  expect(numbers.length).toBeLessThan(lines / 2);
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
});

it.each([
  ['is longer than 1,024 characters', 't'.repeat(1_025), -32_602],
  ['is an object', {}, -32_600],
  ['is null', null, -32_600],
  ['is a list', ['p'], -32_600],
])('issue 34: a call with a progress token that %s is refused before it runs', async (_what, token, code) => {
  let calls = 0;
  const dispatch: Dispatch = async (request) => {
    calls += 1;
    return answerOf(request);
  };
  at = await openHttpDoor({ dispatch });
  const { text } = await at.ask(PATH, { body: callWith(token), headers: ACCEPT });
  expect(text).toContain(`"code":${code}`);
  expect(calls).toBe(0);
});

function requestOf(body: string): string {
  const lines = [
    `POST ${PATH} HTTP/1.1`,
    `Host: ${at.host}`,
    `Authorization: Bearer ${TOKEN}`,
    `Accept: ${ACCEPT.accept}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
