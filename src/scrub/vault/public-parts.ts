/**
 * Which bytes of a private key others may see: its algorithm, the headers of its parts, its public half. Public texts hold the
 * same bytes, so no piece of a key may be known by them.
 */

/** Keys are nested this deeply at most: PKCS #12 in an octet string of an octet string. */
const MAX_DEPTH = 12;
const TAG = { integer: 0x02, bitString: 0x03, octetString: 0x04, sequence: 0x30 } as const;
const CONSTRUCTED = 0x20;
/** Types of bytes without a meaning of their own; [0] of PKCS #7 is encrypted text. */
const HOLDS_BYTES: ReadonlySet<number> = new Set([TAG.octetString, 0x80, 0x81, 0x82]);
const LONG_FORM = 0x80;
/** A longer integer is a number of a key. */
const SMALL_INTEGER_BYTES = 8;
/** Integers of an RSA key (RFC 8017 A.1.2): version, modulus, public exponent, and six that are private. */
const RSA_INTEGERS = 9;
const RSA_PUBLIC = 3;
/** Integers of a DSA key as OpenSSL writes it: version, three parameters, the public number, the private one. */
const DSA_INTEGERS = 6;
const DSA_PUBLIC = 5;

interface Part {
  tag: number;
  /** Offset of the contents; before it are the tag and the length. */
  from: number;
  to: number;
}

/** 1 for each byte of a key in DER, or in the format of OpenSSH, that is public. Null if it is neither. */
export function publicBytesOf(bytes: Buffer): Uint8Array | null {
  if (bytes.subarray(0, OPENSSH.length).equals(OPENSSH)) return publicInOpenSsh(bytes);
  const parts = partsOf(bytes, 0, bytes.length);
  if (parts === null || parts.length === 0 || parts[0]?.tag !== TAG.sequence) return null;
  const isPublic = new Uint8Array(bytes.length).fill(1);
  for (const part of parts) markSecret(bytes, part, isPublic, 0);
  return isPublic;
}

/** Whatever a key does not publish in a known place is private. */
function markSecret(bytes: Buffer, { tag, from, to }: Part, isPublic: Uint8Array, depth: number): void {
  const isConstructed = (tag & CONSTRUCTED) !== 0;
  const inner = isConstructed || tag === TAG.octetString ? partsOf(bytes, from, to) : null;
  if (inner !== null && inner.length > 0 && depth < MAX_DEPTH) {
    const published = publishedIntegers(inner);
    for (const [at, part] of inner.entries()) if (at >= published) markSecret(bytes, part, isPublic, depth + 1);
    return;
  }
  const isSmall = tag === TAG.integer && to - from <= SMALL_INTEGER_BYTES;
  if (isConstructed || HOLDS_BYTES.has(tag) || (tag === TAG.integer && !isSmall)) isPublic.fill(0, from, to);
}

function publishedIntegers(parts: readonly Part[]): number {
  if (!parts.every(({ tag }) => tag === TAG.integer)) return 0;
  if (parts.length === DSA_INTEGERS) return DSA_PUBLIC;
  return parts.length >= RSA_INTEGERS ? RSA_PUBLIC : 0;
}

/** The parts of a range, as DER has them one after another. The last may be cut off. Null if the range holds anything else. */
function partsOf(bytes: Buffer, start: number, end: number): Part[] | null {
  const parts: Part[] = [];
  for (let at = start; at < end; ) {
    const tag = bytes[at] ?? 0;
    const first = bytes[at + 1];
    if (first === undefined || !isTag(tag)) return null;
    const lengthBytes = first >= LONG_FORM ? first - LONG_FORM : 0;
    if (first === LONG_FORM || lengthBytes > 3 || at + 2 + lengthBytes > end) return null;
    const length = lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes);
    const from = at + 2 + lengthBytes;
    const isCut = from + length > end;
    // Only the whole text may be cut off: inside of a part, another length shows that it is no DER.
    if (isCut && end !== bytes.length) return null;
    parts.push({ tag, from, to: Math.min(end, from + length) });
    at = from + length;
  }
  return parts;
}

/** The universal types of keys and certificates, and those with a number, such as [0]. */
function isTag(tag: number): boolean {
  return (
    (tag >= 0x01 && tag <= 0x1e) ||
    tag === 0x30 ||
    tag === 0x31 ||
    (tag >= 0x80 && tag <= 0x8f) ||
    (tag & 0xf0) === 0xa0
  );
}

const OPENSSH = Buffer.from('openssh-key-v1\0');
/** Bytes that the private part and the public part of a key have in common by more than chance. */
const SHARED_BYTES = 16;

/** The names of the cipher, the public key, and what the private part repeats of it (PROTOCOL.key of OpenSSH). */
function publicInOpenSsh(bytes: Buffer): Uint8Array | null {
  const fields: Part[] = [];
  let at = OPENSSH.length;
  while (fields.length < 4 && at + 4 <= bytes.length) {
    // The number of keys stands between the options of the cipher and the first key.
    if (fields.length === 3) at += 4;
    if (at + 4 > bytes.length) return null;
    const from = at + 4;
    fields.push({ tag: 0, from, to: Math.min(bytes.length, from + bytes.readUInt32BE(at)) });
    at = fields.at(-1)?.to ?? bytes.length;
  }
  const published = fields[3];
  if (published === undefined) return null;
  const isPublic = new Uint8Array(bytes.length).fill(1, 0, published.to);
  const known = bytes.subarray(published.from, published.to);
  for (let from = published.to; from + SHARED_BYTES <= bytes.length; from++)
    if (known.includes(bytes.subarray(from, from + SHARED_BYTES))) isPublic.fill(1, from, from + SHARED_BYTES);
  return isPublic;
}

/** A line of a key, with what programs write around it: a margin, quotes, a plus sign, a number. */
const BASE64_LINE =
  /^([\s|>*"'`]*(?:\+[ \t]+)?(?:[0-9]{1,6}[:-])?[\s|>*"'`]*)([A-Za-z0-9+/_-]+)={0,2}(?:\\[nr])*["'`\s+,;)]*$/;
/** How a line begins that holds a sequence of DER, the mark of OpenSSH or of PEM. */
const FIRST_LINE = /^[\s|>*"'`+0-9:-]*(?:M[A-P]|b3BlbnNzaC|LS0tLS1CRUdJTi)/m;
const MIN_CHARS = 40;

/**
 * 1 for each character of a private key in base64, with or without its BEGIN line, or of the base64 of such a text, that
 * shows nothing private. Null if it is no key.
 */
export function publicCharsOf(text: string): Uint8Array | null {
  return publicChars(text, 2);
}

function publicChars(text: string, layers: number): Uint8Array | null {
  if (layers === 0 || text.length < MIN_CHARS || !FIRST_LINE.test(text)) return null;
  const isPublic = new Uint8Array(text.length).fill(1);
  const places: number[] = [];
  let at = 0;
  for (const line of text.split('\n')) {
    const [, margin = '', run = ''] = BASE64_LINE.exec(line) ?? [];
    for (let i = 0; i < run.length; i++) places.push(at + margin.length + i);
    at += line.length + 1;
  }
  const bytes = Buffer.from(places.map((place) => text[place]).join(''), 'base64');
  const known = publicBytesOf(bytes) ?? publicInEncoded(bytes, layers);
  if (known === null) return null;
  for (const [index, place] of places.entries()) {
    const first = Math.floor((index * 6) / 8);
    const last = Math.floor((index * 6 + 5) / 8);
    if (known[first] !== 1 || (last < bytes.length && known[last] !== 1)) isPublic[place] = 0;
  }
  return isPublic;
}

function publicInEncoded(bytes: Buffer, layers: number): Uint8Array | null {
  return bytes.subarray(0, PEM.length).equals(PEM) ? publicChars(bytes.toString('latin1'), layers - 1) : null;
}

const PEM = Buffer.from('-----BEGIN');
