import type { Span } from '../../src/sdk/file-bytes.ts';
import { describeCharacter } from '../../src/sdk/text-encoding.ts';
import { findBytes } from './find-text.ts';
import { LineCounter } from './lines.ts';

export interface NearMiss {
  /** The line at which it begins, counted from 1. */
  line: number;
  /** What differs, and how, as part of a sentence. */
  differs: string;
}

const TAB = 0x09;
const RETURN = 0x0d;
const SPACE = 0x20;

/**
 * Finds the first text that differs from `wanted` only in white space, or else only in characters that look the same; null if
 * nothing does. Linear in both.
 */
export function findNearMiss(bytes: Buffer, wanted: Buffer): NearMiss | null {
  return findOtherSpace(bytes, wanted) ?? findLookAlike(bytes, wanted);
}

function findOtherSpace(bytes: Buffer, wanted: Buffer): NearMiss | null {
  const words = withoutSpace(wanted);
  if (words.length === 0) return null;
  const [found] = findBytes(withoutSpace(bytes), words, { overlapping: false });
  if (found === undefined) return null;
  const start = offsetOfWord(bytes, 0, found);
  const end = offsetOfWord(bytes, start, words.length - 1) + 1;
  const how = compare(bytes, { start, end }, wanted);
  return { line: new LineCounter(bytes).lineOf(start), differs: `white space: ${how}` };
}

function withoutSpace(bytes: Buffer): Buffer {
  const kept = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (const byte of bytes) {
    if (isSpace(byte)) continue;
    kept[length] = byte;
    length += 1;
  }
  return kept.subarray(0, length);
}

/** The offset of the byte after `count` bytes that are not white space, counted from `start`. */
function offsetOfWord(bytes: Buffer, start: number, count: number): number {
  let left = count;
  let at = start;
  for (; at < bytes.length; at++) {
    if (isSpace(bytes[at] ?? 0)) continue;
    if (left === 0) break;
    left -= 1;
  }
  return at;
}

/** Compares the white space around the words only if that between them is the same. */
function compare(bytes: Buffer, { start, end }: Span, wanted: Buffer): string {
  const between = bytes.subarray(start, end);
  const wantedBetween = trim(wanted);
  return between.equals(wantedBetween)
    ? compareSpace(withSpaceAround(bytes, start, end), wanted)
    : compareSpace(between, wantedBetween);
}

function trim(bytes: Buffer): Buffer {
  let [start, end] = [0, bytes.length];
  while (start < end && isSpace(bytes[start] ?? 0)) start += 1;
  while (end > start && isSpace(bytes[end - 1] ?? 0)) end -= 1;
  return bytes.subarray(start, end);
}

function withSpaceAround(bytes: Buffer, start: number, end: number): Buffer {
  let [from, to] = [start, end];
  while (from > 0 && isSpace(bytes[from - 1] ?? 0)) from -= 1;
  while (to < bytes.length && isSpace(bytes[to] ?? 0)) to += 1;
  return bytes.subarray(from, to);
}

const LINE_ENDS = [
  ['CRLF line ends', /\r\n/],
  ['CR line ends', /\r(?!\n)/],
] as const;

function compareSpace(there: Buffer, wanted: Buffer): string {
  for (const [name, pattern] of LINE_ENDS) {
    const [isThere, isWanted] = [pattern.test(there.toString('latin1')), pattern.test(wanted.toString('latin1'))];
    if (isThere && !isWanted) return `${name} there, LF here`;
    if (isWanted && !isThere) return `LF there, ${name} here`;
  }
  if (there.includes(TAB) && !wanted.includes(TAB)) return 'tabs there, spaces here';
  if (wanted.includes(TAB) && !there.includes(TAB)) return 'spaces there, tabs here';
  return 'the number of spaces or line breaks';
}

/** Space, tab, newline, vertical tab, form feed, return. */
function isSpace(byte: number): boolean {
  return byte === SPACE || (byte >= TAB && byte <= RETURN);
}

/** Characters that stand for a plain one in text that was typeset: by a word processor, a web page or a chat. */
const PLAIN: readonly (readonly [pattern: RegExp, plain: string])[] = [
  [/[\u2018-\u201b\u2032\u2039\u203a\u02bc\u00b4]/u, "'"],
  [/[\u201c-\u201f\u2033\u00ab\u00bb]/u, '"'],
  [/[\p{Pd}\u2212]/u, '-'],
  // White space and what has no width: a byte order mark, joiners, a soft hyphen.
  [/[\p{White_Space}\p{Cf}]/u, ''],
];
/** A longer file gets no such hint. */
const TEXT_MAX_BYTES = 4 * 1024 * 1024;

/** A text in which what looks the same is the same. */
interface Folded {
  bytes: Buffer;
  /** For each byte the offset, in UTF-16, of the character it stands for. */
  offsets: Uint32Array;
}

/**
 * Finds the first text that differs from `wanted` only in how a character is written: kinds of spaces, quotation marks and
 * dashes, characters without width, composed and decomposed letters. Null if nothing does.
 */
function findLookAlike(bytes: Buffer, wanted: Buffer): NearMiss | null {
  if (bytes.length > TEXT_MAX_BYTES) return null;
  const [text, old] = [bytes.toString(), wanted.toString()];
  const [all, part] = [fold(text), fold(old)];
  if (part.bytes.length === 0) return null;
  const [at] = findBytes(all.bytes, part.bytes, { overlapping: false });
  if (at === undefined) return null;
  const [start, end] = [all.offsets[at] ?? 0, all.offsets[at + part.bytes.length] ?? text.length];
  const line = new LineCounter(bytes).lineOf(Buffer.byteLength(text.slice(0, start)));
  return {
    line,
    differs: `characters that look the same: ${difference(visible(text.slice(start, end)), visible(old))}`,
  };
}

function fold(text: string): Folded {
  const parts: string[] = [];
  const offsets: number[] = [];
  let at = 0;
  for (const character of text) {
    const plain = foldCharacter(character);
    parts.push(plain);
    for (let left = Buffer.byteLength(plain); left > 0; left--) offsets.push(at);
    at += character.length;
  }
  return { bytes: Buffer.from(parts.join('')), offsets: Uint32Array.from(offsets) };
}

function foldCharacter(character: string): string {
  if (character > ' ' && character < '\u007f') return character;
  const plain = PLAIN.find(([pattern]) => pattern.test(character))?.[1];
  return plain ?? character.normalize('NFKD');
}

/** Without white space and characters of no width at both ends. */
function visible(text: string): string {
  return text.replace(/^[\p{White_Space}\p{Cf}]+|[\p{White_Space}\p{Cf}]+$/gu, '');
}

/** The first character that is written in another way. */
function difference(there: string, wanted: string): string {
  if (there === wanted) return 'characters of no width around it';
  if (there.normalize('NFC') === wanted.normalize('NFC'))
    return there.normalize('NFC') === there
      ? 'composed letters there, decomposed here'
      : 'decomposed letters there, composed here';
  const [theirs, ours] = [[...there], [...wanted]];
  const index = theirs.findIndex((character, at) => character !== ours[at]);
  const first = index === -1 ? theirs.length : index;
  const name = (character: string | undefined): string =>
    character === undefined ? 'nothing' : describeCharacter(character);
  return `${name(theirs[first])} there, ${name(ours[first])} here`;
}
