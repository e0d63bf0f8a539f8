import { KeyObject, webcrypto } from 'node:crypto';
import type { JsonName, X509CertificateCreateParamsBase } from '@peculiar/x509';
import type { CertificateSet, KeyPair } from './certificate-files.ts';
import { IDENTITIES, type IdentityName, SERVER_NAME } from './identities.ts';

/** Tolerates a clock set back a little after the certificates were made. */
const BACKDATED_MS = 3_600_000;
const CURVE = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const SIGNING = { name: 'ECDSA', hash: 'SHA-256' } as const;
const EXTENDED_USAGE = { serverAuth: '1.3.6.1.5.5.7.3.1', clientAuth: '1.3.6.1.5.5.7.3.2' } as const;

type X509 = typeof import('@peculiar/x509');
type Validity = Pick<X509CertificateCreateParamsBase, 'notBefore' | 'notAfter'>;

interface Authority {
  x509: X509;
  name: JsonName;
  keys: webcrypto.CryptoKeyPair;
  validity: Validity;
}

/**
 * A new authority and the three identities it signs, ECDSA P-256, valid for `lifetimeMs` from `nowMs`. The authority's
 * private key is not exportable and is forgotten on return: nothing can ever be signed with it again.
 */
export async function issueCertificates(nowMs: number, lifetimeMs: number): Promise<CertificateSet> {
  // Loaded here only: it takes longer than the rest of a start, and is needed once in years.
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const validity = { notBefore: new Date(nowMs - BACKDATED_MS), notAfter: new Date(nowMs + lifetimeMs) };
  const keys = await webcrypto.subtle.generateKey(CURVE, false, ['sign', 'verify']);
  const authority: Authority = { x509, name: [{ CN: ['contextd private authority'] }], keys, validity };
  return {
    authority: await certifyAuthority(authority),
    server: await certify(authority, 'server'),
    proxy: await certify(authority, 'proxy'),
    cli: await certify(authority, 'cli'),
  };
}

async function certifyAuthority({ x509, name, keys, validity }: Authority): Promise<string> {
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name,
    keys,
    ...validity,
    serialNumber: newSerial(),
    signingAlgorithm: SIGNING,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return certificate.toString('pem');
}

async function certify(authority: Authority, identity: IdentityName): Promise<KeyPair> {
  const { x509, name, validity } = authority;
  const { commonName, usage } = IDENTITIES[identity];
  const keys = await webcrypto.subtle.generateKey(CURVE, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [{ CN: [commonName] }],
    issuer: name,
    publicKey: keys.publicKey,
    signingKey: authority.keys.privateKey,
    ...validity,
    serialNumber: newSerial(),
    signingAlgorithm: SIGNING,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([EXTENDED_USAGE[usage]], true),
      await x509.AuthorityKeyIdentifierExtension.create(authority.keys.publicKey),
      ...(identity === 'server'
        ? [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: SERVER_NAME }])]
        : []),
    ],
  });
  return { certificate: certificate.toString('pem'), privateKey: pem(keys.privateKey) };
}

/** 64 random bits below a leading byte that keeps the number positive and of full length. */
function newSerial(): string {
  return `01${Buffer.from(webcrypto.getRandomValues(new Uint8Array(8))).toString('hex')}`;
}

function pem(key: webcrypto.CryptoKey): string {
  return KeyObject.from(key).export({ type: 'pkcs8', format: 'pem' }).toString();
}
