import type { Span } from '../../text/offset-map.ts';

/**
 * What gitleaks decodes, in order of precedence, which is also the order of its tags. These decoders repeat gitleaks'
 * behaviour exactly, faults included, and so share nothing with src/text/encodings.ts.
 */
export const ENCODING_KINDS = ['percent', 'unicode', 'hex', 'base64'] as const;

export type EncodingKind = (typeof ENCODING_KINDS)[number];

/** A place that looks encoded. Half open, UTF-16 offsets. */
export interface EncodedRun {
  kind: EncodingKind;
  start: number;
  end: number;
}

const OTHER = 0;
const TOKEN = 1;
const PERCENT = 2;
const BACKSLASH = 3;
/** For each character below 128, what it may begin. */
const CLASS = new Uint8Array(65_536);
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/+-')
  CLASS[char.charCodeAt(0)] = TOKEN;
CLASS[0x25] = PERCENT;
CLASS[0x5c] = BACKSLASH;

const MIN_BASE64_CHARS = 16;
const MIN_HEX_CHARS = 32;
/** `U+` and four digits. */
const CODE_POINT_CHARS = 6;
const PLUS = 0x2b;

/**
 * Returns all places that look encoded, leftmost first, without overlap, as gitleaks' joined pattern finds them;
 * whether they decode is checked later. Time is linear in the text. `lines`: where they may begin, in order of place;
 * default: anywhere.
 */
export function findEncoded(text: string, lines: readonly Span[] = [{ start: 0, end: text.length }]): EncodedRun[] {
  const found: EncodedRun[] = [];
  for (const { start, end } of lines) addEncoded(text, Math.max(start, found.at(-1)?.end ?? 0), end, found);
  return found;
}

function addEncoded(text: string, from: number, to: number, found: EncodedRun[]): void {
  for (let at = from; at < to; ) {
    const kind = CLASS[text.charCodeAt(at)];
    if (kind === OTHER) {
      at++;
      continue;
    }
    let end = at + 1;
    if (kind === TOKEN) {
      while (CLASS[text.charCodeAt(end)] === TOKEN) end++;
      // Nearly every word of a text ends here.
      if (end - at < MIN_BASE64_CHARS && text.charCodeAt(end - CODE_POINT_CHARS + 1) !== PLUS) {
        at = end;
        continue;
      }
    }
    const run = kind === TOKEN ? inToken(text, at, end) : kind === PERCENT ? percentAt(text, at) : escapesAt(text, at);
    if (typeof run === 'number') {
      at = run;
      continue;
    }
    found.push(run);
    at = run.end;
  }
}

/** A place, or the offset at which to continue. */
type Step = EncodedRun | number;

/** A run of `[\w/+-]`: hex, base64, or code points at the end of a run too short for either. */
function inToken(text: string, start: number, end: number): Step {
  if (end - start < MIN_BASE64_CHARS) return codePointsBefore(text, start, end);
  const hexEnd = hexEndFrom(text, start, end);
  if (hexEnd - start >= MIN_HEX_CHARS) return { kind: 'hex', start, end: hexEnd };
  let padded = end;
  while (padded < end + 2 && text[padded] === '=') padded++;
  return { kind: 'base64', start, end: padded };
}

/** `(?:U\+HHHH(?:\s|$))+`, whose first code point must end its run of token characters. */
function codePointsBefore(text: string, runStart: number, runEnd: number): Step {
  const start = runEnd - CODE_POINT_CHARS;
  if (start < runStart) return runEnd;
  let end = start;
  for (let next = codePointEnd(text, start); next !== -1; next = codePointEnd(text, end)) end = next;
  return end === start ? runEnd : { kind: 'unicode', start, end };
}

function codePointEnd(text: string, at: number): number {
  const end = at + CODE_POINT_CHARS;
  if (!text.startsWith('U+', at) || hexEndFrom(text, at + 2, end) !== end) return -1;
  if (end === text.length) return end;
  return '\t\n\f\r '.includes(text.charAt(end)) ? end + 1 : -1;
}

/** `(?i)(?:\\{1,2}uHHHH)+` */
function escapesAt(text: string, start: number): Step {
  let end = start;
  for (let next = escapeEnd(text, start); next !== -1; next = escapeEnd(text, end)) end = next;
  return end === start ? start + 1 : { kind: 'unicode', start, end };
}

function escapeEnd(text: string, at: number): number {
  if (text[at] !== '\\') return -1;
  const letter = text[at + 1] === '\\' ? at + 2 : at + 1;
  if (text[letter] !== 'u' && text[letter] !== 'U') return -1;
  return hexEndFrom(text, letter + 1, letter + 5) === letter + 5 ? letter + 5 : -1;
}

/** `%HH(?:.*%HH)?`: from the first escape of a line to its last. */
function percentAt(text: string, start: number): Step {
  if (!isPercentEscape(text, start)) return start + 1;
  const lineEnd = text.indexOf('\n', start);
  const last = (lineEnd === -1 ? text.length : lineEnd) - 3;
  for (let at = text.lastIndexOf('%', last); at > start + 2; at = text.lastIndexOf('%', at - 1))
    if (isPercentEscape(text, at)) return { kind: 'percent', start, end: at + 3 };
  return { kind: 'percent', start, end: start + 3 };
}

function isPercentEscape(text: string, at: number): boolean {
  return text[at] === '%' && hexEndFrom(text, at + 1, at + 3) === at + 3;
}

/** Returns where the hexadecimal digits from `start` on end, at most `limit`. */
function hexEndFrom(text: string, start: number, limit: number): number {
  let at = start;
  while (at < limit && isHexDigit(text.charCodeAt(at))) at++;
  return at;
}

function isHexDigit(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x66);
}

/** Decodes a place as gitleaks does. Returns an empty string if the result is not printable. */
export function decodeRun(text: string, { kind, start, end }: EncodedRun): string {
  if (kind === 'base64') return decodeBase64(text, start, end);
  if (kind === 'hex') return decodeHex(text, start, end);
  return kind === 'percent' ? decodePercent(text, start, end) : decodeUnicode(text, start, end);
}

/** 0x09 to 0x7e are printable to gitleaks. */
function isPrintable(byte: number): boolean {
  return byte > 0x08 && byte < 0x7f;
}

function decodePercent(text: string, start: number, end: number): string {
  const units = new Uint16Array(end - start);
  let count = 0;
  for (let at = start; at < end; ) {
    const byte = percentByte(text, at, end);
    if (byte !== -1 && !isPrintable(byte)) return '';
    units[count++] = byte === -1 ? text.charCodeAt(at) : byte;
    at += byte === -1 ? 1 : PERCENT_CHARS;
  }
  return textOf(units, count);
}

/** Characters of an escape of percent encoding. */
export const PERCENT_CHARS = 3;

/** The byte of an escape at an offset of a run; -1 if another character stands there. */
export function percentByte(text: string, at: number, end: number): number {
  return text.charCodeAt(at) === 0x25 && at + 2 < end ? hexByte(text, at + 1) : -1;
}

/** Decodes a run of `\uHHHH`, `\\uHHHH` or `U+HHHH`, each unit by itself: gitleaks does not join surrogates. */
function decodeUnicode(text: string, start: number, end: number): string {
  const units = new Uint16Array(end - start);
  let count = 0;
  for (let at = start; at < end; at++) {
    // The digits follow the only `u` or `+` of an escape.
    const code = text.charCodeAt(at);
    const isMark = code === 0x2b || ((code | 0x20) === 0x75 && text.charCodeAt(at + 1) !== 0x2b);
    if (!isMark) continue;
    const unit = (hexByte(text, at + 1) << 8) | hexByte(text, at + 3);
    units[count++] = unit >= 0xd800 && unit <= 0xdfff ? 0xfffd : unit;
    at += 4;
  }
  return textOf(units, count);
}

function textOf(units: Uint16Array, count: number): string {
  return Buffer.from(units.buffer, 0, count * 2).toString('utf16le');
}

/** Returns the value of two hexadecimal digits; -1 if they are not digits. */
function hexByte(text: string, at: number): number {
  const high = HEX[text.charCodeAt(at)] ?? NO_HEX;
  const low = HEX[text.charCodeAt(at + 1)] ?? NO_HEX;
  return high === NO_HEX || low === NO_HEX ? -1 : (high << 4) | low;
}

const NO_HEX = 16;
const HEX = new Uint8Array(128).fill(NO_HEX);
for (const [value, char] of [...'0123456789abcdef'].entries()) HEX[char.charCodeAt(0)] = value;
for (const [value, char] of [...'ABCDEF'].entries()) HEX[char.charCodeAt(0)] = value + 10;

function decodeHex(text: string, start: number, end: number): string {
  if ((end - start) % 2 !== 0) return '';
  let digits = 0;
  for (let at = start; at < end; at += 2) {
    if (text.charCodeAt(at) < 0x3a || text.charCodeAt(at + 1) < 0x3a) digits++;
    if (!isPrintable(hexByte(text, at))) return '';
  }
  return digits === 0 ? '' : Buffer.from(text.slice(start, end), 'hex').toString('latin1');
}

const NOT_STANDARD = 64;
const NOT_URL = 128;
/** The six bits of a character, with a flag if only one of the two alphabets has it. */
const SIX_BITS = new Uint8Array(128);
for (const [bits, char] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'].entries())
  SIX_BITS[char.charCodeAt(0)] = bits;
SIX_BITS[0x2b] = 62 | NOT_URL;
SIX_BITS[0x2f] = 63 | NOT_URL;
SIX_BITS[0x2d] = 62 | NOT_STANDARD;
SIX_BITS[0x5f] = 63 | NOT_STANDARD;

/** The standard alphabet with its padding, or the URL alphabet without any. */
function decodeBase64(text: string, start: number, end: number): string {
  let dataEnd = end;
  while (text[dataEnd - 1] === '=') dataEnd--;
  let bits = 0;
  let flags = 0;
  let likely = false;
  for (let at = start; at < dataEnd; at++) {
    const code = text.charCodeAt(at);
    const value = SIX_BITS[code] ?? 0;
    flags |= value;
    likely ||= code < 0x3a || code === 0x5f;
    bits = (bits << 6) | (value & 63);
    // After the 2nd, 3rd and 4th character of a group a byte is complete.
    const place = (at - start) & 3;
    if (place > 0 && !isPrintable((bits >> (6 - 2 * place)) & 255)) return '';
  }
  const rest = (dataEnd - start) % 4;
  const pads = end - dataEnd;
  const isStandard = (flags & NOT_STANDARD) === 0 && rest !== 1 && pads === (4 - rest) % 4;
  const isUrl = (flags & NOT_URL) === 0 && rest !== 1 && pads === 0;
  return likely && (isStandard || isUrl) ? Buffer.from(text.slice(start, dataEnd), 'base64').toString('latin1') : '';
}
