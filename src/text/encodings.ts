import { inflateRawSync, unzipSync, constants as zlib } from 'node:zlib';
import { bunzip, isBzip2 } from './bunzip.ts';
import type { Span } from './offset-map.ts';

/** An encoding: which characters are its digits, what each is worth, and how many bits that is. */
export interface Alphabet {
  /** 1 for each character code below 128 that is a digit. */
  readonly digits: Uint8Array;
  /** Value of a digit by its character code. */
  readonly values: Uint8Array;
  readonly bits: number;
}

const LETTERS_AND_FIGURES = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** The standard alphabet and the one for URLs. */
export const BASE64 = alphabetOf(6, `${LETTERS_AND_FIGURES}+/`, `${LETTERS_AND_FIGURES}-_`);
export const BASE32 = alphabetOf(5, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567');
/** The digits 0 to 9 first, as RFC 4648 has it beside the usual alphabet. */
export const BASE32_HEX = alphabetOf(5, '0123456789ABCDEFGHIJKLMNOPQRSTUV');
export const HEX = alphabetOf(4, '0123456789abcdef', '0123456789ABCDEF');

/** `spellings`: lists of the digits in order; a digit may be written in several ways. */
function alphabetOf(bits: number, ...spellings: readonly string[]): Alphabet {
  const values = new Uint8Array(128);
  for (const digits of spellings)
    for (let value = 0; value < digits.length; value++) values[digits.charCodeAt(value)] = value;
  const all = new Set(spellings.join(''));
  return { digits: characterTable((character) => all.has(character)), values, bits };
}

/** Returns 1 for each character code below 128 that is accepted. */
export function characterTable(accepts: (character: string) => boolean): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) => (accepts(String.fromCharCode(code)) ? 1 : 0));
}

/** The longest runs of at least `min` characters of a table. Most characters of other text are not even looked at. */
export function* runsOf(text: string, table: Uint8Array, min: number): Generator<Span> {
  for (let from = 0; from + min <= text.length; ) {
    const gap = lastOutside(text, table, from, from + min);
    if (gap >= from) {
      from = gap + 1;
      continue;
    }
    const end = runEnd(text, table, from + min);
    yield { start: from, end };
    from = end + 1;
  }
}

/** Returns where a run of characters of a table that begins at `from` ends, at most at `limit`. */
export function runEnd(text: string, table: Uint8Array, from: number, limit = text.length): number {
  let at = from;
  while (at < limit && table[text.charCodeAt(at)] === 1) at++;
  return at;
}

/** Returns the last character of a range that is not in the table; a place before `from` if all of them are. */
export function lastOutside(text: string, table: Uint8Array, from: number, to: number): number {
  let at = to - 1;
  while (at >= from && table[text.charCodeAt(at)] === 1) at--;
  return at;
}

export function isPrintable(byte: number): boolean {
  return (byte >= 0x20 && byte < 0x7f) || byte === 9 || byte === 10 || byte === 13;
}

/** `length`: how many of them count. Default: all. */
export function countPrintable(bytes: Uint8Array, length = bytes.length): number {
  let count = 0;
  for (let at = 0; at < length; at++) if (isPrintable(bytes[at] ?? 0)) count++;
  return count;
}

/** Whether bytes begin like gzip, zlib, zip or bzip2 data. */
export function isCompressed(bytes: Uint8Array): boolean {
  const [first, second = 0, third] = bytes;
  if (isZip(bytes) || isBzip2(bytes)) return true;
  if (first === 0x1f) return second === 0x8b && third === 8;
  return first === 0x78 && ((first << 8) | second) % 31 === 0;
}

/**
 * Inflates gzip, zlib or bzip2 data, or the first file of a zip; of incomplete data what is there, and of large bzip2 data the
 * beginning. Null if it is something else.
 */
export function inflate(bytes: Uint8Array, maxBytes: number): Buffer | 'too large' | null {
  if (isBzip2(bytes)) return bunzip(bytes, maxBytes);
  try {
    const options = { maxOutputLength: maxBytes, finishFlush: zlib.Z_SYNC_FLUSH };
    return isZip(bytes) ? inflateRawSync(contentOfZip(bytes), options) : unzipSync(bytes, options);
  } catch (thrown) {
    const isTooLarge = thrown instanceof RangeError && 'code' in thrown && thrown.code === 'ERR_BUFFER_TOO_LARGE';
    return isTooLarge ? 'too large' : null;
  }
}

/** The header of a file in a zip that is deflated. */
function isZip(bytes: Uint8Array): boolean {
  const [first, second, third, fourth] = bytes;
  return first === 0x50 && second === 0x4b && third === 3 && fourth === 4 && bytes[8] === 8;
}

const ZIP_HEADER_BYTES = 30;

/** What follows the header, the name and the extra field of a zip's first file. */
function contentOfZip(bytes: Uint8Array): Uint8Array {
  const word = (at: number): number => (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
  return bytes.subarray(ZIP_HEADER_BYTES + word(26) + word(28));
}

const BASE32_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const ASCII85 = Array.from({ length: 85 }, (_, i) => String.fromCharCode(33 + i)).join('');
const BASE85 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';
const Z85 = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';

/**
 * Returns what must appear of some bytes in base64 if `lead` (0 to 2) bytes precede them in their group: only
 * characters that depend on no neighbour.
 */
export function base64Core(bytes: Buffer, lead: number): string {
  const whole = Buffer.concat([Buffer.alloc(lead), bytes]);
  return whole.toString('base64').slice(Math.ceil((lead * 8) / 6), Math.floor((whole.length * 8) / 6));
}

/** The same in base32, with `lead` from 0 to 4; upper case. */
export function base32Core(bytes: Buffer, lead: number): string {
  const bits = (lead + bytes.length) * 8;
  let core = '';
  for (let bit = Math.ceil((lead * 8) / 5) * 5; bit + 5 <= bits; bit += 5) {
    const byte = (bit >>> 3) - lead;
    const pair = (byteAt(bytes, byte) << 8) | byteAt(bytes, byte + 1);
    core += BASE32_DIGITS[(pair >>> (11 - (bit & 7))) & 31];
  }
  return core;
}

/** The whole groups of four bytes in the three common alphabets of base 85, with `lead` from 0 to 3. */
export function base85Cores(bytes: Buffer, lead: number): string[] {
  const groups: number[] = [];
  for (let at = (4 - lead) % 4; at + 4 <= bytes.length; at += 4) groups.push(bytes.readUInt32BE(at));
  return [ASCII85, BASE85, Z85].map((alphabet) => groups.map((group) => base85Group(group, alphabet)).join(''));
}

function base85Group(group: number, alphabet: string): string {
  let digits = '';
  for (let rest = group, i = 0; i < 5; i++, rest = Math.floor(rest / 85)) digits = alphabet[rest % 85] + digits;
  return digits;
}

/** A byte; 0 outside of the bytes. */
function byteAt(bytes: Buffer, at: number): number {
  return bytes[at] ?? 0;
}

/** Letters moved by thirteen places. */
export function rot13(text: string): string {
  return text.replace(/[A-Za-z]/g, (letter) => {
    const first = letter <= 'Z' ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first);
  });
}
