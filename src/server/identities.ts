import { createPrivateKey, X509Certificate } from 'node:crypto';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The three that take part in mutual TLS. Each has a key of its own: the proxy's opens no management rpc. */
export const IDENTITIES = {
  server: { commonName: 'contextd', usage: 'serverAuth' },
  proxy: { commonName: 'contextd-proxy', usage: 'clientAuth' },
  cli: { commonName: 'ctxd', usage: 'clientAuth' },
} as const;

export type IdentityName = keyof typeof IDENTITIES;
export type Caller = Exclude<IdentityName, 'server'>;

/** The DNS name in the server's certificate; clients check it whatever the socket's path. */
export const SERVER_NAME = 'contextd';

/** Who a verified client certificate speaks for; undefined for a name we never gave out. */
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

/** Everything mutual TLS needs. There is no key of the authority: see certificates.ts. */
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

/** Reads one file of the set. Throws when others may read it: then it is a secret no more. */
export async function readPrivate(file: string): Promise<string> {
  const { mode } = await stat(file);
  if ((mode & 0o077) !== 0) throw new Error(`${file} is open to others (mode ${(mode & 0o777).toString(8)})`);
  return readFile(file, 'utf8');
}

/** Mode 0600 from its first byte, and under its name only once it is complete and on the disk. */
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

/** True when key and certificate belong together. */
export function isPair(pair: KeyPair): boolean {
  return new X509Certificate(pair.certificate).checkPrivateKey(createPrivateKey(pair.privateKey));
}
