import { createHash, type X509Certificate } from 'node:crypto';

/*
 * Java keeps the certificates that it trusts in a key store of its own. Every version reads the old format, JKS, also in
 * place of a newer one: a header, entries, and a digest over both.
 */
const MAGIC = 0xfeedfeed;
const VERSION = 2;
const HEADER_BYTES = 12;
const DIGEST_BYTES = 20;
const TRUSTED = 2;
/** The password that every Java has for its own store, as JKS hashes it. It protects nothing. */
const PASSWORD = utf16('changeit');
const SALT = 'Mighty Aphrodite';

/** The store with more certificates in it; null if its format is unknown or encrypted. */
export function extendJavaStore(store: Buffer, certificates: readonly X509Certificate[]): Buffer | null {
  const before = isJks(store) ? entriesOf(store) : fromPkcs12(store);
  if (before === null) return null;
  const added = certificates.map((certificate, i) => entry(`contextd-${i + 1}`, certificate.raw));
  return seal(before.count + added.length, Buffer.concat([before.entries, ...added]));
}

interface Entries {
  readonly count: number;
  readonly entries: Buffer;
}

function isJks(store: Buffer): boolean {
  return store.length >= HEADER_BYTES + DIGEST_BYTES && store.readUInt32BE(0) === MAGIC;
}

function entriesOf(store: Buffer): Entries | null {
  if (store.readUInt32BE(4) !== VERSION) return null;
  return { count: store.readUInt32BE(8), entries: store.subarray(HEADER_BYTES, -DIGEST_BYTES) };
}

/** The object identifier of an X.509 certificate in a bag of PKCS #12. */
const CERTIFICATE_BAG = Buffer.from('060a2a864886f70d01091601', 'hex');

/** PKCS #12 without encryption, as Java 18 and later ship it, holds each certificate as it is. */
function fromPkcs12(store: Buffer): Entries | null {
  const found: Buffer[] = [];
  for (let at = store.indexOf(CERTIFICATE_BAG); at >= 0; at = store.indexOf(CERTIFICATE_BAG, at + 1)) {
    const explicit = readElement(store, at + CERTIFICATE_BAG.length, 0xa0);
    const octets = explicit === null ? null : readElement(explicit, 0, 0x04);
    if (octets !== null) found.push(entry(`built-in-${found.length + 1}`, octets));
  }
  return found.length === 0 ? null : { count: found.length, entries: Buffer.concat(found) };
}

/** The content of a DER element with this tag; null if there is another. */
function readElement(bytes: Buffer, at: number, tag: number): Buffer | null {
  const first = bytes[at + 1];
  if (bytes[at] !== tag || first === undefined) return null;
  const more = first < 0x80 ? 0 : first & 0x7f;
  if (more > 4 || at + 2 + more > bytes.length) return null;
  const length = more === 0 ? first : bytes.readUIntBE(at + 2, more);
  const from = at + 2 + more;
  return from + length > bytes.length ? null : bytes.subarray(from, from + length);
}

function entry(alias: string, der: Buffer): Buffer {
  return Buffer.concat([uint32(TRUSTED), text(alias), Buffer.alloc(8), text('X.509'), uint32(der.length), der]);
}

function seal(count: number, entries: Buffer): Buffer {
  const body = Buffer.concat([uint32(MAGIC), uint32(VERSION), uint32(count), entries]);
  const digest = createHash('sha1').update(PASSWORD).update(SALT).update(body).digest();
  return Buffer.concat([body, digest]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function utf16(value: string): Buffer {
  return Buffer.from(value, 'utf16le').swap16();
}
