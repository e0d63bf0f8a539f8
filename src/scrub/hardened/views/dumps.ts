import { characterTable, countPrintable, runsOf } from '../../../text/encodings.ts';
import { type View, ViewBuilder } from '../../../text/offset-map.ts';
import { type Decoded, putReadable } from './blobs.ts';

/** A line of `xxd`, `hexdump` or `od` in one of their formats: the offset in the file, then groups of digits. */
const LINE =
  /^[ \t]*([0-9A-Fa-f]{5,16})(:?)[ \t]+((?:[0-9A-Fa-f]{2,8}[ \t]{1,3}){1,31}[0-9A-Fa-f]{2,8})(?:[ \t][^\n]*)?$/gm;
/** Single bytes with signs between, as in an array: 0x67, 0x68 or 67:68. */
const LIST =
  /(?<![0-9A-Za-z])(?:(?:0x)?[0-9A-Fa-f]{2}(?:[ \t,:;-]|\r?\n){1,8}){15,}(?:0x)?[0-9A-Fa-f]{2}(?![0-9A-Za-z])/g;

/** What a list consists of. */
const OF_LIST = characterTable((character) => /[0-9A-Fa-fx \t,:;\r\n-]/.test(character));
/** Characters of the shortest list: 15 bytes with a sign each, and the last one. */
const MIN_LIST_CHARS = 47;

interface Bytes {
  bytes: number[];
  from: number[];
  to: number[];
}

/** Reads the bytes that a dump shows. A finding includes the ends of its lines, which show the same bytes again. */
export function dumpsRead(text: string): View | null {
  const builder = new ViewBuilder(text);
  let dump: Bytes = { bytes: [], from: [], to: [] };
  let next = -1;
  const flush = (): void => {
    if (dump.bytes.length > 0) putReadable(builder, asDecoded(dump));
    dump = { bytes: [], from: [], to: [] };
  };
  for (const line of text.matchAll(LINE)) {
    if (line.index !== next) flush();
    readLine(line, dump);
    next = line.index + line[0].length + 1;
  }
  flush();
  for (const { start, end } of runsOf(text, OF_LIST, MIN_LIST_CHARS)) {
    // With the characters around it, which a list depends on.
    const from = Math.max(0, start - 1);
    for (const list of text.slice(from, end + 1).matchAll(LIST)) {
      readPairs(list[0], from + list.index, dump);
      flush();
    }
  }
  return builder.isEmpty ? null : builder.build();
}

/** Words of four or eight hex or six octal digits have their low byte first, except in xxd, whose offset ends with a colon. */
function readLine(line: RegExpExecArray, dump: Bytes): void {
  const [whole, , colon, groups = ''] = line;
  const start = line.index + whole.indexOf(groups, whole.length - whole.trimStart().length + 6);
  const lineEnd = line.index + whole.length;
  const isOctal = /^(?:[0-7]{6}(?:[ \t]+|$))+$/.test(groups);
  const isBytes = /^(?:[0-7]{3}(?:[ \t]+|$))+$/.test(groups);
  for (const { 0: group, index } of groups.matchAll(/[0-9A-Fa-f]+/g)) {
    const bytes = isOctal || isBytes ? octalBytes(group) : hexBytes(group, colon === ':');
    for (const byte of bytes) push(dump, byte, start + index, lineEnd);
  }
}

function octalBytes(group: string): number[] {
  const word = Number.parseInt(group, 8);
  return group.length === 3 ? [word & 255] : [word & 255, (word >> 8) & 255];
}

function hexBytes(group: string, isBigEndian: boolean): number[] {
  const bytes = [...group.matchAll(/../g)].map(([pair]) => Number.parseInt(pair, 16));
  return isBigEndian || bytes.length < 2 ? bytes : bytes.reverse();
}

function readPairs(text: string, offset: number, dump: Bytes): void {
  for (const { 0: whole, 1: pair = '', index } of text.matchAll(/(?:0x)?([0-9A-Fa-f]{2})/g))
    push(dump, Number.parseInt(pair, 16), offset + index, offset + index + whole.length);
}

function push(dump: Bytes, byte: number, from: number, to: number): void {
  dump.bytes.push(byte);
  dump.from.push(from);
  dump.to.push(to);
}

function asDecoded({ bytes, from, to }: Bytes): Decoded {
  return { bytes: Uint8Array.from(bytes), from: Int32Array.from(from), to: Int32Array.from(to) };
}

/** The first line of uuencoded data, and its lines: a length, then its digits. */
const UUENCODED = /^begin [0-7]{3,4} [^\n]{1,200}\n((?:[!-M`][ -`]{1,61}\r?\n){1,2000})/gm;

/** Decodes uuencoded data. A finding stands for whole lines. */
export function uudecoded(text: string): View | null {
  if (!text.includes('begin ')) return null;
  const builder = new ViewBuilder(text);
  for (const block of text.matchAll(UUENCODED)) {
    const dump: Bytes = { bytes: [], from: [], to: [] };
    let at = block.index + block[0].length - (block[1] ?? '').length;
    for (const line of (block[1] ?? '').split('\n').filter((one) => one !== '')) {
      for (const byte of uuBytes(line)) push(dump, byte, at, at + line.length);
      at += line.length + 1;
    }
    putReadable(builder, asDecoded(dump));
  }
  return builder.isEmpty ? null : builder.build();
}

function uuBytes(line: string): number[] {
  const digit = (at: number): number => ((line.charCodeAt(at) || 32) - 32) & 63;
  const bytes: number[] = [];
  for (let at = 1; bytes.length < digit(0) && at < line.length; at += 4) {
    const word = (digit(at) << 18) | (digit(at + 1) << 12) | (digit(at + 2) << 6) | digit(at + 3);
    bytes.push(word >> 16, (word >> 8) & 255, word & 255);
  }
  return bytes.slice(0, digit(0));
}

const ASCII85_DIGITS = characterTable((character) => /[!-u]/.test(character));
const MIN_ASCII85_DIGITS = 40;
/** Groups looked at before the rest is decoded. */
const PROBE_CHARS = 20;

/** Decodes Ascii85: a run without blanks. The signs <~ and ~> around it are not digits. */
export function ascii85Decoded(text: string): View | null {
  const builder = new ViewBuilder(text);
  for (const { start, end } of runsOf(text, ASCII85_DIGITS, MIN_ASCII85_DIGITS)) {
    const probe = decodeAscii85(text.slice(start, start + PROBE_CHARS), 0);
    if (countPrintable(probe.bytes) < probe.bytes.length) continue;
    putReadable(builder, decodeAscii85(text.slice(start, end), start));
  }
  return builder.isEmpty ? null : builder.build();
}

/** Five digits are four bytes; two to four at the end are one byte less. A number that is too large ends the run. */
function decodeAscii85(run: string, offset: number): Decoded {
  const bytes: number[] = [];
  const groups: number[] = [];
  for (let at = 0; at + 1 < run.length; at += 5) {
    const digits = run.slice(at, at + 5);
    let number = 0;
    for (let i = 0; i < 5; i++) number = number * 85 + (i < digits.length ? digits.charCodeAt(i) - 33 : 84);
    if (number > 0xffffffff) break;
    for (let i = 0; i < digits.length - 1; i++) {
      bytes.push(Math.floor(number / 2 ** (24 - 8 * i)) % 256);
      groups.push(offset + at);
    }
  }
  const from = Int32Array.from(groups);
  return { bytes: Uint8Array.from(bytes), from, to: from.map((start) => Math.min(start + 5, offset + run.length)) };
}
