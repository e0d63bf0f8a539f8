import { generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';
import { bitString, explicit, implicit, integer, octetString, sequence, set, time, utf8String } from './der.ts';

/** The name both sides certify and expect: there is no other host on a unix socket. */
export const PEER_NAME = 'localhost';

/** Tolerates a clock set back a little after the certificate was made. */
const BACKDATED_MS = 60_000;
/** Longer than a daemon or a tool lives: the key exists in the memory of one process only. */
const LIFETIME_MS = 10 * 365 * 24 * 3_600_000;

const X509_V3 = Buffer.from([2]);
const SERIAL_BYTES = 16;

/** Object identifiers, encoded. */
const OID = {
  ecdsaWithSha256: Buffer.from('06082a8648ce3d040302', 'hex'),
  organization: Buffer.from('060355040a', 'hex'),
  commonName: Buffer.from('0603550403', 'hex'),
  basicConstraints: Buffer.from('0603551d13', 'hex'),
  keyUsage: Buffer.from('0603551d0f', 'hex'),
  extendedKeyUsage: Buffer.from('0603551d25', 'hex'),
  subjectAltName: Buffer.from('0603551d11', 'hex'),
  clientAuth: Buffer.from('06082b06010505070302', 'hex'),
  serverAuth: Buffer.from('06082b06010505070301', 'hex'),
} as const;
const TRUE = Buffer.from('0101ff', 'hex');
/** digitalSignature and keyCertSign: bits 0 and 5. */
const KEY_USAGE = bitString(Buffer.from([0b1000_0100]), 2);

/** Who one side of a plugin connection is. */
export interface PluginCertificate {
  /** PEM. */
  certificate: string;
  /** PEM, PKCS #8. */
  privateKey: string;
  der: Buffer;
}

/**
 * A fresh key and its self-signed certificate, ECDSA P-256, for client and server alike. Written by hand because a
 * tool's process starts with it: a certificate library takes longer to load than all the rest.
 */
export function createCertificate(nowMs: number): PluginCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const body = certificateBody(nowMs, publicKey);
  const signature = sign('sha256', body, privateKey);
  const der = sequence(body, sequence(OID.ecdsaWithSha256), bitString(signature));
  return { certificate: toPem(der), privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), der };
}

export function toPem(der: Buffer): string {
  return new X509Certificate(der).toString();
}

function certificateBody(nowMs: number, publicKey: KeyObject): Buffer {
  const name = sequence(nameEntry(OID.organization, 'contextd'), nameEntry(OID.commonName, PEER_NAME));
  return sequence(
    explicit(0, integer(X509_V3)),
    integer(newSerial()),
    sequence(OID.ecdsaWithSha256),
    name,
    sequence(time(new Date(nowMs - BACKDATED_MS)), time(new Date(nowMs + LIFETIME_MS))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, extensions()),
  );
}

/** An authority of its own, as the library makes them: some TLS stacks take nothing else as a root. */
function extensions(): Buffer {
  return sequence(
    sequence(OID.basicConstraints, TRUE, octetString(sequence(TRUE))),
    sequence(OID.keyUsage, TRUE, octetString(KEY_USAGE)),
    sequence(OID.extendedKeyUsage, octetString(sequence(OID.clientAuth, OID.serverAuth))),
    sequence(OID.subjectAltName, octetString(sequence(implicit(2, Buffer.from(PEER_NAME))))),
  );
}

function nameEntry(oid: Buffer, value: string): Buffer {
  return set(sequence(oid, utf8String(value)));
}

/** Positive and of full length. */
function newSerial(): Buffer {
  const bytes = randomBytes(SERIAL_BYTES);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0);
  return bytes;
}
