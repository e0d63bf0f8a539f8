import { KeyObject, randomBytes, webcrypto } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';

type X509 = typeof import('@peculiar/x509');

const HOUR_MS = 3_600_000;
/** Milliseconds that a certificate is valid. */
export const LIFETIME_MS = 48 * HOUR_MS;
/** Milliseconds after which a new one takes its place. A command that still trusts the old one goes on for a day. */
export const RENEWAL_MS = LIFETIME_MS / 2;
/** Tolerates a clock that is set back a little. */
const BACKDATED_MS = HOUR_MS;

const CURVE = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const SIGNING = { name: 'ECDSA', hash: 'SHA-256' } as const;
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const NAME_CONSTRAINTS = '2.5.29.30';
const [SEQUENCE, PERMITTED, EXCLUDED, DNS_NAME, ADDRESS] = [0x30, 0xa0, 0xa1, 0x82, 0x87];

interface Leaf {
  readonly context: SecureContext;
  readonly madeMs: number;
}

/**
 * A throw-away certificate authority, which vouches for the hosts of one scope only. Its key is made here and cannot be
 * exported. It stays the same when the hosts change, so that a command that runs goes on trusting the hosts it knew.
 */
export class Authority {
  readonly #x509: X509;
  readonly #keys: webcrypto.CryptoKeyPair;
  readonly #now: () => number;
  readonly #name = `contextd sandbox authority ${randomBytes(4).toString('hex')}`;
  readonly #leaves = new Map<string, Leaf>();

  private constructor(x509: X509, keys: webcrypto.CryptoKeyPair, now: () => number) {
    this.#x509 = x509;
    this.#keys = keys;
    this.#now = now;
  }

  static async create(now: () => number): Promise<Authority> {
    // Loaded here only: most machines have no credential bound.
    await import('reflect-metadata');
    const x509 = await import('@peculiar/x509');
    return new Authority(x509, await webcrypto.subtle.generateKey(CURVE, false, ['sign', 'verify']), now);
  }

  /** The certificate (PEM) that sandboxes trust. It is valid for these hosts alone. */
  async certificateFor(hosts: readonly string[]): Promise<string> {
    const x509 = this.#x509;
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      name: this.#nameOf(this.#name),
      keys: this.#keys,
      ...this.#common(),
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
        await x509.SubjectKeyIdentifierExtension.create(this.#keys.publicKey),
        new x509.Extension(NAME_CONSTRAINTS, true, permittedNames(hosts)),
      ],
    });
    return certificate.toString('pem');
  }

  /** What a server that stands in for the host presents. */
  async contextFor(host: string): Promise<SecureContext> {
    const known = this.#leaves.get(host);
    if (known !== undefined && this.#now() - known.madeMs < RENEWAL_MS) return known.context;
    const leaf = { context: await this.#issue(host), madeMs: this.#now() };
    this.#leaves.set(host, leaf);
    return leaf.context;
  }

  async #issue(host: string): Promise<SecureContext> {
    const x509 = this.#x509;
    const keys = await webcrypto.subtle.generateKey(CURVE, true, ['sign', 'verify']);
    const certificate = await x509.X509CertificateGenerator.create({
      subject: this.#nameOf(host.length > 64 ? 'a host with a long name' : host),
      issuer: this.#nameOf(this.#name),
      publicKey: keys.publicKey,
      signingKey: this.#keys.privateKey,
      ...this.#common(),
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([SERVER_AUTH], false),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
        await x509.AuthorityKeyIdentifierExtension.create(this.#keys.publicKey),
        new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: host }]),
      ],
    });
    const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' });
    return createSecureContext({ cert: certificate.toString('pem'), key, minVersion: 'TLSv1.2' });
  }

  #nameOf(commonName: string): { CN: string[] }[] {
    return [{ CN: [commonName] }];
  }

  #common() {
    const nowMs = this.#now();
    return {
      notBefore: new Date(nowMs - BACKDATED_MS),
      notAfter: new Date(nowMs + LIFETIME_MS),
      serialNumber: `01${randomBytes(8).toString('hex')}`,
      signingAlgorithm: SIGNING,
    };
  }
}

/** The extension's content (RFC 5280 §4.2.1.10): a list of names, and no address at all (IPv4, IPv6). */
function permittedNames(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) => der(SEQUENCE, der(DNS_NAME, Buffer.from(host))));
  const addresses = [8, 32].map((bytes) => der(SEQUENCE, der(ADDRESS, Buffer.alloc(bytes))));
  return der(SEQUENCE, der(PERMITTED, ...names), der(EXCLUDED, ...addresses));
}

function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
