import { firstIndex } from '../../text/binary-search.ts';
import { BACKSPACE, ESC, skipSequence } from '../../text/terminal.ts';

/**
 * A text as the guard compares it: lower-case letters and digits only. Terminal codes, zero-width and other separators
 * are dropped, full-width and other compatible letters are folded, and overstruck characters are left out, so that
 * wraps, dumps, spacing and case make no difference.
 */
export interface FoldedText {
  /** ASCII codes; only the first `length` count. */
  codes: Uint8Array;
  /** UTF-16 offset in the text of each code. */
  places: Int32Array;
  length: number;
}

/** Folds a part of a text, between UTF-16 offsets. `room`: a folded text that is no longer used. */
export function foldText(text: string, from = 0, to = text.length, room?: FoldedText): FoldedText {
  const hasRoom = room !== undefined && room.codes.length >= to - from;
  const codes = hasRoom ? room.codes : new Uint8Array(to - from);
  const places = hasRoom ? room.places : new Int32Array(to - from);
  let length = 0;
  for (let at = from; at < to; at++) {
    const char = text.charCodeAt(at);
    const code = FOLDED[char] ?? 0;
    if (code !== 0) {
      codes[length] = code;
      places[length++] = at;
    } else if (char === ESC) at = skipSequence(text, at, to) - 1;
    else if (char === BACKSPACE && length > 0 && places[length - 1] === at - 1) length--;
    else if (char === MATH_LEAD && at + 1 < to) {
      const folded = foldedCode(text.slice(at, at + 2));
      if (folded === 0) continue;
      codes[length] = folded;
      places[length++] = at++;
    }
  }
  return { codes, places, length };
}

/** The letters and digits of a view. */
export function stringOf({ codes, length }: FoldedText): string {
  return Buffer.from(codes.buffer, codes.byteOffset, length).toString('latin1');
}

/** Position of the first code that stands at or after an offset of the text. */
export function firstAt({ places, length }: FoldedText, offset: number): number {
  return firstIndex(0, length, (position) => (places[position] ?? 0) >= offset);
}

export function endOfCharacter(text: string, at: number): number {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800 ? at + 2 : at + 1;
}

/** First half of the mathematical letters (U+1D400 and following). */
const MATH_LEAD = 0xd835;

/** Blocks with characters that are another form of an ASCII letter or digit. */
const COMPATIBLE: readonly (readonly [number, number])[] = [
  [0x30, 0x7a],
  [0xaa, 0xba],
  [0x2070, 0x209c],
  [0x2100, 0x214f],
  [0x2460, 0x24ff],
  [0x3250, 0x325f],
  [0xff10, 0xff5a],
];

/** Per UTF-16 code unit: the ASCII code it is compared as, 0 for what is dropped. */
const FOLDED = foldTable();

function foldTable(): Uint8Array {
  const table = new Uint8Array(65_536);
  for (const [first, last] of COMPATIBLE)
    for (let char = first; char <= last; char++) table[char] = foldedCode(String.fromCharCode(char));
  return table;
}

function foldedCode(character: string): number {
  const plain = character.normalize('NFKC').toLowerCase();
  return /^[0-9a-z]$/.test(plain) ? plain.charCodeAt(0) : 0;
}

/** Begins a block whose line breaks are often written as `\n`, once or in JSON within JSON. */
const PEM = '-----BEGIN ';

/**
 * Returns what two spellings of one secret have in common, from which their identity is made: CRLF becomes LF, and in a
 * PEM block an escaped line break becomes a line break. Spellings that differ in more are different secrets, unless the
 * guard knows the value one is a form of.
 */
export function canonicalOf(text: string): string {
  const lines = text.includes('\r') ? text.replaceAll('\r\n', '\n') : text;
  if (!lines.includes('\\') || !lines.includes(PEM)) return lines;
  return lines.replace(/(?:\\+r)?\\+n/g, '\n');
}
