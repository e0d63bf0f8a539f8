import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createHttp } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect, createServer as createTcp } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FETCH_LIMITS } from '#src/install/limits.js';
import { createAuthority } from '../helpers/authority.ts';
import { FetchPlace } from '../helpers/fetch-into.ts';
import { tarOf, zipOf } from '../helpers/hostile-archives.ts';

const place = new FetchPlace();
const TAR = tarOf([
  { path: 'tool-1.0/tool.json', body: '{}' },
  { path: 'tool-1.0/run', body: 'x', mode: 0o755 },
]);
const FILES = { 'tool.json': '{}', run: 'x' };
const ZIP = zipOf([{ path: 'tool.json', body: '{}' }]);
const sumOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const LOGIN = 'reader:open-sesame';

let server: Server;
/** Another origin. */
let second: Server;
let at: string;
let other: string;
let plain: ReturnType<typeof createHttp>;
const seen: { path: string; authorization: string | undefined; host: string }[] = [];
const credentials = { NODE_EXTRA_CA_CERTS: join(place.dir, 'ca.pem') };

/** A server that misbehaves on purpose, each path in its own way. */
const PATHS: Record<string, (response: ServerResponse, request: IncomingMessage) => void> = {
  '/tool.tar.gz': (response) => response.end(TAR),
  '/chunked.tgz': (response) => {
    response.write(TAR.subarray(0, 50));
    response.end(TAR.subarray(50));
  },
  '/tool.zip': (response) => response.end(ZIP),
  '/page.tgz': (response) => response.end('<!doctype html><title>Sign in</title>'),
  '/redirect.tgz': (response) => response.writeHead(302, { Location: '/tool.tar.gz?X-Signature=secret' }).end(),
  '/elsewhere.tgz': (response) => response.writeHead(302, { Location: `${other}/guarded.tgz` }).end(),
  '/to-http.tgz': (response) => {
    response.writeHead(302, { Location: `http://127.0.0.1:${(plain.address() as AddressInfo).port}/tool.tgz` }).end();
  },
  '/to-file.tgz': (response) => response.writeHead(302, { Location: 'file:///etc/passwd' }).end(),
  '/to-login.tgz': (response) => response.writeHead(302, { Location: `https://a:b@localhost/x` }).end(),
  '/to-nowhere.tgz': (response) => response.writeHead(302).end(),
  '/loop.tgz': (response) => response.writeHead(302, { Location: '/loop.tgz' }).end(),
  '/guarded.tgz': (response, { headers }) => {
    const right = headers.authorization === `Basic ${Buffer.from(LOGIN).toString('base64')}`;
    if (right) response.end(TAR);
    else response.writeHead(401).end();
  },
  '/forbidden.tgz': (response) => response.writeHead(403).end(),
  '/many.tgz': (response) => response.writeHead(429).end(),
  '/broken.tgz': (response) => response.writeHead(500).end(),
  '/encoded.tgz': (response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(TAR)),
  '/huge.tgz': (response) => response.writeHead(200, { 'Content-Length': '999999999999' }).write('x'),
  '/endless.tgz': (response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536))) {}
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  },
  '/silent.tgz': () => {},
  '/stalls.tgz': (response) => response.writeHead(200, { 'Content-Length': '100000' }).write('x'.repeat(1000)),
  '/lost.tgz': (response) => {
    response
      .writeHead(200, { 'Content-Length': String(TAR.length) })
      .write(TAR.subarray(0, 40), () => response.destroy());
  },
  '/lost-chunked.tgz': (response) => {
    response.write(TAR.subarray(0, 40), () => response.destroy());
  },
  '/short.tgz': (response) => response.writeHead(200, { 'Content-Length': '20' }).end(TAR.subarray(0, 20)),
  '/drip.tgz': (response) => {
    const timer = setInterval(() => response.write('x'), 20);
    response.once('close', () => clearInterval(timer));
  },
};

beforeAll(async () => {
  const authority = await createAuthority('Web of a test');
  writeFileSync(credentials.NODE_EXTRA_CA_CERTS, authority.pem);
  const answerTo = (request: IncomingMessage, response: ServerResponse): void => {
    const path = new URL(request.url ?? '/', 'https://localhost').pathname;
    seen.push({ path, authorization: request.headers.authorization, host: request.headers.host ?? '' });
    const answer = PATHS[path];
    if (answer === undefined) response.writeHead(404).end();
    else answer(response, request);
  };
  const identity = await authority.issue('localhost');
  [server, second] = [createServer(identity, answerTo), createServer(identity, answerTo)];
  plain = createHttp((request, response) => {
    seen.push({ path: `http:${request.url}`, authorization: undefined, host: '' });
    response.end(TAR);
  });
  await Promise.all(
    [server, second, plain].map((one) => new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve))),
  );
  at = `https://localhost:${(server.address() as AddressInfo).port}`;
  other = `https://localhost:${(second.address() as AddressInfo).port}`;
});

afterAll(async () => {
  for (const one of [server, second, plain]) {
    one.closeAllConnections();
    await new Promise((resolve) => one.close(resolve));
  }
  place.remove();
});

describe('issue 17 part 1: a tool from an archive on the web', () => {
  it('a .tar.gz with one folder at its top is that folder, and its sha256 is reported', async () => {
    const { tool, files, left } = await place.fetch(`${at}/tool.tar.gz`, { credentials });
    expect(files).toEqual(FILES);
    expect(tool?.resolved).toEqual({ source: `${at}/tool.tar.gz`, sha256: sumOf(TAR) });
    expect(left).toEqual(['tool']);
  });

  it('a .zip, an answer in chunks, a redirect and a folder after // work', async () => {
    const sources = ['/tool.zip', '/chunked.tgz', '/redirect.tgz', '/tool.tar.gz//tool-1.0'];
    const all = await Promise.all(sources.map((path) => place.fetch(`${at}${path}`, { credentials })));
    expect(all.map(({ files }) => files)).toEqual([{ 'tool.json': '{}' }, FILES, FILES, FILES]);
    expect(all[2]?.tool?.resolved.source).toBe(`${at}/redirect.tgz`);
  });

  it('the right checksum passes', async () => {
    const { files } = await place.fetch(`${at}/tool.tar.gz?checksum=sha256:${sumOf(TAR)}`, { credentials });
    expect(files).toEqual(FILES);
  });

  it('the progress names the size that the server announces', async () => {
    const { progress } = await place.fetch(`${at}/tool.tar.gz`, { credentials });
    expect(progress.find(({ step }) => step === 'download')?.total_bytes).toBe(TAR.length);
    const unknown = await place.fetch(`${at}/chunked.tgz`, { credentials });
    expect(unknown.progress.find(({ step }) => step === 'download')?.total_bytes).toBeNull();
  });

  it('~/.netrc gives a host its login, and no other host gets it', async () => {
    const [user, password] = LOGIN.split(':');
    const netrc = (host: string): void =>
      writeFileSync(join(place.home, '.netrc'), `machine ${host}\n  login ${user}\n  password ${password}\n`);
    netrc('localhost');
    expect((await place.fetch(`${at}/guarded.tgz`, { credentials })).files).toEqual(FILES);
    seen.length = 0;
    netrc('elsewhere.example.com');
    expect((await place.fetch(`${at}/elsewhere.tgz`, { credentials })).error?.code).toBe('AUTH_FAILED');
    expect(seen.map(({ authorization }) => authorization)).toEqual([undefined, undefined]);
    // A server that redirects to a host for which there is a login must not make this machine log in there: it may be another port.
    seen.length = 0;
    netrc('localhost');
    expect((await place.fetch(`${at}/elsewhere.tgz`, { credentials })).error?.code).toBe('AUTH_FAILED');
    expect(seen.map(({ authorization }) => authorization)).toEqual([expect.stringMatching(/^Basic /), undefined]);
    // Named by the person, the same host gets it.
    expect((await place.fetch(`${other}/guarded.tgz`, { credentials })).files).toEqual(FILES);
    writeFileSync(join(place.home, '.netrc'), '');
  });

  it('HTTPS_PROXY is used', async () => {
    const hosts: string[] = [];
    const proxy = createTcp((socket) => {
      socket.once('data', (head) => {
        const [, host = '', port = ''] = /^CONNECT ([^:]+):(\d+)/.exec(head.toString()) ?? [];
        hosts.push(host);
        const onward = connect(Number(port), '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
        for (const one of [socket, onward]) one.on('error', () => {});
        socket.pipe(onward).pipe(socket);
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const { files, error } = await place.fetch(`${at}/tool.tar.gz`, {
      credentials: { ...credentials, HTTPS_PROXY: url },
    });
    proxy.close();
    expect(error).toBeNull();
    expect([files, new Set(hosts)]).toEqual([FILES, new Set(['localhost'])]);
  });
});

describe('issue 17 part 8: each fault of a server has its code and its remedy, and leaves nothing', () => {
  const stall = { ...FETCH_LIMITS, stall_ms: 300 };
  const small = { ...FETCH_LIMITS, bytes: 1_000_000 };
  const brief = { ...FETCH_LIMITS, time_ms: 1_500 };
  const cases: [path: string, code: string, says: RegExp, limits?: typeof FETCH_LIMITS][] = [
    ['/missing.tgz', 'NOT_FOUND', /does not exist/],
    ['/guarded.tgz', 'AUTH_FAILED', /401/],
    ['/forbidden.tgz', 'AUTH_FAILED', /403/],
    ['/many.tgz', 'RATE_LIMITED', /429/],
    ['/broken.tgz', 'UPSTREAM_ERROR', /500/],
    ['/page.tgz', 'SCHEMA_INVALID', /web page/],
    ['/to-http.tgz', 'UPSTREAM_ERROR', /only https is followed/],
    ['/to-file.tgz', 'UPSTREAM_ERROR', /only https is followed/],
    ['/to-login.tgz', 'UPSTREAM_ERROR', /only https is followed/],
    ['/to-nowhere.tgz', 'UPSTREAM_ERROR', /redirects to nowhere/],
    ['/loop.tgz', 'UPSTREAM_ERROR', /more than 10 times/],
    ['/encoded.tgz', 'UPSTREAM_ERROR', /encoding/],
    ['/huge.tgz', 'PAYLOAD_TOO_LARGE', /999999999999 bytes/],
    ['/endless.tgz', 'PAYLOAD_TOO_LARGE', /more than 1000000 bytes/, small],
    ['/silent.tgz', 'UPSTREAM_TIMEOUT', /sent nothing/, stall],
    ['/stalls.tgz', 'UPSTREAM_TIMEOUT', /sent nothing/, stall],
    ['/drip.tgz', 'TIMEOUT', /more than 1.5 s/, brief],
    ['/lost.tgz', 'UPSTREAM_UNAVAILABLE', /broke the connection off/],
    ['/lost-chunked.tgz', 'UPSTREAM_UNAVAILABLE', /broke the connection off/],
    ['/short.tgz', 'SCHEMA_INVALID', /not a whole/],
    [`/tool.tar.gz?checksum=sha256:${'0'.repeat(64)}`, 'INTEGRITY_FAILED', /not 0000/],
    ['/tool.tar.gz//missing', 'NOT_FOUND', /folder missing/],
  ];
  for (const [path, code, says, limits = FETCH_LIMITS] of cases)
    it(`${path}: ${code}`, async () => {
      seen.length = 0;
      const { error, left } = await place.fetch(`${at}${path}`, { credentials, limits });
      expect(error?.code).toBe(code);
      expect(error?.message).toMatch(says);
      expect(error?.remedy).toMatch(/^[A-Z].{8,}/s);
      expect(left).toEqual([]);
      expect(seen.some((one) => one.path.startsWith('http:'))).toBe(false);
    });

  it('an archive that is not the one of the lock file: CONFLICT, with both hashes', async () => {
    const expected = { sha256: 'ab'.repeat(32) };
    const { error } = await place.fetch(`${at}/tool.tar.gz`, { credentials, expected });
    expect(error?.code).toBe('CONFLICT');
    expect(error?.details).toEqual({ expected_sha256: expected.sha256, sha256: sumOf(TAR) });
  });

  it('a certificate that nobody vouches for: UPSTREAM_UNAVAILABLE, and the remedy names the variable', async () => {
    const { error } = await place.fetch(`${at}/tool.tar.gz`);
    expect(error?.code).toBe('UPSTREAM_UNAVAILABLE');
    expect(error?.remedy).toContain('NODE_EXTRA_CA_CERTS');
  });

  it('nobody listens, or the host does not exist: UPSTREAM_UNAVAILABLE', async () => {
    for (const source of ['https://localhost:1/tool.tgz', 'https://missing.invalid/tool.tgz'])
      expect((await place.fetch(source)).error?.code).toBe('UPSTREAM_UNAVAILABLE');
  });
});
