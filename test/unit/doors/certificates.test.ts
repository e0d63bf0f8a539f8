import { X509Certificate } from 'node:crypto';
import { chmod, copyFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '#src/core/log.js';
import {
  ensureCertificates,
  issueCertificates,
  LIFETIME_MS,
  RENEWAL_MS,
  writeSet,
} from '#src/doors/grpc/certificates.js';

const START = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;
let certsDir: string;

beforeEach(async () => {
  certsDir = await mkdtemp(join(tmpdir(), 'certs-'));
});
afterEach(() => rm(certsDir, { recursive: true, force: true }));

const ensureAt = (nowMs: number) =>
  ensureCertificates({ certsDir, clock: { now: () => nowMs, monotonic: () => 0 }, logger: silentLogger });
const file = (name: string): string => join(certsDir, name);

describe('SEC-3.1 certificates', () => {
  it('are created at the first start: one authority, three identities, private', async () => {
    const set = await ensureAt(START);
    const names = await readdir(certsDir);
    expect(names.sort()).toEqual([
      'ca.pem',
      'cli.key',
      'cli.pem',
      'proxy.key',
      'proxy.pem',
      'server.key',
      'server.pem',
    ]);
    for (const name of names) expect((await stat(file(name))).mode & 0o777).toBe(0o600);
    const [server, proxy, cli] = [set.server, set.proxy, set.cli].map((pair) => new X509Certificate(pair.certificate));
    expect([server?.subject, proxy?.subject, cli?.subject]).toEqual(['CN=contextd', 'CN=contextd-proxy', 'CN=ctxd']);
    expect(server?.subjectAltName).toBe('DNS:contextd');
    expect(server?.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
    expect([server?.keyUsage, proxy?.keyUsage, cli?.keyUsage]).toEqual([
      ['1.3.6.1.5.5.7.3.1'],
      ['1.3.6.1.5.5.7.3.2'],
      ['1.3.6.1.5.5.7.3.2'],
    ]);
    expect([server?.ca, proxy?.ca, cli?.ca]).toEqual([false, false, false]);
  });

  it('leave no key of the authority on disk', async () => {
    const set = await ensureAt(START);
    const authority = new X509Certificate(set.authority);
    for (const name of ['server.key', 'proxy.key', 'cli.key']) {
      const { createPrivateKey } = await import('node:crypto');
      expect(authority.checkPrivateKey(createPrivateKey(await readFile(file(name))))).toBe(false);
    }
    expect(await readFile(file('ca.pem'), 'utf8')).not.toContain('PRIVATE');
  });

  it('are kept while they are valid', async () => {
    const first = await ensureAt(START);
    expect(await ensureAt(START + LIFETIME_MS - RENEWAL_MS - HOUR_MS)).toEqual(first);
  });

  it('are replaced within 30 days of their end, and after it', async () => {
    expect(RENEWAL_MS).toBe(30 * 24 * HOUR_MS);
    const first = await ensureAt(START);
    const second = await ensureAt(START + LIFETIME_MS - RENEWAL_MS + HOUR_MS);
    expect(second.authority).not.toBe(first.authority);
    expect(second.server.certificate).not.toBe(first.server.certificate);
    const third = await ensureAt(START + 2 * LIFETIME_MS);
    expect(third.authority).not.toBe(second.authority);
    expect(await ensureAt(START + 2 * LIFETIME_MS)).toEqual(third);
  });

  it('are replaced if they were created with a short life', async () => {
    const short = await issueCertificates(START, 10 * 24 * HOUR_MS);
    await writeSet(certsDir, short);
    expect((await ensureAt(START)).authority).not.toBe(short.authority);
  });

  it('are replaced if the clock is before their creation', async () => {
    const first = await ensureAt(START);
    expect((await ensureAt(START - 2 * HOUR_MS)).authority).not.toBe(first.authority);
  });

  it.each(['ca.pem', 'server.key', 'proxy.pem', 'cli.key'])('are all replaced if %s is missing', async (name) => {
    const first = await ensureAt(START);
    await rm(file(name));
    const second = await ensureAt(START);
    expect(second.authority).not.toBe(first.authority);
    expect(second.cli.privateKey).not.toBe(first.cli.privateKey);
  });

  it.each(['ca.pem', 'server.pem', 'proxy.key'])('are replaced if %s is damaged', async (name) => {
    const first = await ensureAt(START);
    await writeFile(file(name), (await readFile(file(name), 'utf8')).slice(0, 100));
    expect((await ensureAt(START)).authority).not.toBe(first.authority);
  });

  it.each([
    ['server.key', 'cli.key'],
    ['cli.pem', 'proxy.pem'],
  ])('are replaced if %s is overwritten by %s', async (name, other) => {
    const first = await ensureAt(START);
    await copyFile(file(other), file(name));
    expect((await ensureAt(START)).authority).not.toBe(first.authority);
  });

  it('are replaced if an identity was signed by another authority', async () => {
    const first = await ensureAt(START);
    await writeSet(certsDir, { ...(await issueCertificates(START, LIFETIME_MS)), authority: first.authority });
    expect((await ensureAt(START)).authority).not.toBe(first.authority);
  });

  it('are replaced if a key was readable by others', async () => {
    const first = await ensureAt(START);
    await chmod(file('cli.key'), 0o640);
    const second = await ensureAt(START);
    expect(second.cli.privateKey).not.toBe(first.cli.privateKey);
    expect((await stat(file('cli.key'))).mode & 0o777).toBe(0o600);
  });
});
