import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer, request as secureRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createContext } from '#src/cli/context.js';
import { provenStanding } from '#src/cli/http/prove.js';
import { createAuthority } from '../helpers/authority.ts';
import { openDoor } from '../helpers/door.ts';
import { askHttp, openHttpDoor } from '../helpers/http-door.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function installed(settings: Record<string, string> = {}): Promise<Installation> {
  const at = await install({ settings });
  cleanUps.push(() => at.remove());
  return at;
}

/** Listens at a port and keeps what it was sent. */
async function impostor(port: number, answer: string): Promise<{ port: number; heard: string[] }> {
  const heard: string[] = [];
  const server: Server = createServer(({ url, headers }, response) => {
    heard.push(`${url} ${JSON.stringify(headers)}`);
    response.end(answer);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  cleanUps.push(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it listens at a port');
  return { port: address.port, heard };
}

/** What `ctxd` knows if the daemon says this about its HTTP door. */
async function contextFor(standing: { url: string; certificate_sha256: string; proof: string }) {
  const grpc = await openDoor({
    dispatch: () => Promise.reject(new Error('no call')),
    management: { httpStatus: async () => ({ enabled: true, why: '', remedy: '', ...standing }) },
  });
  cleanUps.push(() => grpc.remove());
  const { stdin, stdout, stderr } = process;
  const context = createContext({ stdin, stdout, stderr }, '/', new AbortController().signal);
  return { ...context, paths: { ...context.paths, ...grpc.paths } };
}

/** A certificate for a name in files, and the settings that name them. */
async function tlsFiles(name: string) {
  const dir = mkdtempSync(join(tmpdir(), 'http-tls-'));
  cleanUps.push(() => rmSync(dir, { recursive: true }));
  const authority = await createAuthority('test');
  const { cert, key } = await authority.issue(name);
  const settings = { 'http.tls_certificate': join(dir, 'cert.pem'), 'http.tls_key': join(dir, 'key.pem') };
  writeFileSync(settings['http.tls_certificate'], cert);
  writeFileSync(settings['http.tls_key'], key);
  return { dir, authority, settings };
}

describe('issue 32.2 the door of a person', { timeout: 120_000 }, () => {
  it('is closed until a person opens it, keeps its port, and closes again; each is on record', async () => {
    const at = await installed();
    expect(await at.run(CTXD, ['http', 'url'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ctxd http on'),
    });
    expect((await at.run(CTXD, ['http', 'token'])).code).toBe(1);
    const on = await at.run(CTXD, ['http', 'on', '--json']);
    const { url } = JSON.parse(on.stdout);
    expect((await at.run(CTXD, ['http', 'url'])).stdout).toBe(`${url}\n`);
    const token = (await at.run(CTXD, ['http', 'token'])).stdout.trim();
    await at.run(CTXD, ['server', 'restart']);
    expect((await at.run(CTXD, ['http', 'url'])).stdout).toBe(`${url}\n`);
    expect((await askHttp(url, '/v1/health', { token })).status).toBe(200);
    await at.run(CTXD, ['http', 'off']);
    await expect(askHttp(url, '/v1/health', { token })).rejects.toThrow('ECONNREFUSED');
    const { stdout } = await at.run(CTXD, ['audit', 'tail', '--lines', '20']);
    expect(stdout).toMatch(/config set\t.*"http\.enabled","value":true/);
    expect(stdout).toMatch(/http token\t.*"name":"default"/);
    expect(stdout).toMatch(/config set\t.*"http\.enabled","value":false/);
  });

  it('leaves the daemon working if another program has its port, and says so', async () => {
    const { port, heard } = await impostor(0, '{"proof":"00"}');
    const at = await installed({ 'http.enabled': 'true', 'http.port': String(port) });
    expect(await at.ask('safe_bash', { command: 'echo works' })).toMatchObject({ success: true });
    const asked = await at.run(CTXD, ['http', 'url']);
    expect(asked).toMatchObject({ code: 1, stdout: '' });
    expect(asked.stderr).toContain(`port ${port} of 127.0.0.1 is taken by another program`);
    expect(asked.stderr).toContain('ctxd config set http.port');
    expect((await at.run(CTXD, ['doctor'])).stdout).toMatch(new RegExp(`warn\\s+http: port ${port}`));
    expect((await at.run(CTXD, ['http', 'token'])).code).toBe(1);
    expect(heard).toEqual([]);
  });
});

describe('issue 32.2 who listens there', () => {
  it('nobody does at another address than loopback without a certificate', async () => {
    for (const config of [{ host: '0.0.0.0' }, { host: '::' }, { host: '192.0.2.1' }, { tls_key: '/key.pem' }]) {
      const at = await openHttpDoor({ config });
      cleanUps.push(() => at.remove());
      const { enabled, at: where, why } = at.door.standing();
      expect({ enabled, where, why }).toMatchObject({
        enabled: true,
        where: null,
        why: { code: 'PERMISSION_DENIED', remedy: expect.stringContaining('http.tls_certificate') },
      });
    }
  });

  it('a listener that is not the daemon is found out, and gets no token', async () => {
    const { port, heard } = await impostor(0, JSON.stringify({ proof: 'ab'.repeat(32) }));
    const url = `http://127.0.0.1:${port}`;
    const context = await contextFor({ url, certificate_sha256: '', proof: 'cd'.repeat(32) });
    await expect(provenStanding(context)).rejects.toMatchObject({ code: 'AUTH_FAILED' });
    expect(heard).toHaveLength(1);
    expect(heard[0]).toMatch(/^\/v1\/proof\?nonce=[0-9a-f]{64} /);
    expect(heard[0]).not.toContain('authorization');
  });

  it('with TLS curl trusts the configured certificate at the address of ctxd http url, and no other', async () => {
    const { dir, authority, settings } = await tlsFiles('localhost');
    const at = await installed({ 'http.enabled': 'true', ...settings });
    const url = (await at.run(CTXD, ['http', 'url'])).stdout.trim();
    expect(url).toMatch(/^https:\/\/localhost:\d+$/);
    writeFileSync(join(dir, 'ca.pem'), authority.pem);
    writeFileSync(join(dir, 'other-ca.pem'), (await createAuthority('other')).pem);
    const { stdout: header } = await at.run(CTXD, ['http', 'token', '--header']);
    const curl = (ca: string, ...more: string[]) =>
      at.runProcess('curl', ['-sS', '--noproxy', '*', '--cacert', join(dir, ca), '-H', '@-', ...more], {
        input: header,
      });
    const body = JSON.stringify({ project: at.project, input: 'echo over TLS' });
    const json = ['-H', 'Content-Type: application/json', '-d', body];
    const called = await curl('ca.pem', ...json, `${url}/v1/tools/safe_bash/execute`);
    expect(JSON.parse(called.stdout)).toMatchObject({ success: true, data: { stdout: 'over TLS\n' } });
    expect(await curl('other-ca.pem', `${url}/v1/health`)).toMatchObject({ code: 60, stdout: '' });
    const plain = await curl('ca.pem', url.replace('https:', 'http:'));
    expect(plain.stdout).not.toContain('response-v2');
    expect(plain.code).not.toBe(0);
    const file = JSON.parse(readFileSync(join(at.home, 'config/http/default.json'), 'utf8'));
    const own = new X509Certificate(readFileSync(settings['http.tls_certificate'] ?? ''));
    expect(file.certificate_sha256).toBe(own.fingerprint256.replaceAll(':', '').toLowerCase());
  });

  it('a listener with another certificate than that of the daemon is found out, even if it proves itself', async () => {
    const { cert, key } = await (await createAuthority('other')).issue('localhost');
    const asked: string[] = [];
    const server = createTlsServer({ cert, key }, ({ url = '' }, response) => {
      asked.push(url);
      response.end(JSON.stringify({ proof: 'cd'.repeat(32) }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanUps.push(() => new Promise((resolve) => server.close(resolve)));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('it listens at a port');
    const url = `https://127.0.0.1:${address.port}`;
    const proving = await contextFor({ url, certificate_sha256: 'ab'.repeat(32), proof: 'cd'.repeat(32) });
    await expect(provenStanding(proving)).rejects.toMatchObject({ code: 'AUTH_FAILED' });
    expect(asked).toHaveLength(1);
    const own = new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase();
    const proven = await contextFor({ url, certificate_sha256: own, proof: 'cd'.repeat(32) });
    expect(await provenStanding(proven)).toMatchObject({ url });
  });

  it('with TLS it speaks for the names of its certificate, and for no others', async () => {
    const { settings } = await tlsFiles('door.example.com');
    const { 'http.tls_certificate': tls_certificate, 'http.tls_key': tls_key } = settings;
    const at = await openHttpDoor({ config: { tls_certificate, tls_key } });
    cleanUps.push(() => at.remove());
    expect(at.url).toBe(`https://door.example.com:${at.port}`);
    const statusOf = (host: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const headers = { host, authorization: 'Bearer ctxd_all' };
        const options = {
          host: '127.0.0.1',
          port: at.port,
          path: '/v1/health',
          headers,
          rejectUnauthorized: false,
          agent: false,
        };
        secureRequest(options, (response) => resolve(response.resume().statusCode))
          .on('error', reject)
          .end();
      });
    expect(await statusOf(`door.example.com:${at.port}`)).toBe(200);
    expect(await statusOf(`127.0.0.1:${at.port}`)).toBe(403);
    expect(await statusOf('door.example.com')).toBe(403);
  });
});
