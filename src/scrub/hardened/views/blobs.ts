import {
  type Alphabet,
  BASE32,
  BASE32_HEX,
  BASE64,
  countPrintable,
  HEX,
  inflate,
  isCompressed,
  isPrintable,
  runEnd,
  runsOf,
} from '../../../text/encodings.ts';
import { type View, ViewBuilder } from '../../../text/offset-map.ts';

/** Digits of one encoding that belong together although line ends and prefixes separate them. */
interface Blob {
  /** Digits of the encoding, in order. */
  digits: Uint8Array;
  /** Where in the text each of them stands. */
  at: Int32Array;
  isWrapped: boolean;
}

/** A line end in a wrapped blob, with what grep, diff, a quote or JSON add around it. */
const BREAK = /(?:\\?\r?\n|\\+[nr])[ \t]*(?:[0-9]{1,6}[:-]|[+>|] ?)?/y;
/** Shorter lines were not made by wrapping. */
const MIN_LINE_CHARS = 32;

/** Start and end of each line of a blob, in turn. Its digits are collected later: most of what looks like a blob is a word. */
type Lines = readonly number[];

/** Finds blobs that begin with at least `min` digits on a line and continue while lines do not get longer. */
function* blobsOf(text: string, alphabet: Alphabet, min: number): Generator<Lines> {
  let done = 0;
  for (const { start, end } of runsOf(text, alphabet.digits, min)) {
    if (start < done) continue;
    const lines = [start, end];
    while (continues(text, lines, alphabet.digits));
    done = lines.at(-1) ?? end;
    yield lines;
  }
}

/** A line such as --- is no part of a blob. */
const IS_RULE = /^[^A-Za-z0-9]{2,}$/;

/** Adds start and end of the next line if the blob continues there. */
function continues(text: string, lines: number[], digits: Uint8Array): boolean {
  const [start = 0, end = 0] = lines.slice(-2);
  if (end - start < MIN_LINE_CHARS) return false;
  BREAK.lastIndex = end;
  if (!BREAK.test(text)) return false;
  const from = BREAK.lastIndex;
  const to = runEnd(text, digits, from);
  if (to === from || to - from > end - start || IS_RULE.test(text.slice(from, to))) return false;
  lines.push(from, to);
  return true;
}

function collectDigits(text: string, lines: Lines, { values }: Alphabet): Blob {
  let length = 0;
  for (let i = 0; i < lines.length; i += 2) length += (lines[i + 1] ?? 0) - (lines[i] ?? 0);
  const digits = new Uint8Array(length);
  const at = new Int32Array(length);
  let count = 0;
  for (let i = 0; i < lines.length; i += 2)
    for (let place = lines[i] ?? 0; place < (lines[i + 1] ?? 0); place++) {
      digits[count] = values[text.charCodeAt(place)] ?? 0;
      at[count++] = place;
    }
  return { digits, at, isWrapped: lines.length > 2 };
}

/** In a blob of at most this many digits a finding covers the whole blob: half of it is useless to anyone. */
const WHOLE_DIGITS = 1024;

/** Returns the bytes that the digits from `skip` on stand for. An incomplete last byte is left out. */
function decodeDigits({ digits, at }: Blob, bits: number, skip: number): Decoded {
  const length = Math.max(0, Math.floor(((digits.length - skip) * bits) / 8));
  const from = new Int32Array(length).fill(at[0] ?? 0);
  const to = new Int32Array(length).fill((at.at(-1) ?? -1) + 1);
  const bytes = new Uint8Array(length);
  const isWhole = digits.length <= WHOLE_DIGITS;
  let buffer = 0;
  for (let byte = 0, place = skip, held = 0; byte < length; place++) {
    buffer = ((buffer << bits) | (digits[place] ?? 0)) & 0xffff;
    held += bits;
    if (held < 8) continue;
    held -= 8;
    bytes[byte] = buffer >> held;
    if (!isWhole) from[byte] = at[skip + Math.floor((byte * 8) / bits)] ?? 0;
    if (!isWhole) to[byte] = (at[place] ?? 0) + 1;
    byte++;
  }
  return { bytes, from, to };
}

/**
 * Fills `into` with the bytes that a blob begins with, and returns how many there are; `turned`: as if each of its lines were
 * turned round. A text may have thousands of blobs, and an array for each would take most of the time.
 */
function firstBytes(into: Uint8Array, text: string, lines: Lines, alphabet: Alphabet, turned = false): number {
  const { values, bits } = alphabet;
  let [count, buffer, held] = [0, 0, 0];
  for (let i = 0; i < lines.length; i += 2) {
    const [start = 0, end = 0] = [lines[i], lines[i + 1]];
    for (let place = 0; place < end - start; place++) {
      const digit = values[text.charCodeAt(turned ? end - 1 - place : start + place)] ?? 0;
      buffer = ((buffer << bits) | digit) & 0xffff;
      held += bits;
      if (held < 8) continue;
      held -= 8;
      into[count++] = buffer >> held;
      if (count === into.length) return count;
    }
  }
  return count;
}

/** Shorter than the bytes of any blob. */
const HEAD_BYTES = 12;

/**
 * Whether `putReadable` may add something of a blob: without keeping any byte, because most of what looks like base64 in a
 * long text is not.
 */
function mayBeReadable({ digits }: Blob, bits: number, skip: number): boolean {
  let printable = 0;
  let stretch = 0;
  let bytes = 0;
  let zeros = 0;
  let buffer = 0;
  for (let place = skip, held = 0; place < digits.length; place++) {
    buffer = ((buffer << bits) | (digits[place] ?? 0)) & 0xffff;
    held += bits;
    if (held < 8) continue;
    held -= 8;
    bytes++;
    const byte = (buffer >> held) & 0xff;
    if (byte === 0) zeros++;
    const isText = isPrintable(byte);
    stretch = isText ? stretch + 1 : 0;
    if (stretch >= MIN_STRETCH) return true;
    if (isText) printable++;
  }
  const isNarrow = bytes >= MIN_STRETCH && printable >= TEXT_SHARE * bytes;
  return isNarrow || isWide({ bytes, zeros, printable });
}

/** Bytes that a text encodes, and where each comes from. */
export interface Decoded {
  bytes: Uint8Array;
  /** Offset of the first character that encodes part of the byte. */
  from: Int32Array;
  /** Offset after the last one. */
  to: Int32Array;
}

/** Noise contains this many printable bytes in a row once in 100,000 places. */
const MIN_STRETCH = 12;
/** Share of text in data that counts as text with a few other bytes. */
const TEXT_SHARE = 0.9;

/** Adds what is readable: everything (as Latin-1) if nearly all of it is text, otherwise each stretch of text. */
export function putReadable(builder: ViewBuilder, decoded: Decoded): void {
  const { bytes } = decoded;
  if (bytes.length >= MIN_STRETCH && countPrintable(bytes) >= TEXT_SHARE * bytes.length) {
    putBytes(builder, decoded, 0, bytes.length);
    return;
  }
  const wide = withoutZeros(decoded);
  if (wide !== null) putBytes(builder, wide, 0, wide.bytes.length);
  let start = 0;
  for (let at = 0; at <= bytes.length; at++) {
    if (at < bytes.length && isPrintable(bytes[at] ?? 0)) continue;
    if (at - start >= MIN_STRETCH) putBytes(builder, decoded, start, at);
    start = at + 1;
  }
}

/** Whether bytes are text of which each character has two or four bytes, all but one of them zero. */
function isWide({ bytes, zeros, printable }: { bytes: number; zeros: number; printable: number }): boolean {
  const kept = bytes - zeros;
  return kept >= MIN_STRETCH && kept <= (bytes * 5) / 8 && printable >= TEXT_SHARE * kept;
}

/** The bytes of such a text without the zeros. Null if the bytes are anything else. */
function withoutZeros({ bytes, from, to }: Decoded): Decoded | null {
  const zeros = countZeros(bytes);
  // A zero is not printable.
  if (!isWide({ bytes: bytes.length, zeros, printable: countPrintable(bytes) })) return null;
  const kept = bytes.filter((byte) => byte !== 0);
  const places = Int32Array.from(bytes.keys()).filter((at) => bytes[at] !== 0);
  return { bytes: kept, from: places.map((at) => from[at] ?? 0), to: places.map((at) => to[at] ?? 0) };
}

function countZeros(bytes: Uint8Array): number {
  let zeros = 0;
  for (const byte of bytes) if (byte === 0) zeros++;
  return zeros;
}

function putBytes(builder: ViewBuilder, { bytes, from, to }: Decoded, start: number, end: number): void {
  builder.cut();
  const [first = 0, last = 0] = [from[start], to[end - 1]];
  // All bytes of a short blob stand for the whole blob.
  if (from[end - 1] === first && to[start] === last && last - first !== end - start) {
    builder.put(latin1(bytes, start, end), first, last);
    return;
  }
  for (let at = start; at < end; at++) builder.put(String.fromCharCode(bytes[at] ?? 0), from[at] ?? 0, to[at] ?? 0);
}

function latin1({ buffer, byteOffset }: Uint8Array, start: number, end: number): string {
  return Buffer.from(buffer, byteOffset + start, end - start).toString('latin1');
}

const MIN_BASE64_DIGITS = 16;
const MIN_HEX_DIGITS = 24;

/** Finds base64 of either alphabet and any length, across line ends. */
function* base64Blobs(text: string): Generator<Lines> {
  for (const lines of blobsOf(text, BASE64, MIN_BASE64_DIGITS)) if (hasBothCases(text, lines)) yield lines;
}

/**
 * Decodes base64 that the rules' own decoder does not take: across lines, without padding, starting in the middle, or
 * containing bytes that are not text.
 */
export function base64Decoded(text: string): View | null {
  const builder = new ViewBuilder(text);
  for (const lines of base64Blobs(text)) {
    const blob = collectDigits(text, lines, BASE64);
    for (let skip = 0; skip < 4; skip++) {
      if (!mayBeReadable(blob, 6, skip)) continue;
      const decoded = decodeDigits(blob, 6, skip);
      const isOrdinary = skip === 0 && !blob.isWrapped && blob.digits.length % 4 === 0;
      if (!isOrdinary || countPrintable(decoded.bytes) < decoded.bytes.length) putReadable(builder, decoded);
    }
  }
  return builder.isEmpty ? null : builder.build();
}

/** Whether capitals and small letters are among the first digits, as in base64 of any text. */
function hasBothCases(text: string, lines: Lines): boolean {
  let capitals = 0;
  let small = 0;
  let left = 256;
  for (let i = 0; i < lines.length && left > 0; i += 2)
    for (let place = lines[i] ?? 0; place < (lines[i + 1] ?? 0) && left > 0; place++, left--) {
      const code = text.charCodeAt(place);
      if (code >= 0x61 && code <= 0x7a) small++;
      else if (code >= 0x41 && code <= 0x5a) capitals++;
      if (capitals > 1 && small > 1) return true;
    }
  return false;
}

/** Text in base32, of either alphabet. */
export function base32Decoded(text: string): View | null {
  const builder = new ViewBuilder(text);
  for (const alphabet of [BASE32, BASE32_HEX])
    for (const lines of blobsOf(text, alphabet, 24)) {
      const decoded = decodeDigits(collectDigits(text, lines, alphabet), 5, 0);
      if (countPrintable(decoded.bytes) >= TEXT_SHARE * decoded.bytes.length) putReadable(builder, decoded);
    }
  return builder.isEmpty ? null : builder.build();
}

/** Decodes hex across lines (`xxd -p`), or with bytes that are not text. */
export function hexDecoded(text: string): View | null {
  const builder = new ViewBuilder(text);
  for (const lines of blobsOf(text, HEX, MIN_HEX_DIGITS)) {
    const blob = collectDigits(text, lines, HEX);
    const decoded = decodeDigits(blob, 4, 0);
    if (blob.isWrapped || countPrintable(decoded.bytes) < decoded.bytes.length) putReadable(builder, decoded);
  }
  return builder.isEmpty ? null : builder.build();
}

/** Bytes inflated of one blob, at most. */
const MAX_BYTES = 1_048_576;
/** Most blobs of one text that are inflated: each may grow a thousandfold. */
const MAX_BLOBS = 8;

/** Inflates gzip, zlib, zip or bzip2 data in base64 or hex. A finding in it stands for the whole blob. */
export function inflated(text: string): View | null {
  const builder = new ViewBuilder(text);
  if (/H4sI|eJ[wx]|eNq|eN[op]|eAE|UEsDB|Qlpo/.test(text)) putInflated(builder, text, base64Blobs(text), BASE64);
  if (/1f8b08|504b0304|789c|78da|7801|425a68/i.test(text))
    putInflated(builder, text, blobsOf(text, HEX, MIN_HEX_DIGITS), HEX);
  return builder.isEmpty ? null : builder.build();
}

function putInflated(builder: ViewBuilder, text: string, all: Iterable<Lines>, alphabet: Alphabet): void {
  const head = new Uint8Array(HEAD_BYTES);
  let blobs = 0;
  for (const lines of all) {
    firstBytes(head, text, lines, alphabet);
    if (!isCompressed(head)) continue;
    const blob = collectDigits(text, lines, alphabet);
    const { bytes } = decodeDigits(blob, alphabet.bits, 0);
    if (blobs++ >= MAX_BLOBS) continue;
    const content = inflate(bytes, MAX_BYTES);
    builder.cut();
    if (content instanceof Buffer) builder.put(content.toString('latin1'), blob.at[0] ?? 0, (blob.at.at(-1) ?? 0) + 1);
  }
}

/** Digits looked at before a blob is decoded backwards. */
const PROBE_DIGITS = 64;

/** Decodes base64 and hex of which each line is turned round, as by `rev`. A finding stands for the whole blob. */
export function turnedRound(text: string): View | null {
  const builder = new ViewBuilder(text);
  putTurned(builder, text, base64Blobs(text), BASE64);
  putTurned(builder, text, blobsOf(text, HEX, MIN_HEX_DIGITS), HEX);
  return builder.isEmpty ? null : builder.build();
}

function putTurned(builder: ViewBuilder, text: string, all: Iterable<Lines>, alphabet: Alphabet): void {
  const probe = new Uint8Array((PROBE_DIGITS * alphabet.bits) / 8);
  for (const lines of all) {
    const length = firstBytes(probe, text, lines, alphabet, true);
    if (countPrintable(probe, length) < TEXT_SHARE * length) continue;
    const blob = collectDigits(text, lines, alphabet);
    const { bytes } = decodeDigits({ ...blob, digits: turnLines(blob) }, alphabet.bits, 0);
    const from = new Int32Array(bytes.length).fill(blob.at[0] ?? 0);
    const to = new Int32Array(bytes.length).fill((blob.at.at(-1) ?? -1) + 1);
    putReadable(builder, { bytes, from, to });
  }
}

/** The digits with those of each line in the other order. A line ends where the next digit is not the next character. */
function turnLines({ digits, at }: Blob): Uint8Array {
  const turned = digits.slice();
  for (let start = 0, end = 1; end <= digits.length; end++) {
    if (end < digits.length && at[end] === (at[end - 1] ?? 0) + 1) continue;
    turned.subarray(start, end).reverse();
    start = end;
  }
  return turned;
}
