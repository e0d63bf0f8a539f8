/** The few ASN.1 types a certificate is made of, in DER. */

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

export function sequence(...items: readonly Buffer[]): Buffer {
  return encode(TAG.sequence, ...items);
}

export function set(...items: readonly Buffer[]): Buffer {
  return encode(TAG.set, ...items);
}

/** `bytes` is the number, most significant byte first, not negative. */
export function integer(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const shortest = first === -1 ? Buffer.from([0]) : Buffer.from(bytes.subarray(first));
  const isSigned = (shortest[0] ?? 0) >= 0x80;
  return encode(TAG.integer, ...(isSigned ? [Buffer.from([0])] : []), shortest);
}

/** `unusedBits` at the end of the last byte do not count. */
export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return encode(TAG.bitString, Buffer.from([unusedBits]), bytes);
}

export function octetString(content: Uint8Array): Buffer {
  return encode(TAG.octetString, content);
}

export function utf8String(text: string): Buffer {
  return encode(TAG.utf8String, Buffer.from(text));
}

/** To the second. */
export function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/\.\d+/, '').replace(/[-:T]/g, '');
  const isLate = date.getUTCFullYear() >= FIRST_GENERALIZED_YEAR;
  return encode(isLate ? TAG.generalizedTime : TAG.utcTime, Buffer.from(isLate ? digits : digits.slice(2)));
}

/** A field that carries its number in the tag instead of its type: `[number] EXPLICIT`. */
export function explicit(number: number, content: Uint8Array): Buffer {
  return encode(0xa0 | number, content);
}

/** `[number] IMPLICIT` of a string type. */
export function implicit(number: number, content: Uint8Array): Buffer {
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
