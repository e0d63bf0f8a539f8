import { createPrivateKey, webcrypto } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import 'reflect-metadata';
import { type Client, Server } from '@grpc/grpc-js';
import { SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HealthHandlers } from '#src/protocol/generated/health-service.js';
import { createCertificate, type PluginCertificate } from '#src/protocol/plugin/certificate.js';
import { loadPluginProtocol } from '#src/protocol/plugin/load-plugin-protocol.js';
import { dialPinned, listenPinned, type Pair, type PinnedListener } from '#src/protocol/plugin/pinned-tls.js';

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const { Health } = loadPluginProtocol();

/** A certificate for localhost that the pinned certificate vouches for: its holder has the key but shows another leaf. */
async function issuedBy(issuer: PluginCertificate): Promise<PluginCertificate> {
  const keys = await webcrypto.subtle.generateKey(ECDSA, true, ['sign', 'verify']);
  const issuerKey = createPrivateKey(issuer.privateKey).export({ type: 'pkcs8', format: 'der' });
  const certificate = await X509CertificateGenerator.create({
    subject: 'CN=localhost',
    issuer: 'O=contextd, CN=localhost',
    publicKey: keys.publicKey,
    signingKey: await webcrypto.subtle.importKey('pkcs8', issuerKey, ECDSA, false, ['sign']),
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    notBefore: new Date(Date.now() - 1_000),
    notAfter: new Date(Date.now() + 3_600_000),
    extensions: [new SubjectAlternativeNameExtension([{ type: 'dns', value: 'localhost' }])],
  });
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return {
    certificate: certificate.toString('pem'),
    privateKey: `-----BEGIN PRIVATE ${'KEY'}-----\n${key}\n-----END PRIVATE ${'KEY'}-----\n`,
    der: Buffer.from(certificate.rawData),
  };
}

describe('a pinned connection', () => {
  const host = createCertificate(Date.now());
  const plugin = createCertificate(Date.now());
  let dir: string;
  let clients: Client[];
  let listeners: PinnedListener[];

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'ctxd-tls-'));
    clients = [];
    listeners = [];
  });

  afterEach(() => {
    for (const client of clients) client.close();
    for (const listener of listeners) listener.close();
    rmSync(dir, { recursive: true, force: true });
  });

  async function ask(serving: Pair, asking: Pair): Promise<number | undefined> {
    const server = new Server();
    const handlers: HealthHandlers = { Check: (_call, respond) => respond(null, { status: 1 }), Watch: () => {} };
    server.addService(Health.service, handlers);
    listeners.push(await listenPinned(server, join(dir, 'socket'), serving));
    const { address, credentials, options } = dialPinned(join(dir, 'socket'), asking);
    const client = new Health(address, credentials, options);
    clients.push(client);
    return new Promise((resolve, reject) => {
      client.Check({}, (error, response) => (error ? reject(error) : resolve(response?.status)));
    });
  }

  it('is made between two sides that know each other', async () => {
    await expect(ask({ own: plugin, peer: host.der }, { own: host, peer: plugin.der })).resolves.toBe(1);
  });

  it('SEC-2.1 accepts no stranger as server or as client', async () => {
    const stranger = createCertificate(Date.now());
    await expect(ask({ own: stranger, peer: host.der }, { own: host, peer: plugin.der })).rejects.toThrow();
    rmSync(join(dir, 'socket'));
    await expect(ask({ own: plugin, peer: host.der }, { own: stranger, peer: plugin.der })).rejects.toThrow();
  });

  it('SEC-2.1 accepts no other certificate that the pinned one vouches for, as server or as client', async () => {
    const other = await issuedBy(plugin);
    await expect(ask({ own: other, peer: host.der }, { own: host, peer: plugin.der })).rejects.toThrow('announced');
    rmSync(join(dir, 'socket'));
    const another = await issuedBy(host);
    await expect(ask({ own: plugin, peer: host.der }, { own: another, peer: plugin.der })).rejects.toThrow();
  });

  it('is not listened for where another server already listens', async () => {
    await ask({ own: plugin, peer: host.der }, { own: host, peer: plugin.der });
    const again = listenPinned(new Server(), join(dir, 'socket'), { own: plugin, peer: host.der });
    await expect(again).rejects.toThrow('EADDRINUSE');
  });
});
