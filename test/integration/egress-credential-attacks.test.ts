import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { scopeKey } from '#src/egress/messages.js';
import { EgressProcess } from '../helpers/egress-process.js';
import { HAS_LOW_PORTS } from '../helpers/low-ports.ts';
import { TlsHost, tlsThrough } from '../helpers/tls-host.js';

/** A loopback address of this test alone. */
const ADDRESS = `127.79.${process.pid % 250}.1`;
const HOST = 'api.example';
const SCOPE = scopeKey({ project: '/project', tool: null });
const SECRET = Math.random().toString(36).slice(2).padEnd(10, 'x');
const PROGRAM = join(import.meta.dirname, '..', '..', 'dist', 'program');
const HIDDEN = `DELETE /v2/hidden HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`;
const CHUNKED_HIDDEN = `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`;
const LAST = `GET /v1/last HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`;

let dir: string;
let egress: EgressProcess;
let host: TlsHost;
let proxy: number;
let ca: string;

const SILENT = '/v1/silent';

function answer(request: IncomingMessage, response: ServerResponse): void {
  if (request.url === SILENT) return;
  request.resume().on('end', () => response.end('ok'));
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'contextd-attacks-'));
  cpSync(PROGRAM, dir, { recursive: true });
  egress = await EgressProcess.start(`${ADDRESS} ${HOST}\n`, null, join(dir, 'egress.js'));
  host = await TlsHost.listen({ name: HOST, address: ADDRESS }, answer);
  egress.send({ op: 'settings', settings: { upstream: null, extraCa: [host.certificate] } });
  proxy = await egress.listen(3128, { scope: SCOPE, namespace: 'net:[1]' });
  await egress.setRules(SCOPE, [HOST]);
  const bound = { host: HOST, port: 443, header: 'authorization', value: `Bearer ${SECRET}`, methods: ['GET', 'HEAD'] };
  egress.send({ op: 'credentials', scope: SCOPE, credentials: [{ ...bound, id: '1', paths: ['/v1/*'] }] });
  const event = await egress.until((one) => one.ev === 'authority');
  ca = (event.ev === 'authority' && event.certificate) || '';
});

afterAll(async () => {
  await egress.stop();
  await host.close();
  rmSync(dir, { recursive: true, force: true });
});

beforeEach(() => {
  host.got.length = 0;
});

/** Sends the bytes on one connection, and returns the status of each answer once it was closed. */
async function send(bytes: string): Promise<number[]> {
  const secure = await tlsThrough({ proxy, host: HOST, ca });
  const { promise, resolve } = Promise.withResolvers<void>();
  let text = '';
  secure.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  secure.once('close', () => resolve());
  secure.write(Buffer.from(bytes, 'latin1'));
  await promise;
  return [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
}

/** A request with these lines between its request line and the end of its head. */
function head(lines: readonly string[], line = 'GET /v1/me HTTP/1.1'): string {
  return `${[line, `Host: ${HOST}`, ...lines].join('\r\n')}\r\n\r\n`;
}

describe.runIf(HAS_LOW_PORTS)('What waits for the host', () => {
  it('is bounded: a connection with more unanswered requests than the limit ends, and the host gets one at a time', async () => {
    expect(await send(head([], `GET ${SILENT} HTTP/1.1`).repeat(2_000))).toEqual([]);
    expect(host.got.length).toBeLessThanOrEqual(1);
  });
});

describe.runIf(HAS_LOW_PORTS)('What the host gets is what was checked', () => {
  it.each<[string, string, number[]]>([
    [
      'a body whose length a Connection header wants to drop',
      `${head(['Connection: content-length, keep-alive', `Content-Length: ${HIDDEN.length}`])}${HIDDEN}${LAST}`,
      [200, 200],
    ],
    ['a body of GET in chunks', `${head(['Transfer-Encoding: chunked'])}${CHUNKED_HIDDEN}${LAST}`, [200, 200]],
    [
      'chunks with extensions and trailers',
      `${head(['Transfer-Encoding: chunked'])}2;a=b\r\nhi\r\n0\r\nX-HTTP-Method: DELETE\r\n\r\n${LAST}`,
      [200, 200],
    ],
    [
      'a length and an encoding',
      `${head(['Content-Length: 4', 'Transfer-Encoding: chunked'])}${CHUNKED_HIDDEN}${LAST}`,
      [400],
    ],
    ['two lengths', `${head(['Content-Length: 0', `Content-Length: ${HIDDEN.length}`])}${HIDDEN}${LAST}`, [400]],
    ['a length that is no number', `${head(['Content-Length: +4'])}abcd${LAST}`, [400]],
    [
      'an encoding that does not end with chunks',
      `${head(['Transfer-Encoding: chunked, x'])}${CHUNKED_HIDDEN}${LAST}`,
      [400],
    ],
    ['a space before a colon', `${head(['Transfer-Encoding : chunked'])}${CHUNKED_HIDDEN}${LAST}`, [400]],
    ['a header on two lines', `${head(['X-A: b', ' c: d'])}${LAST}`, [400]],
    ['a line that ends with LF alone', `${head([`X-A: b\nHost: other.example`])}${LAST}`, [400]],
    ['a line that ends with CR alone', `${head([`X-A: b\rHost: other.example`])}${LAST}`, [400]],
    ['a NUL in a header', `${head(['X-A: b\0'])}${LAST}`, [400]],
    ['a second Host', `${head([`host: ${HOST}`])}${LAST}`, [403, 200]],
    ['no Host', `GET /v1/me HTTP/1.0\r\n\r\n`, [403]],
    ['HTTP/2 without asking', `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`, [400]],
    [
      'h2c',
      `${head(['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA'])}`,
      [403],
    ],
    ['a tunnel', head([], 'CONNECT api.example:443 HTTP/1.1'), [403]],
    ['a second request on another path', `${head([])}${head([], 'GET /v2/hidden HTTP/1.1')}${LAST}`, [200, 403, 200]],
    [
      'a second request with another method',
      `${head([])}${head([], 'DELETE /v1/me HTTP/1.1')}${LAST}`,
      [200, 403, 200],
    ],
    [
      'a body that git would read with, of an API',
      `${head(['Content-Length: 2'], 'POST /v1/git-upload-pack HTTP/1.1')}hi${LAST}`,
      [403, 200],
    ],
  ])('with %s', async (_what, bytes, statuses) => {
    expect(await send(bytes)).toEqual(statuses);
    for (const { method, url, headers } of host.got) {
      expect(method).toBe('GET');
      expect(url).toMatch(/^\/v1\/(?:me|last)$/);
      expect(headers).toMatchObject({ host: HOST, authorization: `Bearer ${SECRET}` });
    }
  });

  it.each([
    'X-HTTP-Method-Override: DELETE',
    'X_HTTP_Method_Override: DELETE',
    'X-Original-URL: /v2/hidden',
    'X-Original-URI: /v2/hidden',
    'X-Rewrite-URL: /v2/hidden',
    'X-Forwarded-Host: other.example',
    'X-Forwarded-Prefix: /v2',
    'Forwarded: host=other.example',
    'X-Method: DELETE',
    'X_Forwarded_Uri: /v2/hidden',
    'Accept-Encoding: gzip',
    'Proxy-Authorization: x',
    'Authorization: Basic eDp5',
    'authorization: a',
  ])('without the header %s', async (line) => {
    expect(await send(`${head([line])}${LAST}`)).toEqual([200, 200]);
    const added = ['Connection', 'keep-alive', 'Accept-Encoding', 'identity', 'authorization', `Bearer ${SECRET}`];
    expect(host.got[0]?.rawHeaders).toEqual(['Host', HOST, ...added]);
  });
});
