import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY_MS = 24 * 3_600_000;

export interface ServerIdentity {
  readonly key: string;
  readonly cert: string;
}

/** A certificate authority that no system trusts, and certificates for servers of a test. */
export interface Authority {
  readonly pem: string;
  /** As a file with a private key would hold it. */
  readonly keyPem: string;
  issue(...names: readonly string[]): Promise<ServerIdentity>;
}

export async function createAuthority(name: string, lifetimeMs = 30 * DAY_MS): Promise<Authority> {
  const notBefore = new Date(Date.now() - DAY_MS);
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    keys,
    notBefore,
    notAfter: new Date(Date.now() + lifetimeMs),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return {
    pem: certificate.toString('pem'),
    keyPem: await pemOf(keys.privateKey),
    async issue(...names) {
      const own = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
      const leaf = await x509.X509CertificateGenerator.create({
        subject: `CN=${names[0]}`,
        issuer: certificate.subject,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        notBefore,
        notAfter: new Date(Date.now() + lifetimeMs),
        signingAlgorithm: ALGORITHM,
        extensions: [
          new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns', value }))),
          new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
          await x509.AuthorityKeyIdentifierExtension.create(keys.publicKey),
        ],
      });
      return { key: await pemOf(own.privateKey), cert: leaf.toString('pem') };
    },
  };
}

async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}
