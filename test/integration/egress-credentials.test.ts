import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BoundCredential, type ConnectionFact, scopeKey } from '#src/egress/messages.js';
import { EgressProcess, wholeRule } from '../helpers/egress-process.js';
import { HAS_LOW_PORTS } from '../helpers/low-ports.ts';
import { type Answer, type Ask, askThrough, TlsHost, tlsThrough } from '../helpers/tls-host.js';

/** Loopback addresses of this test alone. */
const NET = `127.78.${process.pid % 250}`;
const [API, PLAIN, LIAR] = [`${NET}.1`, `${NET}.2`, `${NET}.3`];
const HOSTS = `${API} api.example\n${PLAIN} plain.example\n${LIAR} liar.example\n`;
const SCOPE = scopeKey({ project: '/project', tool: null });
const OTHER = scopeKey({ project: '/other', tool: null });
const NAMES = ['api.example', 'plain.example', 'liar.example', 'api.example:8443'];
const SECRET = `Bearer ${Math.random().toString(36).slice(2).padEnd(12, 'x')}`;
const BIG = Buffer.alloc(20 * 1024 * 1024, 'x');

const PROGRAM = join(import.meta.dirname, '..', '..', 'dist', 'program');

let dir: string;
let egress: EgressProcess;
let hosts: { api: TlsHost; other: TlsHost; plain: TlsHost; liar: TlsHost };
let proxy: number;
let otherProxy: number;
let ca: string;

function credential(some: Partial<BoundCredential> = {}): BoundCredential {
  const base = { id: '1', host: 'api.example', port: 443, header: 'authorization', value: SECRET };
  return { ...base, methods: ['GET', 'HEAD'], paths: [], ...some };
}

const ALL: readonly BoundCredential[] = [
  credential({ paths: ['/v1/*'] }),
  credential({ id: '2', paths: ['/upload/*'], methods: ['POST'], header: 'x-api-key', value: 'key-of-the-upload' }),
  credential({ id: '3', host: 'liar.example' }),
];

const ANSWERS: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => unknown>> = {
  '/v1/big': (_request, response) => response.end(BIG),
  '/v1/echo': echo,
  '/v1/switch': ({ socket }) => socket.end('HTTP/1.1 101 Now\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
  '/v1/moved': (_request, response) => response.writeHead(302, { Location: 'https://plain.example/' }).end(),
  '/v1/expired': (_request, response) => response.writeHead(401, 'Unauthorized').end('no'),
};

function answer(request: IncomingMessage, response: ServerResponse): void {
  const other = ANSWERS[request.url ?? ''];
  if (other !== undefined) {
    other(request, response);
    return;
  }
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  request.on('end', () => response.writeHead(200, 'Fine').end(`got ${bytes}`));
}

/** Returns the secret in pieces, in a header and in the reason phrase. */
function echo({ headers }: IncomingMessage, response: ServerResponse): void {
  const text = headers.authorization ?? '';
  response.writeHead(200, text, { 'X-Echo': text, 'X-Encoding': String(headers['accept-encoding']) });
  const pieces = [...`${text}\n${Buffer.from(text.slice(7)).toString('base64')}\nBearer `];
  const next = (): void => {
    const piece = pieces.shift();
    if (piece === undefined) response.end();
    else response.write(piece, next);
  };
  next();
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'contextd-credentials-'));
  // Away from node_modules, as in its own sandbox.
  cpSync(PROGRAM, dir, { recursive: true });
  egress = await EgressProcess.start(HOSTS, null, join(dir, 'egress.js'));
  hosts = {
    api: await TlsHost.listen({ name: 'api.example', address: API }, answer),
    other: await TlsHost.listen({ name: 'api.example', address: API, port: 8443 }, answer),
    plain: await TlsHost.listen({ name: 'plain.example', address: PLAIN }, answer),
    liar: await TlsHost.listen({ name: 'liar.example', address: LIAR, certified: 'truth.example' }, answer),
  };
  const extraCa = [hosts.api, hosts.plain, hosts.liar].map(({ certificate }) => certificate);
  egress.send({ op: 'settings', settings: { upstream: null, extraCa } });
  proxy = await egress.listen(3128, { scope: SCOPE, namespace: 'net:[1]' });
  otherProxy = await egress.listen(3128, { scope: OTHER, namespace: 'net:[2]' });
  for (const scope of [SCOPE, OTHER]) await egress.setRules(scope, NAMES);
  egress.send({ op: 'credentials', scope: SCOPE, credentials: ALL });
  ca = await authorityOf(SCOPE);
});

afterAll(async () => {
  await egress.stop();
  await Promise.all(Object.values(hosts).map((host) => host.close()));
  rmSync(dir, { recursive: true, force: true });
});

async function authorityOf(scope: string, after = 0): Promise<string> {
  const event = await egress.until(
    (one) => one.ev === 'authority' && one.scope === scope && egress.events.indexOf(one) >= after,
  );
  return (event.ev === 'authority' && event.certificate) || '';
}

function ask(some: Partial<Ask> = {}): Promise<Answer> {
  return askThrough({ proxy, host: 'api.example', path: '/v1/me', ca, ...some });
}

async function refusals(): Promise<ConnectionFact[]> {
  await egress.sync();
  return egress.facts.filter(({ allowed }) => !allowed);
}

describe.runIf(HAS_LOW_PORTS)('A request to a host with a credential', () => {
  it('reaches the host with the credential, and without what the program sent in its place', async () => {
    const headers = { Authorization: 'Bearer placeholder', 'X-Http-Method-Override': 'DELETE', 'X-Kept': 'yes' };
    expect(await ask({ headers })).toMatchObject({ status: 200, reason: 'Fine' });
    const got = hosts.api.got.at(-1);
    expect(got).toMatchObject({ method: 'GET', url: '/v1/me' });
    expect(got?.headers).toEqual({
      host: 'api.example',
      'x-kept': 'yes',
      connection: 'keep-alive',
      'accept-encoding': 'identity',
      authorization: SECRET,
    });
  });

  it('carries the credential in the header that it is bound to, and no other of the program', async () => {
    const headers = { Authorization: 'Basic placeholder', 'X-API-Key': 'placeholder' };
    const { body } = await ask({ method: 'POST', path: '/upload/x', headers, body: BIG });
    expect(body.toString()).toBe(`got ${BIG.length}`);
    const got = hosts.api.got.at(-1);
    expect(got?.headers['x-api-key']).toBe('key-of-the-upload');
    expect(got?.headers.authorization).toBeUndefined();
  });

  it('gets an answer without the credential, from a host that returns it', async () => {
    const { reason, headers, body } = await ask({ path: '/v1/echo', headers: { 'Accept-Encoding': 'gzip' } });
    const stars = '*'.repeat(SECRET.length - 7);
    expect({ reason, echoed: headers['x-echo'] }).toEqual({ reason: `Bearer ${stars}`, echoed: `Bearer ${stars}` });
    expect(body.toString()).toMatch(/^Bearer \*{10,}\n\*{12,}\nBearer $/);
    expect(headers['x-encoding']).toBe('identity');
  });

  it('is answered if the host changes the protocol unasked', async () => {
    expect(await ask({ path: '/v1/switch' })).toMatchObject({
      status: 502,
      reason: expect.stringContaining('without an answer'),
    });
  });

  it('is counted in both directions', async () => {
    const { body } = await ask({ path: '/v1/big' });
    expect(body.equals(BIG)).toBe(true);
    const { id } = egress.facts.findLast(({ host, allowed }) => host === 'api.example' && allowed) ?? { id: 0 };
    const closed = await egress.until((event) => event.ev === 'closed' && event.traffic.id === id);
    expect(closed.ev === 'closed' && closed.traffic.down).toBeGreaterThan(BIG.length);
    expect(closed.ev === 'closed' && closed.traffic.up).toBeGreaterThan(40);
  });

  it('uses a connection to the host again for the next request of a program', async () => {
    const secure = await tlsThrough({ proxy, host: 'api.example', ca });
    const before = await connectionsOf(hosts.api);
    let text = '';
    secure.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    for (const count of [1, 2]) {
      secure.write('GET /v1/me HTTP/1.1\r\nHost: api.example\r\n\r\n');
      await expect.poll(() => text.split('got 0').length - 1).toBe(count);
    }
    expect(await connectionsOf(hosts.api)).toBe(before + 1);
    secure.destroy();
  });

  it('passes a redirect through, whose other host gets no credential', async () => {
    expect(await ask({ path: '/v1/moved' })).toMatchObject({
      status: 302,
      headers: { location: 'https://plain.example/' },
    });
    await ask({ host: 'plain.example', ca: hosts.plain.certificate });
    expect(hosts.plain.got.at(-1)?.headers.authorization).toBeUndefined();
  });

  it('is reported if the host does not accept the credential', async () => {
    expect(await ask({ path: '/v1/expired' })).toMatchObject({ status: 401 });
    await egress.until((event) => event.ev === 'rejected' && event.scope === SCOPE && event.credential === '1');
  });
});

describe.runIf(HAS_LOW_PORTS)('A request is refused, says why, and does not reach the host', () => {
  it.each<[string, Partial<Ask>]>([
    ['no credential for this host is bound to its path', { path: '/v2/me' }],
    ['its path holds . or ..', { path: '/v1/../v2/me' }],
    ['it names its whole address instead of a path', { path: 'https://api.example/v1/me' }],
    ['the credential for its path is for GET and HEAD, not for DELETE', { method: 'DELETE' }],
    ['the credential for its path is for GET and HEAD, not for POST', { method: 'POST', body: BIG }],
    ['it names another host than its connection', { headers: { Host: 'plain.example' } }],
    ['it names no host, or several', { headers: { Host: ['api.example', 'plain.example'] } }],
    ['it asks for another protocol (Upgrade)', { headers: { Connection: 'Upgrade', Upgrade: 'websocket' } }],
  ])('because %s', async (why, some) => {
    const before = hosts.api.got.length;
    const refused = await ask(some);
    const remedy = /^(?:no|the) credential/.test(why)
      ? '. A person can allow it: ctxd network credential add api.example --from SOURCE --paths PATHS, with --push or --methods if it is needed'
      : '';
    expect(refused).toMatchObject({ status: 403, reason: `contextd refused api.example:443: ${why}${remedy}` });
    expect(refused.body.toString()).toBe(`${refused.reason}\n`);
    expect(refused.headers['x-contextd-denied']).toBe(refused.reason);
    expect(hosts.api.got.length).toBe(before);
    expect((await refusals()).at(-1)).toMatchObject({ host: 'api.example', port: 443, why, via: 'connect' });
  });

  it('because it asks for a tunnel', async () => {
    const secure = await tlsThrough({ proxy, host: 'api.example', ca });
    secure.write('CONNECT plain.example:443 HTTP/1.1\r\nHost: api.example\r\n\r\n');
    const text = await new Promise((resolve) => void secure.once('data', (data) => resolve(String(data))));
    expect(text).toMatch(/^HTTP\/1\.1 403 contextd refused api\.example:443: it asks for a tunnel \(CONNECT\)\r\n/);
  });

  it('because the host proves another name', async () => {
    const refused = await ask({ host: 'liar.example', path: '/' });
    expect(refused.reason).toBe(
      'contextd: liar.example:443 is allowed, but its TLS failed (ERR_TLS_CERT_ALTNAME_INVALID)',
    );
    expect(refused.status).toBe(502);
    expect(hosts.liar.got).toEqual([]);
  });
});

describe.runIf(HAS_LOW_PORTS)('TLS is ended', () => {
  it('for the hosts of credentials alone', async () => {
    expect(await ask({ host: 'plain.example', ca: hosts.plain.certificate })).toMatchObject({ status: 200 });
    expect(await ask({ port: 8443, ca: hosts.other.certificate })).toMatchObject({ status: 200 });
    expect(hosts.other.got.at(-1)?.headers.authorization).toBeUndefined();
  });

  it('for the scope of the credential alone', async () => {
    const here = { proxy: otherProxy, ca: hosts.api.certificate };
    expect(await ask({ ...here, headers: { Authorization: 'mine' } })).toMatchObject({ status: 200 });
    expect(hosts.api.got.at(-1)?.headers.authorization).toBe('mine');
    await expect(ask({ proxy: otherProxy })).rejects.toThrow();
  });

  it('by an authority that is valid for two days and for these hosts', () => {
    const certificate = new X509Certificate(ca);
    const days = (certificate.validToDate.getTime() - Date.now()) / 86_400_000;
    expect(certificate.ca).toBe(true);
    expect(days).toBeGreaterThan(1.9);
    expect(days).toBeLessThan(2.1);
    // The extension is critical and permits two names.
    expect(certificate.raw.includes(Buffer.from('0603551d1e0101ff', 'hex'))).toBe(true);
    for (const name of ['api.example', 'liar.example']) expect(certificate.raw.includes(name)).toBe(true);
    expect(certificate.raw.includes('plain.example')).toBe(false);
  });

  it('and the record says if a program does not trust it', async () => {
    const curl = ['curl', '-sS', '--proxy', `http://127.0.0.1:${proxy}`, 'https://api.example/v1/me'];
    expect(spawnSync('env', curl, { encoding: 'utf8' }).stderr).toMatch(/certificate/);
    await egress.until((event) => event.ev === 'closed' && event.why.startsWith('the program does not trust'));
  });
});

describe.runIf(HAS_LOW_PORTS)('When what is bound changes', () => {
  it('a command that trusts the earlier certificate goes on, and open connections that were not ended are cut', async () => {
    const open = await tlsThrough({ proxy, host: 'plain.example', ca: hosts.plain.certificate });
    const ended = new Promise<void>((resolve) => void open.once('close', () => resolve()));
    const after = egress.events.length;
    egress.send({
      op: 'credentials',
      scope: SCOPE,
      credentials: [...ALL, credential({ id: '4', host: 'plain.example' })],
    });
    const next = await authorityOf(SCOPE, after);
    await ended;
    expect(await ask()).toMatchObject({ status: 200 });
    expect(await ask({ host: 'plain.example', ca: next })).toMatchObject({ status: 200 });
    expect(hosts.plain.got.at(-1)?.headers.authorization).toBe(SECRET);
    await expect(ask({ host: 'plain.example' })).rejects.toThrow();
    egress.send({ op: 'credentials', scope: SCOPE, credentials: ALL });
    await authorityOf(SCOPE, egress.events.length);
    expect(await ask({ host: 'plain.example', ca: hosts.plain.certificate })).toMatchObject({ status: 200 });
  });

  it('an open connection uses the credential as it is now', async () => {
    const secure = await tlsThrough({ proxy, host: 'api.example', ca });
    const changed = ALL.map((one) => (one.id === '1' ? { ...one, value: 'Bearer renewed' } : one));
    const after = egress.events.length;
    egress.send({ op: 'credentials', scope: SCOPE, credentials: changed });
    await authorityOf(SCOPE, after);
    secure.write('GET /v1/me HTTP/1.1\r\nHost: api.example\r\n\r\n');
    await new Promise((resolve) => void secure.once('data', resolve));
    expect(hosts.api.got.at(-1)?.headers.authorization).toBe('Bearer renewed');
    secure.destroy();
    egress.send({ op: 'credentials', scope: SCOPE, credentials: ALL });
  });

  it('a policy that denies the host ends its connections', async () => {
    const secure = await tlsThrough({ proxy, host: 'api.example', ca });
    const ended = new Promise<void>((resolve) => void secure.once('close', () => resolve()));
    await egress.setRules(SCOPE, [...NAMES, wholeRule({ pattern: 'api.example', verdict: 'deny' })]);
    await ended;
    await expect(ask()).rejects.toThrow(/403/);
    await egress.setRules(SCOPE, NAMES);
  });
});

function connectionsOf({ server }: TlsHost): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((cause, count) => (cause ? reject(cause) : resolve(count))),
  );
}
