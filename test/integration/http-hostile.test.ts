import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { CallRequest, Dispatch } from '#src/call/request.js';
import { ContextdError } from '#src/core/errors.js';
import { HTTP_LIMITS } from '#src/doors/http/hardening.js';
import { ROUTES } from '#src/doors/http/routes.js';
import { proofOf } from '#src/protocol/http-proof.js';
import { answerOf, type BehindHttp, openHttpDoor, type TestHttpDoor, TOKEN } from '../helpers/http-door.ts';

let at: TestHttpDoor;
afterEach(() => at.remove());

async function open(behind: BehindHttp = {}): Promise<void> {
  at = await openHttpDoor(behind);
}

const EXECUTE = '/v1/tools/safe_bash/execute';
const CALL = { project: '/p', input: { command: 'true' } };

/** Writes bytes on a connection of their own, and returns everything that comes back until the door closes it. */
async function exchange(bytes: string | Buffer, isLast: (text: string) => boolean = () => false): Promise<string> {
  const socket = await at.dial();
  socket.write(bytes);
  const text = await read(socket, isLast);
  socket.destroy();
  return text;
}

async function read(socket: Socket, isLast: (text: string) => boolean): Promise<string> {
  let text = '';
  return new Promise((resolve) => {
    socket.on('error', () => resolve(text));
    socket.on('close', () => resolve(text));
    socket.on('data', (chunk) => {
      text += chunk;
      if (isLast(text)) resolve(text);
    });
  });
}

function head(method: string, path: string, more: readonly string[]): string {
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${at.host}`, `Authorization: Bearer ${TOKEN}`, ...more];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

const JSON_BODY = 'Content-Type: application/json';
const codesIn = (text: string): string[] => [...text.matchAll(/"error_code":"(\w+)"/g)].map(([, code = '']) => code);

describe('issue 32.2 what is refused before a route sees it', () => {
  const FOREIGN: Record<string, () => Record<string, string>> = {
    'another Host': () => ({ host: 'attacker.example.com' }),
    'another Host with the same port': () => ({ host: `attacker.example.com:${at.port}` }),
    'localhost, which a resolver may lead elsewhere': () => ({ host: `localhost:${at.port}` }),
    'the address without its port': () => ({ host: '127.0.0.1' }),
    'another Origin': () => ({ origin: 'https://example.com' }),
    'the Origin null': () => ({ origin: 'null' }),
    'an Origin with another port': () => ({ origin: `http://127.0.0.1:${at.port + 1}` }),
    'an Origin with another scheme': () => ({ origin: `https://${at.host}` }),
    'another Referer': () => ({ referer: 'https://example.com/page' }),
    'a fetch of another site': () => ({ 'sec-fetch-site': 'cross-site' }),
    'a fetch of another port': () => ({ 'sec-fetch-site': 'same-site' }),
  };
  it.each(Object.keys(FOREIGN))('%s', async (what) => {
    await open();
    const headers = FOREIGN[what]?.() ?? {};
    for (const path of ['/v1/health', '/v1/proof?nonce=00112233445566778899aabbccddeeff', '/nowhere']) {
      const { status, json, headers: answered } = await at.ask(path, { headers });
      expect([status, json.data.error_code]).toEqual([403, 'PERMISSION_DENIED']);
      expect(Object.keys(answered).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
    const call = await at.ask(EXECUTE, { headers, body: CALL });
    expect([call.status, call.json.success]).toEqual([403, false]);
  });

  it('lets an equal Origin and Referer pass, as a page of the door itself would send', async () => {
    await open();
    const headers = { origin: at.url, referer: `${at.url}/page`, 'sec-fetch-site': 'same-origin' };
    expect((await at.ask('/v1/health', { headers })).status).toBe(200);
  });

  it('refuses two Hosts, a missing one, and a request for another server', async () => {
    await open();
    const twice = await exchange(`GET /v1/health HTTP/1.1\r\nHost: ${at.host}\r\nHost: example.com\r\n\r\n`, (text) =>
      text.includes('}}'),
    );
    expect(twice).toMatch(/^HTTP\/1\.1 40[03] /);
    expect(await exchange('GET /v1/health HTTP/1.1\r\n\r\n', (text) => text.includes('\r\n\r\n'))).toMatch(
      /^HTTP\/1\.1 40[03] /,
    );
    const absolute = await exchange(`GET http://example.com/v1/health HTTP/1.1\r\nHost: ${at.host}\r\n\r\n`, (text) =>
      text.includes('}}'),
    );
    expect(codesIn(absolute)).toEqual(['PERMISSION_DENIED']);
  });

  it('serves GET, HEAD and POST only', async () => {
    await open();
    for (const method of ['OPTIONS', 'PUT', 'DELETE', 'PATCH', 'TRACE'])
      expect((await at.ask('/v1/health', { method })).status).toBe(403);
    const { status, text, headers } = await at.ask('/v1/health', { method: 'HEAD' });
    expect([status, text, headers['content-type']]).toEqual([200, '', 'application/json; charset=utf-8']);
    expect((await at.ask('/v1/health', { method: 'POST', body: {} })).json.data.error_code).toBe('NOT_FOUND');
  });

  it('sends the same headers with every answer, and no ETag', async () => {
    await open();
    for (const { status, headers } of [
      await at.ask('/v1/health'),
      await at.ask('/nowhere'),
      await at.ask('/v1/health', { token: null }),
    ]) {
      expect({ status, headers }).toMatchObject({
        headers: {
          'cache-control': 'no-store',
          'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
          'x-content-type-options': 'nosniff',
        },
      });
      expect(headers.etag).toBeUndefined();
    }
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=latin1',
    '',
  ])('takes no body of the type %j', async (type) => {
    await open();
    const { status, json } = await at.ask(EXECUTE, { body: CALL, headers: { 'content-type': type } });
    expect([status, json.data.error_code]).toEqual([400, 'ARGS_INVALID']);
  });

  it.each([null, 'ctxd_other', '', 'x'.repeat(300)])(
    'answers 401 for the token %j, before it reads a body',
    async (token) => {
      await open();
      const { status, json, headers } = await at.ask(EXECUTE, { token, body: CALL });
      expect([status, json.data.error_code, headers['www-authenticate']]).toEqual([401, 'AUTH_FAILED', 'Bearer']);
      const unsent = await exchange(
        `POST ${EXECUTE} HTTP/1.1\r\nHost: ${at.host}\r\n${JSON_BODY}\r\nContent-Length: 99\r\n\r\n`,
        (text) => text.includes('}}'),
      );
      expect(codesIn(unsent)).toEqual(['AUTH_FAILED']);
    },
  );
});

describe('issue 32.4 bodies', () => {
  it('carries one of 5 MB', async () => {
    await open();
    const content = 'x'.repeat(5_000_000);
    const { status, json } = await at.ask(EXECUTE, { body: { project: '/p', input: { content } } });
    expect(status).toBe(200);
    expect(String(json.data.input)).toHaveLength(content.length + '{"content":""}'.length);
  });

  it('refuses one that is announced too long at once, and one that turns out so', async () => {
    await open({ limits: { bodyBytes: 100_000 } });
    const announced = await exchange(head('POST', EXECUTE, [JSON_BODY, 'Content-Length: 100001']), (text) =>
      text.includes('}}'),
    );
    expect(announced).toMatch(/^HTTP\/1\.1 413 /);
    const { status, json } = await at.ask(EXECUTE, { body: 'x'.repeat(100_001) });
    expect([status, json.data.error_code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    expect((await at.ask(EXECUTE, { body: CALL })).status).toBe(200);
  });

  it('cuts off a client that sends chunks without an end, after it has its answer', async () => {
    await open({ limits: { bodyBytes: 10_000, farewellMs: 50 } });
    const socket = await at.dial();
    socket.write(head('POST', EXECUTE, [JSON_BODY, 'Transfer-Encoding: chunked']));
    const chunk = `1000\r\n${' '.repeat(4096)}\r\n`;
    const pump = (): void => void (socket.writable && socket.write(chunk, () => setImmediate(pump)));
    pump();
    expect(codesIn(await read(socket, () => false))).toEqual(['PAYLOAD_TOO_LARGE']);
  });

  it('ends a body and headers that do not arrive in time', async () => {
    await open({ limits: { bodyMs: 100, headersMs: 100, checkMs: 20, farewellMs: 20 } });
    const body = await exchange(`${head('POST', EXECUTE, [JSON_BODY, 'Content-Length: 10'])}{`);
    expect(codesIn(body)).toEqual(['TIMEOUT']);
    const headers = await exchange(`GET /v1/health HTTP/1.1\r\nHost: ${at.host}\r\nX-Slow: `);
    expect(codesIn(headers)).toEqual(['TIMEOUT']);
    expect((await at.ask('/v1/health')).status).toBe(200);
  });

  const DEEP = '['.repeat(500_000);
  it.each([
    ['deep arrays', `{"project":"/p","input":${DEEP}`],
    ['deep objects', `{"project":"/p","input":${'{"a":'.repeat(1000)}1${'}'.repeat(1001)}`],
    ['no JSON', '{"project":'],
    ['nothing', ' '],
    ['another shape', '[]'],
    ['an unknown field', '{"project":"/p","input":"x","token":"y"}'],
    ['input of another type', '{"project":"/p","input":7}'],
    ['no input', '{"project":"/p"}'],
  ])('refuses %s with ARGS_INVALID', async (_what, body) => {
    await open();
    const { status, json } = await at.ask(EXECUTE, { body });
    expect([status, json.data.error_code]).toEqual([400, 'ARGS_INVALID']);
  });

  it('does not take brackets in strings for nesting', async () => {
    await open();
    const command = `echo '${'['.repeat(1_000)}\\"'`;
    expect((await at.ask(EXECUTE, { body: { project: '/p', input: { command } } })).status).toBe(200);
  });

  it('answers a string of 4 MB of escaped quotes that never ends as bad JSON', async () => {
    await open();
    const { status, json } = await at.ask('/v1/memory/search', { body: `"${'\\"'.repeat(2_000_000)}` });
    expect([status, json.data.error_code]).toEqual([400, 'ARGS_INVALID']);
  });

  it('reads a string of 30 MB, which is within the limit', async () => {
    await open();
    const body = JSON.stringify({ project: '/p', input: { content: 'x'.repeat(30_000_000) } });
    const { status, json } = await at.ask(EXECUTE, { body });
    expect(status).toBe(200);
    expect(String(json.data.input)).toHaveLength(30_000_000 + '{"content":""}'.length);
  });

  it('refuses bytes that are no UTF-8, and a compressed body', async () => {
    await open();
    const request = head('POST', EXECUTE, [JSON_BODY, 'Content-Length: 3']);
    const latin = await exchange(Buffer.from(`${request}"\x80"`, 'latin1'), (text) => text.includes('}}'));
    expect(codesIn(latin)).toEqual(['ARGS_INVALID']);
    const zipped = await at.ask(EXECUTE, { body: CALL, headers: { 'content-encoding': 'gzip' } });
    expect(zipped.json.data.error_code).toBe('ARGS_INVALID');
  });

  it('answers bytes that are no request, and headers that are too large', async () => {
    await open();
    expect(codesIn(await exchange('\x16\x03\x01\x02\x00\x01\x00\r\n\r\n'))).toEqual(['ARGS_INVALID']);
    const large = await exchange(head('GET', '/v1/health', [`X-Large: ${'x'.repeat(HTTP_LIMITS.headerBytes)}`]));
    expect(codesIn(large)).toEqual(['PAYLOAD_TOO_LARGE']);
  });
});

describe('issue 32.4 connections', () => {
  it('answers pipelined requests in their order, and refuses more than it counts', async () => {
    await open({ limits: { pipelined: 4 } });
    const three = await exchange([1, 2, 3].map((n) => head('GET', `/v1/route-${n}`, [])).join(''), (text) =>
      text.includes('route-3'),
    );
    expect([...three.matchAll(/route-(\d)/g)].map(([, n]) => n)).toEqual(['1', '2', '3']);
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    await at.remove();
    await open({
      limits: { pipelined: 4 },
      async dispatch(request) {
        await held;
        return answerOf(request);
      },
    });
    const body = JSON.stringify(CALL);
    const one = head('POST', EXECUTE, [JSON_BODY, `Content-Length: ${body.length}`]) + body;
    const socket = await at.dial();
    socket.write(one.repeat(6));
    const answers = read(socket, (text) => text.split('HTTP/1.1 ').length === 7 && text.includes('RATE_LIMITED'));
    await expect.poll(async () => (await at.ask('/v1/health')).status).toBe(200);
    release();
    const text = await answers;
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual([
      '200',
      '200',
      '200',
      '200',
      '429',
      '429',
    ]);
    expect(text).toContain('retry-after: 1');
    socket.destroy();
  });

  it('cuts off a client that does not read its answer, and serves others meanwhile', async () => {
    const large = JSON.stringify({ success: true, data: { text: 'x'.repeat(30_000_000) } });
    const { promise: cutOff, resolve: cut } = Promise.withResolvers<void>();
    await open({
      limits: { answerMs: 100, answerBytesPerMs: 100_000 },
      dispatch: async (request) => ({ ...answerOf(request), line: large }),
    });
    const socket = await at.dial();
    socket.on('error', () => cut()).on('close', () => cut());
    const body = JSON.stringify(CALL);
    socket.pause().write(head('POST', EXECUTE, [JSON_BODY, `Content-Length: ${body.length}`]) + body);
    await expect.poll(async () => (await at.ask('/metrics')).text).toContain('contextd_connections{door="http"} 2');
    await expect.poll(async () => (await at.ask('/metrics')).text).toContain('contextd_connections{door="http"} 1');
    socket.resume();
    await cutOff;
    expect(socket.bytesRead).toBeLessThan(large.length);
  });

  it('closes a new connection if calls are under way on all', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    let running = 0;
    await open({
      config: { max_connections: 8 },
      async dispatch(request) {
        running += 1;
        await held;
        return answerOf(request);
      },
    });
    at.grants.set('ctxd_second', { name: 'second', scope: '', permissions: ['execute'] });
    const calls = [TOKEN, 'ctxd_second'].flatMap((token) =>
      Array.from({ length: 4 }, () => at.ask(EXECUTE, { token, body: CALL })),
    );
    await expect.poll(() => running).toBe(8);
    await expect(at.ask('/v1/health')).rejects.toThrow();
    release();
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(8).fill(200));
  });

  it('leaves half of the connections to other tokens, whatever one token has under way', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    let running = 0;
    await open({
      config: { max_connections: 8 },
      async dispatch(request) {
        running += 1;
        await held;
        return answerOf(request);
      },
    });
    at.grants.set('ctxd_phone', { name: 'phone', scope: '', permissions: ['decide'] });
    const calls = Array.from({ length: 4 }, () => at.ask(EXECUTE, { body: CALL }));
    await expect.poll(() => running).toBe(4);
    const { status, json, headers } = await at.ask(EXECUTE, { body: CALL });
    expect([status, json.data.error_code, headers['retry-after']]).toEqual([429, 'RATE_LIMITED', '1']);
    const answer = { token: 'ctxd_phone', body: { answer: 'once' } };
    expect((await at.ask('/v1/approvals/ask_1/answer', answer)).status).toBe(200);
    release();
    expect((await Promise.all(calls)).map((one) => one.status)).toEqual(Array(4).fill(200));
    expect((await at.ask(EXECUTE, { body: CALL })).status).toBe(200);
  });
});

describe('issue 32.4 calls', () => {
  /** A dispatch that waits until its call is aborted, and answers with the reason. */
  function waiting(onStart: (request: CallRequest) => void): Dispatch {
    return async (request) => {
      onStart(request);
      if (!request.signal.aborted) await once(request.signal, 'abort');
      return {
        ...answerOf(request),
        line: JSON.stringify({ success: false, data: { error_code: request.signal.reason.code } }),
      };
    };
  }

  it('cancels the call of a request that was aborted in the middle, and no other', async () => {
    const { promise: started, resolve: start } = Promise.withResolvers<CallRequest>();
    await open({ dispatch: waiting(start) });
    const client = new AbortController();
    const asked = at.ask(EXECUTE, { body: CALL, signal: client.signal });
    const request = await started;
    client.abort();
    await expect(asked).rejects.toThrow();
    await expect.poll(() => request.signal.reason).toMatchObject({ code: 'CANCELLED' });
    expect((await at.ask('/v1/health')).status).toBe(200);
  });

  it('NFR-2.2: interrupts running calls when the daemon stops, and still sends their answers', async () => {
    const { promise: started, resolve: start } = Promise.withResolvers<CallRequest>();
    await open({ dispatch: waiting(start) });
    const asked = at.ask(EXECUTE, { body: CALL });
    await started;
    await at.door.stop();
    expect(await asked).toMatchObject({ status: 503, json: { data: { error_code: 'INTERRUPTED' } } });
    await expect(at.ask('/v1/health')).rejects.toThrow();
  });

  it('says when to try again', async () => {
    await open({
      async dispatch() {
        throw new ContextdError('DAEMON_UNAVAILABLE', 'contextd is stopping', { retryAfterMs: 500 });
      },
    });
    const { status, headers, json } = await at.ask(EXECUTE, { body: CALL });
    expect([status, headers['retry-after'], json.data.error_code]).toEqual([503, '1', 'DAEMON_UNAVAILABLE']);
  });

  it('hands dispatch what the caller wrote, cut to the sizes of every door', async () => {
    await open();
    const body = { project: '/p', input: 'echo hi', session: 's', cwd: '/p/sub' };
    expect((await at.ask(EXECUTE, { body })).json.data).toEqual({
      tool: 'safe_bash',
      projectRoot: '/p',
      principal: { door: 'http', token: 'all' },
      sessionHint: 's',
      cwd: '/p/sub',
      input: '',
      words: 'echo hi',
    });
    const long = await at.ask(EXECUTE, { body: { ...body, session: 's'.repeat(5_000) } });
    expect([long.status, long.json.data.error_code]).toEqual([400, 'ARGS_INVALID']);
    expect(at.refused).toHaveLength(1);
    expect((await at.ask(EXECUTE, { body: { ...body, cwd: '/etc' } })).json.data.cwd).toBe('/p');
  });

  it('answers a failure of its own without a word about the cause', async () => {
    await open({ management: { listTools: () => Promise.reject(new Error('/secret/place')) } });
    const { status, json, text } = await at.ask('/v1/tools');
    expect([status, json.data.error_code]).toEqual([500, 'INTERNAL_ERROR']);
    expect(text).not.toContain('/secret/place');
  });
});

describe('issue 32.2 the proof of the daemon', () => {
  it('answers a challenge for any id with the key of that id, over its own address', async () => {
    await open();
    const nonce = 'ab'.repeat(32);
    for (const id of ['', '0123456789abcdef']) {
      const { json } = await at.ask(`/v1/proof?nonce=${nonce}&id=${id}`, { token: null });
      const key = createHash('sha256').update(`key ${id}`).digest();
      expect(json).toEqual({ proof: proofOf(key, at.host, nonce) });
      expect(proofOf(key, '127.0.0.1:1', nonce)).not.toBe(json.proof);
    }
    for (const query of ['', '?nonce=xyz', `?nonce=${nonce}&id=../x`, `?nonce=${nonce}&more=1`])
      expect((await at.ask(`/v1/proof${query}`, { token: null })).status).toBe(400);
  });

  it('is the only open route', () => {
    expect(ROUTES.filter(({ permission }) => permission === null).map(({ path }) => path)).toEqual(['/v1/proof']);
  });
});
