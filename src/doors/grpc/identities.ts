import { createPrivateKey, X509Certificate } from 'node:crypto';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The three parties of mutual TLS. Each has its own key, so the proxy's key cannot call management rpcs. */
export const IDENTITIES = {
  server: { commonName: 'contextd', usage: 'serverAuth' },
  proxy: { commonName: 'contextd-proxy', usage: 'clientAuth' },
  cli: { commonName: 'ctxd', usage: 'clientAuth' },
} as const;

export type IdentityName = keyof typeof IDENTITIES;
export type Caller = Exclude<IdentityName, 'server'>;

/** The DNS name in the server's certificate. Clients check it; it does not depend on the path of the socket. */
export const SERVER_NAME = 'contextd';

/** The caller that a verified client certificate belongs to, or undefined for an unknown name. */
export function callerNamed(commonName: unknown): Caller | undefined {
  if (commonName === IDENTITIES.proxy.commonName) return 'proxy';
  if (commonName === IDENTITIES.cli.commonName) return 'cli';
  return undefined;
}

export interface KeyPair {
  /** PEM. */
  certificate: string;
  /** PEM, PKCS #8. */
  privateKey: string;
}

/** Everything that mutual TLS needs. It has no key of the authority: see certificates.ts. */
export interface CertificateSet extends Readonly<Record<IdentityName, KeyPair>> {
  /** Certificate of the private authority, PEM. */
  authority: string;
}

interface IdentityFiles {
  certificate: string;
  privateKey: string;
}

export function authorityFile(certsDir: string): string {
  return join(certsDir, 'ca.pem');
}

export function identityFiles(certsDir: string, name: IdentityName): IdentityFiles {
  return { certificate: join(certsDir, `${name}.pem`), privateKey: join(certsDir, `${name}.key`) };
}

/** Reads one file of the set. Throws if others may read it, because then it is no longer a secret. */
export async function readPrivate(file: string): Promise<string> {
  const { mode } = await stat(file);
  if ((mode & 0o077) !== 0) throw new Error(`${file} is readable by others (mode ${(mode & 0o777).toString(8)})`);
  return readFile(file, 'utf8');
}

/** Writes the file with mode 0600, and renames it into place once it is complete and on the disk. */
export async function writePrivate(file: string, text: string): Promise<void> {
  const fresh = `${file}.new`;
  await rm(fresh, { force: true });
  const handle = await open(fresh, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(fresh, file);
}

/** Returns true if key and certificate belong together. */
export function isPair(pair: KeyPair): boolean {
  return new X509Certificate(pair.certificate).checkPrivateKey(createPrivateKey(pair.privateKey));
}
