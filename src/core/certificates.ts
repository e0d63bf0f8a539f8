import { createHash, X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';

const BLOCK = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[^-]+-----END (?:TRUSTED )?CERTIFICATE-----/g;

/** The certificates of a PEM text that can be read, each once. */
export function certificatesIn(text: string): X509Certificate[] {
  const found = new Map<string, X509Certificate>();
  for (const [block] of text.matchAll(BLOCK)) {
    const certificate = parseOrNull(block);
    if (certificate !== null) found.set(certificate.fingerprint256, certificate);
  }
  return [...found.values()];
}

function parseOrNull(block: string): X509Certificate | null {
  try {
    return new X509Certificate(block);
  } catch {
    return null;
  }
}

/** The digests of the certificates in PEM texts, which is cheaper than reading them. */
export function digestsIn(texts: readonly string[]): ReadonlySet<string> {
  return new Set(texts.flatMap((text) => [...text.matchAll(BLOCK)].map(([block]) => digestOfPem(block))));
}

export function digestOf({ raw }: X509Certificate): string {
  return sha256(raw);
}

let builtIn: ReadonlySet<string> | null = null;

/** True for a certificate that Node trusts without being asked to: the public ones. */
export function isBuiltIn(certificate: X509Certificate): boolean {
  builtIn ??= new Set(rootCertificates.map(digestOfPem));
  return builtIn.has(digestOf(certificate));
}

function digestOfPem(pem: string): string {
  return sha256(Buffer.from(pem.replaceAll(/-----[^-]+-----/g, ''), 'base64'));
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
