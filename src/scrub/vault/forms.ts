import { base32Core, base64Core, rot13 } from '../../text/encodings.ts';
import { entropyOf } from '../exact/entropy.ts';
import { canonicalOf, firstAt, foldText, stringOf } from './folded-text.ts';
import { publicCharsOf } from './public-parts.ts';

/** The kind of encoded run that a hit is masked with as a whole. */
export type RunClass = 'base64' | 'hex' | null;

/** A form in which a value may be shown, folded. Pieces of it are found by windows. */
export interface FormKind {
  name: string;
  /** Returns lower-case letters and digits only; empty if the value has no such form. */
  derive(body: Body): string;
  /** One of this many windows is registered. */
  stride: number;
  /** Characters that must agree for a piece to count: those of eight to twelve characters of the value. */
  least: number;
  run: RunClass;
  /** True for dumps: bits of the value often stand beside it in another form. */
  isDump: boolean;
  /** True for the forms that values of thousands of characters are searched for in. */
  isForLong: boolean;
}

/** The secret part of a value. */
export interface Body {
  text: string;
  bytes: Buffer;
  plain: string;
  /** Position in `text` of each character of `plain`. */
  places: Int32Array;
  /** 1 for the characters of `plain` that are common words or public parts of a key, by which no piece may be known. */
  isCommonWord: Uint8Array;
}

/** Values of at least this many characters and bits of entropy are also searched for in pieces. */
const RICH_CHARS = 16;
const RICH_ENTROPY = 3;

/** Whether pieces and transformed pieces of a value are searched for; other values are only searched for as a whole. */
export function isRich(value: string): boolean {
  return value.length >= RICH_CHARS && entropyOf(value) > RICH_ENTROPY;
}

export function bodyOf(value: string): Body {
  const text = pemBody(canonicalOf(value));
  const view = foldText(text);
  const plain = stringOf(view);
  const isCommonWord = commonWordPlaces(
    Array.from(view.places.subarray(0, view.length), (place) => text[place]).join(''),
  );
  isCommonWord.fill(1, 0, firstAt(view, commonHead(text, value)));
  const isPublic = publicCharsOf(text);
  if (isPublic !== null)
    for (const [at, place] of view.places.subarray(0, view.length).entries())
      if (isPublic[place] === 1) isCommonWord[at] = 1;
  return { text, bytes: ownBytes(text), plain, places: view.places, isCommonWord };
}

/** In memory of its own: one that `Buffer.from` makes keeps alive the 64 KiB from which Node gave it a few bytes. */
function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/** Position in `plain` of the middle of a window that begins at an offset of a form. */
export function sourceOf({ plain }: Body, kind: FormKind, form: string, at: number, chars: number): number {
  const middle = at + (chars >>> 1);
  if (kind === REVERSED) return plain.length - 1 - middle;
  return Math.floor((middle / form.length) * plain.length);
}

/**
 * What the value has between two neighbouring characters of a form. Null for the digits of an encoding, of which the value
 * has nothing.
 */
export function ownBetween({ text, plain, places }: Body, kind: FormKind, at: number): string | null {
  const between = (first: number): string => text.slice((places[first] ?? 0) + 1, places[first + 1] ?? 0);
  if (kind === PLAIN || kind === ROT13) return between(at);
  return kind === REVERSED ? [...between(plain.length - 2 - at)].reverse().join('') : null;
}

const PLAIN = kindOf('plain', ({ plain }) => plain, 1, 12);
const REVERSED = kindOf('reversed', ({ plain }) => [...plain].reverse().join(''), 1, 12);
const ROT13 = kindOf('rot13', ({ plain }) => rot13(plain), 1, 12);

/** The index stores positions in this list; at most 64. */
export const FORM_KINDS: readonly FormKind[] = [
  PLAIN,
  REVERSED,
  ROT13,
  ...[0, 1, 2].map((lead) => kindOf('base64', ({ bytes }) => lettersOf(base64Core(bytes, lead)), 3, 14, 'base64')),
  ...[0, 1, 2].map((lead) =>
    kindOf(
      'base64 of UTF-16',
      ({ text }) => lettersOf(base64Core(Buffer.from(text, 'utf16le'), lead)),
      8,
      26,
      'base64',
    ),
  ),
  ...[0, 1, 2, 3, 4].map((lead) =>
    kindOf('base32', ({ bytes }) => base32Core(bytes, lead).toLowerCase(), 6, 16, 'base64'),
  ),
  dumpOf('hex', ({ bytes }) => bytes.toString('hex'), 6, 16, 'hex'),
  dumpOf('\\x', ({ bytes }) => perByte(bytes, (byte) => `x${hex(byte)}`), 12, 24),
  dumpOf('0x', ({ bytes }) => perByte(bytes, (byte) => `0x${hex(byte)}`), 16, 32),
  dumpOf(
    '\\u',
    ({ text }) =>
      [...Buffer.from(text, 'utf16le').swap16().toString('hex').matchAll(/.{4}/g)]
        .map((unit) => `u${unit[0]}`)
        .join(''),
    20,
    45,
  ),
  dumpOf('hex of UTF-16', ({ text }) => Buffer.from(text, 'utf16le').toString('hex'), 16, 40, 'hex'),
  dumpOf('octal', ({ bytes }) => perByte(bytes, (byte) => byte.toString(8).padStart(3, '0')), 12, 24),
  dumpOf('decimal', ({ bytes }) => perByte(bytes, String), 10, 20),
  dumpOf('hex words', ({ bytes }) => perWord(bytes, 0, (word) => word.toString(16).padStart(4, '0')), 6, 16),
  dumpOf('hex words', ({ bytes }) => perWord(bytes, 1, (word) => word.toString(16).padStart(4, '0')), 6, 16),
  dumpOf('octal words', ({ bytes }) => perWord(bytes, 0, (word) => word.toString(8).padStart(6, '0')), 12, 24),
  dumpOf('octal words', ({ bytes }) => perWord(bytes, 1, (word) => word.toString(8).padStart(6, '0')), 12, 24),
];

function kindOf(
  name: string,
  derive: (body: Body) => string,
  stride: number,
  least: number,
  run: RunClass = null,
): FormKind {
  return { name, derive, stride, least, run, isDump: false, isForLong: name === 'plain' || name === 'base64' };
}

function dumpOf(
  name: string,
  derive: (body: Body) => string,
  stride: number,
  least: number,
  run: RunClass = null,
): FormKind {
  return { name, derive, stride, least, run, isDump: true, isForLong: name === 'hex' };
}

/** Only the body of a key block: its marks and headers are the same in every key. */
function pemBody(value: string): string {
  if (!value.startsWith('-----BEGIN ')) return value;
  const lines = value.split('\n').filter((line) => !line.startsWith('-----') && !/^[A-Za-z-]+: /.test(line));
  const body = lines.join('\n').trim();
  return body === '' ? value : body;
}

/** Characters at the start that other secrets and public texts share: kind and algorithm. */
function commonHead(body: string, value: string): number {
  if (body.startsWith('eyJ')) return Math.max(0, body.indexOf('.'));
  if (!value.startsWith('-----BEGIN ')) return 0;
  return Math.max(0, body.indexOf('\n'));
}

function lettersOf(encoded: string): string {
  return encoded.replace(/[^0-9A-Za-z]+/g, '').toLowerCase();
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

function perByte(bytes: Buffer, show: (byte: number) => string): string {
  let shown = '';
  for (const byte of bytes) shown += show(byte);
  return shown;
}

/** Pairs of bytes from an offset on, as a little-endian machine dumps them. */
function perWord(bytes: Buffer, from: number, show: (word: number) => string): string {
  let shown = '';
  for (let at = from; at + 2 <= bytes.length; at += 2) shown += show(bytes.readUInt16LE(at));
  return shown;
}

/** Pairs of letters that words, names of programs and addresses are made of. */
const COMMON_PAIRS =
  'th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ic ' +
  'ne ea ra ce li ch ll be ma si om ur ca el ta la ns di fo ho pe ec pr no ct us ac ot il tr ly nc et ut ss so rs un ' +
  'lo wa ge ie wh ee wi em ad ol rt po we na ul ni ts mo ow pa im mi ai sh ir su id os iv ia am fi ci vi pl ig tu ev ' +
  'ld ry mp fe bl ab gh ty op wo sa ay ex ke fr oo av ag if ap gr od bo sp rd do uc bu ei ov by rm ep tt oc fa ef cu ' +
  'rn sc gi da cr cl du ga qu ue ff ba ey ls va um pp ua up lu ht ru ug lt pi rc rr eg au ck br ak pu ui tp ps ks sl ok rv ms ds nn mm gl iz gg xp ym';

/** Letters and digits on either side of a character that decide, as many as in a piece. */
const REACH = 6;
/** A window with fewer pairs of letters is not called words. */
const MIN_PAIRS = 7;
const WORDY_SHARE = 0.7;

const IS_COMMON = pairTable();

/**
 * Marks the characters of a text of letters and digits around which a piece would be ordinary words ("httpshooks",
 * "connection"), which must not be taken for a piece of a secret. Capitals in the middle of a word count against it.
 */
function commonWordPlaces(text: string): Uint8Array {
  const pairs = new Uint32Array(text.length + 1);
  const common = new Uint32Array(text.length + 1);
  for (let i = 0; i < text.length; i++) {
    const [one, two] = [text.charCodeAt(i), text.charCodeAt(i + 1)];
    const isPair = isLetter(one) && isLetter(two);
    const isCommon = isPair && !(isLower(one) && !isLower(two)) && IS_COMMON[pairOf(one, two)] === 1;
    pairs[i + 1] = (pairs[i] ?? 0) + (isPair ? 1 : 0);
    common[i + 1] = (common[i] ?? 0) + (isCommon ? 1 : 0);
  }
  const isCommonWord = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const [from, to] = [Math.max(0, i - REACH), Math.min(text.length, i + REACH - 1)];
    const inWindow = (pairs[to] ?? 0) - (pairs[from] ?? 0);
    if (inWindow >= MIN_PAIRS && (common[to] ?? 0) - (common[from] ?? 0) >= inWindow * WORDY_SHARE) isCommonWord[i] = 1;
  }
  return isCommonWord;
}

function pairTable(): Uint8Array {
  const table = new Uint8Array(26 * 26);
  for (const pair of COMMON_PAIRS.split(' ')) table[pairOf(pair.charCodeAt(0), pair.charCodeAt(1))] = 1;
  return table;
}

/** Of two letters in either case. */
function pairOf(one: number, two: number): number {
  return ((one | 32) - 97) * 26 + (two | 32) - 97;
}

function isLetter(code: number): boolean {
  return (code | 32) >= 97 && (code | 32) <= 122;
}

function isLower(code: number): boolean {
  return code >= 97;
}
