import { X509Certificate } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import type { Clock } from '../core/clock.ts';
import { isErrno } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import {
  authorityFile,
  type CertificateSet,
  identityFiles,
  isPair,
  type KeyPair,
  readPrivate,
  writePrivate,
} from './certificate-files.ts';
import { IDENTITIES, type IdentityName, SERVER_NAME } from './identities.ts';
import { issueCertificates } from './issue.ts';

const DAY_MS = 86_400_000;
/** How long a set is good for. Nobody but this user's own processes ever sees it. */
export const LIFETIME_MS = 730 * DAY_MS;
/** A set with less than this left is made anew at start. */
export const RENEWAL_MS = 30 * DAY_MS;

export interface CertificateDeps {
  certsDir: string;
  clock: Clock;
  logger: Logger;
}

/**
 * The certificates in `certsDir`, made anew as a whole when one is missing, damaged, mismatched, open to others or
 * near its end. All are made together, so the authority's private key is never written: a thief of this directory
 * finds no means to make further identities.
 */
export async function ensureCertificates(deps: CertificateDeps): Promise<CertificateSet> {
  const found = await readSound(deps);
  if (typeof found !== 'string') return found;
  const fresh = await issueCertificates(deps.clock.now(), LIFETIME_MS);
  await writeSet(deps.certsDir, fresh);
  deps.logger.info('certificates.made', { why: found });
  return fresh;
}

/** A set that may be used, or why there is none. */
async function readSound({ certsDir, clock }: CertificateDeps): Promise<CertificateSet | string> {
  try {
    const set = await readSet(certsDir);
    return fault(set, clock.now()) ?? set;
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT')) return 'there were none, or not all';
    return thrown instanceof Error ? `unreadable: ${thrown.message}` : 'unreadable';
  }
}

export async function readSet(certsDir: string): Promise<CertificateSet> {
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

/** Keys before certificates and the authority last: a set half written is seen to be mismatched. */
export async function writeSet(certsDir: string, set: CertificateSet): Promise<void> {
  await mkdir(certsDir, { recursive: true, mode: 0o700 });
  for (const name of identityNames()) {
    const files = identityFiles(certsDir, name);
    await writePrivate(files.privateKey, set[name].privateKey);
    await writePrivate(files.certificate, set[name].certificate);
  }
  await writePrivate(authorityFile(certsDir), set.authority);
}

/** What is wrong with a set at a time; undefined when nothing is. Throws on what is no certificate at all. */
export function fault(set: CertificateSet, nowMs: number): string | undefined {
  const authority = new X509Certificate(set.authority);
  if (!authority.ca || !authority.verify(authority.publicKey)) return 'ca.pem is no authority';
  if (!inForce(authority, nowMs)) return 'near the end of its time: ca.pem';
  for (const name of identityNames()) {
    const certificate = new X509Certificate(set[name].certificate);
    if (!certificate.checkIssued(authority) || !certificate.verify(authority.publicKey))
      return `mismatched: ${name}.pem`;
    if (!isPair(set[name])) return `mismatched: ${name}.key`;
    if (!speaksFor(certificate, name)) return `of another: ${name}.pem`;
    if (!inForce(certificate, nowMs)) return `near the end of its time: ${name}.pem`;
  }
  return undefined;
}

function inForce(certificate: X509Certificate, nowMs: number): boolean {
  return certificate.validFromDate.getTime() <= nowMs && certificate.validToDate.getTime() - nowMs >= RENEWAL_MS;
}

function speaksFor(certificate: X509Certificate, name: IdentityName): boolean {
  if (certificate.subject !== `CN=${IDENTITIES[name].commonName}`) return false;
  return name !== 'server' || certificate.checkHost(SERVER_NAME) === SERVER_NAME;
}

function identityNames(): readonly IdentityName[] {
  return ['server', 'proxy', 'cli'];
}
