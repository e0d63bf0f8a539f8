import { generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';

/** The name in both certificates: there is no other host on a unix socket. */
export const PEER_NAME = 'localhost';

/** Tolerates a clock that is set back slightly after the certificate is made. */
const BACKDATED_MS = 60_000;
/** Longer than any daemon or tool runs. The key exists only in the memory of one process. */
const LIFETIME_MS = 10 * 365 * 24 * 3_600_000;

const X509_V3 = Buffer.from([2]);
const SERIAL_BYTES = 16;

/** The ASN.1 types a certificate is made of, as DER encodes them. */
const TAG = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** RFC 5280 §4.1.2.5: UTCTime until the end of 2049. */
const FIRST_GENERALIZED_YEAR = 2050;

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

/** The identity of one side of a plugin connection. */
export interface PluginCertificate {
  /** PEM. */
  certificate: string;
  /** PEM, PKCS #8. */
  privateKey: string;
  der: Buffer;
}

/**
 * Creates a key and its self-signed certificate, ECDSA P-256, valid for client and server. Encoded by hand because every
 * tool process starts with it: loading a certificate library takes longer than everything else.
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

/** Marks the certificate as an authority, as the go-plugin library does: some TLS stacks accept no other root. */
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

/** A random serial number, positive and of full length. */
function newSerial(): Buffer {
  const bytes = randomBytes(SERIAL_BYTES);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0);
  return bytes;
}

export function sequence(...items: readonly Buffer[]): Buffer {
  return encode(TAG.sequence, ...items);
}

function set(...items: readonly Buffer[]): Buffer {
  return encode(TAG.set, ...items);
}

/** Encodes a number that is not negative; `bytes` has its most significant byte first. */
export function integer(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const shortest = first === -1 ? Buffer.from([0]) : Buffer.from(bytes.subarray(first));
  const isSigned = (shortest[0] ?? 0) >= 0x80;
  return encode(TAG.integer, ...(isSigned ? [Buffer.from([0])] : []), shortest);
}

/** Encodes bits; the last byte has `unusedBits` at its end. */
export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return encode(TAG.bitString, Buffer.from([unusedBits]), bytes);
}

export function octetString(content: Uint8Array): Buffer {
  return encode(TAG.octetString, content);
}

function utf8String(text: string): Buffer {
  return encode(TAG.utf8String, Buffer.from(text));
}

/** Encodes a date, in whole seconds. */
export function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/\.\d+/, '').replace(/[-:T]/g, '');
  const isLate = date.getUTCFullYear() >= FIRST_GENERALIZED_YEAR;
  return encode(isLate ? TAG.generalizedTime : TAG.utcTime, Buffer.from(isLate ? digits : digits.slice(2)));
}

/** Encodes a field as `[number] EXPLICIT`. */
function explicit(number: number, content: Uint8Array): Buffer {
  return encode(0xa0 | number, content);
}

/** Encodes a string field as `[number] IMPLICIT`. */
function implicit(number: number, content: Uint8Array): Buffer {
  return encode(0x80 | number, content);
}

function encode(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), encodeLength(content.length), content]);
}

function encodeLength(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes]);
}
