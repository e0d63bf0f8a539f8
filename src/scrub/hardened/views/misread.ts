import { asciiTrails } from '../../../text/ascii-trails.ts';
import { Edits, type View, ViewBuilder } from '../../../text/offset-map.ts';

/**
 * ASCII that was decoded as UTF-16 is a text of other characters, each made of two bytes. Anyone can turn it back, so it is
 * searched as the bytes that it was decoded from, in both byte orders.
 */
export function lowBytesFirst(text: string): View | null {
  return misreadUnits(text, (code) => String.fromCharCode(code & 0xff, code >> 8));
}

export function highBytesFirst(text: string): View | null {
  return misreadUnits(text, (code) => String.fromCharCode(code >> 8, code & 0xff));
}

/** Shorter runs occur in texts of Chinese and other scripts. */
const MIN_UNITS = 6;
/** Characters around such a run: what belongs to a secret is in the run itself. */
const CONTEXT_CHARS = 64;
/** A pattern that is quick to find in a text: every run that counts has such characters. */
const MAY_BE_MISREAD = new RegExp(`[\\u0900-\\u7e7e]{${MIN_UNITS}}`);

function misreadUnits(text: string, bytesOf: (code: number) => string): View | null {
  if (!MAY_BE_MISREAD.test(text)) return null;
  const readUnit = (code: number): string => (code === UNKNOWN ? '\n' : bytesOf(code));
  const edits = new Edits(text, CONTEXT_CHARS);
  for (let at = 0; at < text.length; at++) {
    const end = runEnd(text, at);
    if (end - at < MIN_UNITS) {
      at = end;
      continue;
    }
    // The first and the last byte of a run may be in a character with one byte that is not ASCII.
    const first = isWide(text.charCodeAt(at - 1)) ? at - 1 : at;
    const last = isWide(text.charCodeAt(end)) ? end + 1 : end;
    for (let unit = first; unit < last; unit++) edits.replace(unit, unit + 1, readUnit(text.charCodeAt(unit)));
    at = last;
  }
  return edits.view();
}

/** Stands for bytes that the encoding does not have: what they were is not known, and nothing goes on there. */
const UNKNOWN = 0xfffd;

/** The end of a run of characters that consist of two bytes of ASCII text each. */
function runEnd(text: string, from: number): number {
  let at = from;
  while (IS_TEXT_BYTE[text.charCodeAt(at) >> 8] === 1 && IS_LAST_BYTE[text.charCodeAt(at) & 0xff] === 1) at += 1;
  return at;
}

function isWide(code: number): boolean {
  return code >= 0x100;
}

const IS_TEXT_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => {
  const isBlank = byte === 0x09 || byte === 0x0a || byte === 0x0d;
  return isBlank || (byte >= 0x20 && byte < 0x7f) ? 1 : 0;
});
/** Lists of an environment and of file names separate their items with NUL. */
const IS_LAST_BYTE = Uint8Array.from(IS_TEXT_BYTE, (isText, byte) => (byte === 0 ? 1 : isText));

/** The rest of a line that may hold a value, or its name, of which a rule needs the first letter; the value may follow. */
const BEFORE_ASCII = /[^\0-\x7f](?=([\t -~]{1,80}[:=\\][ \t0-9]{0,8}\r?\n[\t -~]{7,1024}|[\t -~]{7,1024}))/gu;

/**
 * In Shift_JIS, GBK, Big5 and EUC-KR the second byte of a character may be an ASCII letter. A byte before a secret then
 * takes the first letter of the secret with it. Shows the ASCII behind such characters, with this letter. Rules that need
 * the start of a line find it also behind one such character.
 */
export function withSwallowedLetters(text: string): View | null {
  const builder = new ViewBuilder(text);
  for (const { 0: character, 1: rest = '', index } of text.matchAll(BEFORE_ASCII)) {
    const start = index + character.length;
    const isLineStart = index === 0 || text[index - 1] === '\n';
    for (const letter of isLineStart ? ['', ...asciiTrails(character)] : asciiTrails(character)) {
      builder.cut();
      builder.put(`${isLineStart ? '\n' : '\u0080'}${letter}`, index, start);
      builder.copy(start, start + rest.length);
    }
  }
  return builder.isEmpty ? null : builder.build();
}
