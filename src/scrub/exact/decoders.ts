import type { EncodedRun } from './encodings.ts';

/** What a place says, decoded as gitleaks does it; empty where it says nothing printable. */
export function decodeRun(text: string, { kind, start, end }: EncodedRun): string {
  if (kind === 'base64') return decodeBase64(text, start, end);
  if (kind === 'hex') return decodeHex(text, start, end);
  return kind === 'percent' ? decodePercent(text, start, end) : decodeUnicode(text, start, end);
}

/** 0x09 to 0x7e: gitleaks' idea of printable. */
function isPrintable(byte: number): boolean {
  return byte > 0x08 && byte < 0x7f;
}

function decodePercent(text: string, start: number, end: number): string {
  const units = new Uint16Array(end - start);
  let count = 0;
  for (let at = start; at < end; ) {
    const byte = text.charCodeAt(at) === 0x25 && at + 2 < end ? hexByte(text, at + 1) : -1;
    if (byte !== -1 && !isPrintable(byte)) return '';
    units[count++] = byte === -1 ? text.charCodeAt(at) : byte;
    at += byte === -1 ? 1 : 3;
  }
  return textOf(units, count);
}

/** `\uHHHH`, `\\uHHHH` or `U+HHHH`, again and again. Each unit for itself: gitleaks joins no surrogates. */
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

/** Two hexadecimal digits; -1 where there are none. */
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
/** The six bits of a character, with a flag where only one of the two alphabets has it. */
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
