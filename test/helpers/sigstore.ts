import 'reflect-metadata';
import { createHash, generateKeyPairSync, KeyObject, sign, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY_MS = 24 * 3_600_000;
/** Extensions of a certificate: who vouches for the identity (Fulcio), and the promise of a log (RFC 6962). */
const [ISSUER, LOG_PROMISE] = ['1.3.6.1.4.1.57264.1.8', '1.3.6.1.4.1.11129.2.4.2'];

/** Whom the authority says that the signer is. */
export interface SigstoreSigner {
  /** A mail address or URL. */
  identity: string;
  /** The URL of who vouches for it. */
  issuer: string;
}

/** A sigstore instance of a test: an authority, and a log each for certificates and for signatures. */
export interface SigstoreInstance {
  /** Its trusted root, as JSON. */
  readonly root: string;
  /** The bundle that `cosign sign-blob` would write, as JSON. */
  sign(bytes: Buffer, signer: SigstoreSigner): Promise<string>;
}

export async function startSigstore(): Promise<SigstoreInstance> {
  const keys = await newKeys();
  const [certificateLog, signatureLog] = [newLog(), newLog()];
  const notBefore = new Date(Date.now() - DAY_MS);
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=authority of a test',
    keys,
    notBefore,
    notAfter: new Date(Date.now() + DAY_MS),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });

  /** Its last extension is the promise of the log, which covers the certificate without this extension. */
  async function certify({ identity, issuer }: SigstoreSigner, publicKey: webcrypto.CryptoKey): Promise<Buffer> {
    const extensions = [
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.codeSigning]),
      await x509.AuthorityKeyIdentifierExtension.create(keys.publicKey),
      new x509.SubjectAlternativeNameExtension([{ type: identity.includes('://') ? 'url' : 'email', value: identity }]),
      new x509.Extension(ISSUER, false, der(0x0c, Buffer.from(issuer))),
    ];
    const certificate = async (more: x509.Extension[]): Promise<Buffer> => {
      const made = await x509.X509CertificateGenerator.create({
        subject: '',
        serialNumber: '01',
        issuer: authority.subject,
        publicKey,
        signingKey: keys.privateKey,
        notBefore,
        notAfter: authority.notAfter,
        signingAlgorithm: ALGORITHM,
        extensions: [...extensions, ...more],
      });
      return Buffer.from(made.rawData);
    };
    const logged = signedPart(await certificate([]));
    const issuerKey = createHash('sha256').update(Buffer.from(authority.publicKey.rawData)).digest();
    return certificate([new x509.Extension(LOG_PROMISE, false, promiseOf(certificateLog, issuerKey, logged))]);
  }

  return {
    root: JSON.stringify({
      mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
      tlogs: [instanceOf(signatureLog, notBefore)],
      ctlogs: [instanceOf(certificateLog, notBefore)],
      certificateAuthorities: [
        {
          subject: { organization: 'test', commonName: 'authority of a test' },
          uri: 'https://fulcio.example.com',
          certChain: { certificates: [{ rawBytes: base64(authority.rawData) }] },
          validFor: { start: notBefore },
        },
      ],
      timestampAuthorities: [],
    }),
    async sign(bytes, signer) {
      const own = await newKeys();
      const certificate = await certify(signer, own.publicKey);
      const signature = sign('sha256', bytes, KeyObject.from(own.privateKey));
      const digest = createHash('sha256').update(bytes).digest();
      const entry = entryOf(signatureLog, { certificate, signature, digest });
      return JSON.stringify({
        mediaType: 'application/vnd.dev.sigstore.bundle+json;version=0.1',
        verificationMaterial: {
          x509CertificateChain: { certificates: [{ rawBytes: base64(certificate) }] },
          tlogEntries: [entry],
        },
        messageSignature: {
          messageDigest: { algorithm: 'SHA2_256', digest: base64(digest) },
          signature: base64(signature),
        },
      });
    },
  };
}

interface Log {
  readonly id: Buffer;
  readonly publicKey: Buffer;
  sign(bytes: Buffer): Buffer;
}

function newLog(): Log {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const spki = publicKey.export({ format: 'der', type: 'spki' });
  return {
    id: createHash('sha256').update(spki).digest(),
    publicKey: spki,
    sign: (bytes) => sign('sha256', bytes, privateKey),
  };
}

function instanceOf(log: Log, start: Date): object {
  return {
    baseUrl: 'https://log.example.com',
    hashAlgorithm: 'SHA2_256',
    publicKey: { rawBytes: base64(log.publicKey), keyDetails: 'PKIX_ECDSA_P256_SHA_256', validFor: { start } },
    logId: { keyId: base64(log.id) },
  };
}

/** A signed certificate timestamp (RFC 6962, 3.2) as the value of an extension. */
function promiseOf(log: Log, issuerKey: Buffer, logged: Buffer): Buffer {
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(Date.now()));
  const signature = log.sign(
    Buffer.concat([
      Buffer.from([0, 0]),
      time,
      Buffer.from([0, 1]),
      issuerKey,
      uint(3, logged.length),
      logged,
      uint(2, 0),
    ]),
  );
  const [none, sha256AndEcdsa] = [uint(2, 0), Buffer.from([4, 3])];
  const one = Buffer.concat([uint(1, 0), log.id, time, none, sha256AndEcdsa, uint(2, signature.length), signature]);
  return der(0x04, Buffer.concat([uint(2, one.length + 2), uint(2, one.length), one]));
}

interface Signed {
  certificate: Buffer;
  signature: Buffer;
  digest: Buffer;
}

/** An entry of Rekor, of the kind `hashedrekord`, with the log's promise to keep it. */
function entryOf(log: Log, { certificate, signature, digest }: Signed): object {
  const pem = x509.PemConverter.encode(certificate, 'CERTIFICATE');
  const [kind, version] = ['hashedrekord', '0.0.1'];
  const body = base64(
    JSON.stringify({
      apiVersion: version,
      kind,
      spec: {
        data: { hash: { algorithm: 'sha256', value: digest.toString('hex') } },
        signature: { content: base64(signature), publicKey: { content: base64(pem) } },
      },
    }),
  );
  const integratedTime = Math.floor(Date.now() / 1000);
  // Canonical: its keys are sorted.
  const promised = JSON.stringify({ body, integratedTime, logID: log.id.toString('hex'), logIndex: 1 });
  return {
    logIndex: '1',
    logId: { keyId: base64(log.id) },
    kindVersion: { kind, version },
    integratedTime: `${integratedTime}`,
    inclusionPromise: { signedEntryTimestamp: base64(log.sign(Buffer.from(promised))) },
    canonicalizedBody: body,
  };
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

/** The part of a certificate that its authority signs. Both lengths have two bytes: no certificate is as short as 255 bytes. */
function signedPart(certificate: Buffer): Buffer {
  return certificate.subarray(4, 8 + certificate.readUInt16BE(6));
}

/** A DER value of at most 127 bytes. */
function der(tag: number, value: Buffer): Buffer {
  return Buffer.concat([uint(1, tag), uint(1, value.length), value]);
}

function uint(bytes: number, value: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
}

function base64(bytes: ArrayBuffer | Buffer | string): string {
  return (typeof bytes === 'string' ? Buffer.from(bytes) : Buffer.from(new Uint8Array(bytes))).toString('base64');
}
