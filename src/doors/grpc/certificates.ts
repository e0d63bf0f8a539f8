import { KeyObject, webcrypto, X509Certificate } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import type { JsonName, X509CertificateCreateParamsBase } from '@peculiar/x509';
import type { Clock } from '../../core/clock.ts';
import { isErrno } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import {
  authorityFile,
  type CertificateSet,
  IDENTITIES,
  type IdentityName,
  identityFiles,
  isPair,
  type KeyPair,
  readPrivate,
  SERVER_NAME,
  writePrivate,
} from './identities.ts';

const DAY_MS = 86_400_000;
/** How long a set is valid. Only processes of this user ever see it. */
export const LIFETIME_MS = 730 * DAY_MS;
/** A set that expires sooner than this is replaced at start. */
export const RENEWAL_MS = 30 * DAY_MS;

interface CertificateDeps {
  certsDir: string;
  clock: Clock;
  logger: Logger;
}

/**
 * Returns the certificates in `certsDir`. Replaces all of them if one is missing, damaged, mismatched, readable by
 * others or about to expire. They are created together, so the authority's private key is never written to disk and a
 * thief of this directory cannot create further identities.
 */
export async function ensureCertificates(deps: CertificateDeps): Promise<CertificateSet> {
  const found = await readValid(deps);
  if (typeof found !== 'string') return found;
  const fresh = await issueCertificates(deps.clock.now(), LIFETIME_MS);
  await writeSet(deps.certsDir, fresh);
  deps.logger.info('certificates.made', { why: found });
  return fresh;
}

/** A usable set, or the reason why the set cannot be used. */
async function readValid({ certsDir, clock }: CertificateDeps): Promise<CertificateSet | string> {
  try {
    const set = await readSet(certsDir);
    return fault(set, clock.now()) ?? set;
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT')) return 'a file is missing';
    return thrown instanceof Error ? `unreadable: ${thrown.message}` : 'unreadable';
  }
}

async function readSet(certsDir: string): Promise<CertificateSet> {
  const authority = await readPrivate(authorityFile(certsDir));
  const [server, proxy, cli] = [
    await readIdentity(certsDir, 'server'),
    await readIdentity(certsDir, 'proxy'),
    await readIdentity(certsDir, 'cli'),
  ];
  return { authority, server, proxy, cli };
}

export async function readIdentity(certsDir: string, name: IdentityName): Promise<KeyPair> {
  const files = identityFiles(certsDir, name);
  return { certificate: await readPrivate(files.certificate), privateKey: await readPrivate(files.privateKey) };
}

/** Writes keys before certificates and the authority last, so that a half-written set is detected as mismatched. */
export async function writeSet(certsDir: string, set: CertificateSet): Promise<void> {
  await mkdir(certsDir, { recursive: true, mode: 0o700 });
  for (const name of identityNames()) {
    const files = identityFiles(certsDir, name);
    await writePrivate(files.privateKey, set[name].privateKey);
    await writePrivate(files.certificate, set[name].certificate);
  }
  await writePrivate(authorityFile(certsDir), set.authority);
}

/** What is wrong with a set at that time, or undefined. Throws if a file is not a certificate. */
function fault(set: CertificateSet, nowMs: number): string | undefined {
  const authority = new X509Certificate(set.authority);
  if (!authority.ca || !authority.verify(authority.publicKey)) return 'ca.pem is not an authority';
  if (!isValidAt(authority, nowMs)) return 'expires soon: ca.pem';
  for (const name of identityNames()) {
    const certificate = new X509Certificate(set[name].certificate);
    if (!certificate.checkIssued(authority) || !certificate.verify(authority.publicKey))
      return `mismatched: ${name}.pem`;
    if (!isPair(set[name])) return `mismatched: ${name}.key`;
    if (!hasNameOf(certificate, name)) return `wrong name: ${name}.pem`;
    if (!isValidAt(certificate, nowMs)) return `expires soon: ${name}.pem`;
  }
  return undefined;
}

function isValidAt(certificate: X509Certificate, nowMs: number): boolean {
  return certificate.validFromDate.getTime() <= nowMs && certificate.validToDate.getTime() - nowMs >= RENEWAL_MS;
}

function hasNameOf(certificate: X509Certificate, name: IdentityName): boolean {
  if (certificate.subject !== `CN=${IDENTITIES[name].commonName}`) return false;
  return name !== 'server' || certificate.checkHost(SERVER_NAME) === SERVER_NAME;
}

function identityNames(): readonly IdentityName[] {
  return ['server', 'proxy', 'cli'];
}

/** Tolerates a clock that is set back a little after the certificates were created. */
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
 * A new authority and the three identities that it signs, ECDSA P-256, valid for `lifetimeMs` from `nowMs`. The
 * authority's private key cannot be exported and is dropped on return, so nothing can ever be signed with it again.
 */
export async function issueCertificates(nowMs: number, lifetimeMs: number): Promise<CertificateSet> {
  // Loaded here only: it takes longer than the rest of the start and is needed once in two years.
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

/** 64 random bits after a leading byte that keeps the number positive and its length constant. */
function newSerial(): string {
  return `01${Buffer.from(webcrypto.getRandomValues(new Uint8Array(8))).toString('hex')}`;
}

function pem(key: webcrypto.CryptoKey): string {
  return KeyObject.from(key).export({ type: 'pkcs8', format: 'pem' }).toString();
}
