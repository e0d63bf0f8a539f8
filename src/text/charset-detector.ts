import { isAscii, isUtf8 } from 'node:buffer';
import { analyse } from 'chardet';
import { type Charset, charsetNamed, charsetOfStart, isText, UTF8 } from './charset.ts';

/** The part around the first byte that is not UTF-8 by which the encoding is guessed. */
const SAMPLE_BYTES = 64 * 1024;
const SAMPLE_BEFORE_BYTES = 1024;
/** If more than this share of a sample is not UTF-8 and no encoding fits, it is no text. */
const INVALID_SHARE_MAX = 0.1;

/** Detects the encoding of a text whose bytes arrive in parts. */
export class CharsetDetector {
  readonly #start: Charset | 'binary' | null;
  readonly #check = new Utf8Check();

  /** `start`: the first 64 KiB, or all bytes if there are fewer. */
  constructor(start: Buffer) {
    this.#start = charsetOfStart(start);
  }

  /** True if the first bytes alone say that this is no text. */
  get isBinary(): boolean {
    return this.#start === 'binary';
  }

  /** The encoding, if the first bytes alone say it; otherwise the text extends ASCII, and this is null. */
  get known(): Charset | null {
    return this.#start === 'binary' ? null : this.#start;
  }

  /** All bytes in their order, those of the start included. */
  add(bytes: Buffer): void {
    if (this.#start === null) this.#check.add(bytes);
  }

  /** Null for data that is no text. */
  finish(): Charset | null {
    if (this.#start !== null) return this.#start === 'binary' ? null : this.#start;
    return this.#check.finish();
  }
}

const CHUNK_BYTES = 256 * 1024;

/** The encoding of complete bytes; null for data that is no text. */
export function detectCharset(bytes: Buffer): Charset | null {
  const detector = new CharsetDetector(bytes);
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) detector.add(bytes.subarray(at, at + CHUNK_BYTES));
  return detector.finish();
}

/** Checks for UTF-8. If it is not, guesses an encoding by the text around the first byte that does not fit. */
class Utf8Check {
  /** An incomplete character, and the text before it. */
  #pending = Buffer.alloc(0);
  #before = Buffer.alloc(0);
  /** Characters of several bytes, as far as they are valid. */
  #characters = 0;
  /** Null while everything is UTF-8. */
  #sample: Buffer[] | null = null;
  #sampled = 0;

  add(chunk: Buffer): void {
    if (this.#sample !== null) {
      this.#extend(this.#sample, chunk);
      return;
    }
    const bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const whole = bytes.subarray(0, bytes.length - incompleteEnd(bytes));
    if (!isUtf8(whole)) {
      this.#begin(bytes);
      return;
    }
    if (!isAscii(whole)) this.#characters += countLeads(whole);
    this.#before = Buffer.from(whole.subarray(-SAMPLE_BEFORE_BYTES));
    this.#pending = Buffer.from(bytes.subarray(whole.length));
  }

  finish(): Charset | null {
    // The beginning of a character, cut off: no western text ends in two bytes beyond ASCII like these.
    if (this.#sample === null && this.#pending.length > 1) return UTF8;
    if (this.#sample === null && this.#pending.length > 0) this.#begin(this.#pending);
    if (this.#sample === null) return UTF8;
    // NUL bytes say nothing about an encoding that extends ASCII.
    const sample = Buffer.from(Buffer.concat(this.#sample).filter((byte) => byte !== 0));
    const { characters, invalid } = scanUtf8(sample);
    // A damaged UTF-8 text still has whole characters; other encodings look like them only by chance.
    if (this.#characters + characters > 0 && this.#characters + characters >= invalid) return UTF8;
    return guessCharset(sample) ?? (invalid > sample.length * INVALID_SHARE_MAX ? null : UTF8);
  }

  #begin(bytes: Buffer): void {
    const { firstInvalid } = scanUtf8(bytes);
    const from = Math.max(0, firstInvalid - SAMPLE_BEFORE_BYTES);
    this.#characters += countLeads(bytes.subarray(0, from));
    this.#sample = from === 0 ? [this.#before] : [];
    this.#extend(this.#sample, bytes.subarray(from));
  }

  #extend(sample: Buffer[], bytes: Buffer): void {
    const part = bytes.subarray(0, Math.max(0, SAMPLE_BYTES - this.#sampled));
    if (part.length > 0) sample.push(Buffer.from(part));
    this.#sampled += part.length;
  }
}

/** The number of characters of several bytes in valid UTF-8. */
function countLeads(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at++) if ((bytes[at] ?? 0) >= 0xc2) count += 1;
  return count;
}

interface Utf8Scan {
  /** Valid characters of several bytes. */
  characters: number;
  /** Bytes that belong to no valid character. */
  invalid: number;
  /** The offset of the first of them; the length of the bytes if all belong to one. */
  firstInvalid: number;
}

function scanUtf8(bytes: Buffer): Utf8Scan {
  const scan = { characters: 0, invalid: 0, firstInvalid: bytes.length };
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at] ?? 0;
    const length = lead < 0x80 ? 1 : sequenceLength(lead);
    if (length === 1 && lead < 0x80) at += 1;
    else if (length > 1 && isUtf8(bytes.subarray(at, at + length)) && at + length <= bytes.length) {
      scan.characters += 1;
      at += length;
    } else {
      scan.firstInvalid = Math.min(scan.firstInvalid, at);
      scan.invalid += 1;
      at += 1;
    }
  }
  return scan;
}

function sequenceLength(lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return 1;
  return lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
}

/** The number of bytes at the end that may be the beginning of a character. */
function incompleteEnd(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    return sequenceLength(byte) > back ? back : 0;
  }
  return 0;
}

/** Below this confidence, of 100, the guess of a statistical analysis is worth less than the look of the bytes. */
const CONFIDENCE_SURE = 25;
const CONFIDENCE_MIN = 5;
/** If more than this share of the runs beyond ASCII looks western, the text may be. */
const WESTERN_SHARE_MIN = 0.6;

/** Guesses an encoding that extends ASCII; null if the bytes are no text in any of them. */
function guessCharset(sample: Buffer): Charset | null {
  const matches = analyse(telling(sample)).flatMap(({ name, confidence }) => {
    const charset = knownCharset(name, sample);
    return charset !== null && fits(sample, charset) ? [{ charset, confidence }] : [];
  });
  const [best] = matches;
  const western = knownCharset('ISO-8859-1', sample);
  if (isOneCharacter(sample)) return western !== null && fits(sample, western) ? western : null;
  if (western !== null && fits(sample, western) && isShortWestern(sample)) return western;
  if (best !== undefined && best.confidence >= CONFIDENCE_SURE) return best.charset;
  if (western !== null && shareOfWesternRuns(sample) > WESTERN_SHARE_MIN && fits(sample, western)) return western;
  return best !== undefined && best.confidence >= CONFIDENCE_MIN ? best.charset : null;
}

/** Fewer bytes beyond ASCII say nothing about a language. */
const TELLING_BYTES_MIN = 8;

/** A character of one or two bytes, without a letter around it, says nothing of its language. */
function isOneCharacter(sample: Buffer): boolean {
  return sample.length <= 2 || (countBeyondAscii(sample) <= 2 && !sample.some((byte) => isLetter(byte)));
}

function countBeyondAscii(sample: Buffer): number {
  return sample.reduce((sum, byte) => sum + (isBeyondAscii(byte) ? 1 : 0), 0);
}

/** True for a text with a few bytes beyond ASCII, if they look like accents of a western language and no symbol is in a word. */
function isShortWestern(sample: Buffer): boolean {
  if (countBeyondAscii(sample) >= TELLING_BYTES_MIN || shareOfWesternRuns(sample) <= WESTERN_SHARE_MIN) return false;
  return !sample.some((byte, at) => isWesternSymbol(byte) && isLetter(sample[at - 1]) && isLetter(sample[at + 1]));
}

/** Letters and a dot, which Catalan writes between letters, are among the symbols of Windows-1252 from 0xa0 to 0xbf. */
const IN_WORDS = new Set([0xaa, 0xad, 0xb5, 0xb7, 0xba]);

function isWesternSymbol(byte: number): boolean {
  return byte >= 0xa0 && byte < 0xc0 && !IN_WORDS.has(byte);
}

/** The lines that have more than ASCII: a comment says more about its language than the program around it. */
function telling(sample: Buffer): Buffer {
  const lines: Buffer[] = [];
  for (let start = 0; start < sample.length; ) {
    const newline = sample.indexOf(0x0a, start);
    const end = newline === -1 ? sample.length : newline + 1;
    const line = sample.subarray(start, end);
    if (!isAscii(line)) lines.push(line);
    start = end;
  }
  return Buffer.concat(lines);
}

/** Only Windows-1252 has characters from 0x80 to 0x9f. Of GB18030, nearly all texts have the characters of GBK only. */
function knownCharset(name: string, sample: Buffer): Charset | null {
  if (name === 'ISO-8859-1' || name === 'windows-1252')
    return charsetNamed(sample.some((byte) => byte >= 0x80 && byte < 0xa0) ? 'windows-1252' : 'iso-8859-1');
  if (name === 'ISO-8859-9') return charsetNamed('windows-1254');
  if (name === 'GB18030') return charsetNamed('gbk');
  const charset = charsetNamed(name);
  return charset === null || charset.label.startsWith('utf-') ? null : charset;
}

/** Without its last line, which may end within a character. */
function fits(sample: Buffer, charset: Charset): boolean {
  const end = sample.lastIndexOf(0x0a) + 1;
  const whole = end > sample.length / 2 ? sample.subarray(0, end) : sample;
  return isText(whole, charset);
}

/** The share of runs of bytes beyond ASCII that are single letters, or pairs of them within a word, as in western texts. */
function shareOfWesternRuns(sample: Buffer): number {
  let [all, western] = [0, 0];
  for (let at = 0; at < sample.length; at++) {
    if (!isBeyondAscii(sample[at])) continue;
    const start = at;
    while (isBeyondAscii(sample[at + 1])) at += 1;
    const length = at + 1 - start;
    all += 1;
    if (length === 1 || (length === 2 && (isLetter(sample[start - 1]) || isLetter(sample[at + 1])))) western += 1;
  }
  return all === 0 ? 0 : western / all;
}

function isBeyondAscii(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80;
}

function isLetter(byte = 0): boolean {
  return (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
}
