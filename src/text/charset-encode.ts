import { type Charset, decodeBytes } from './charset.ts';

/** Thrown for a character that an encoding does not have. */
export class UnencodableCharacter extends Error {
  readonly character: string;

  constructor(character: string, { name }: Charset) {
    super(`${name} has no ${describeCharacter(character)}`);
    this.character = character;
  }
}

/** The character and its number, such as `"→" (U+2192)`. */
export function describeCharacter(character: string): string {
  const number = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `${JSON.stringify(character)} (U+${number})`;
}

/** Encodes a text, without a byte order mark. Throws UnencodableCharacter. */
export function encodeText(text: string, charset: Charset): Buffer {
  switch (charset.label) {
    case 'utf-8':
      return Buffer.from(text, 'utf8');
    case 'utf-16le':
      return Buffer.from(text, 'utf16le');
    case 'utf-16be':
      return Buffer.from(text, 'utf16le').swap16();
    default:
      return encodeByTable(text, charset);
  }
}

/** Encodes a whole text with the byte order mark of the encoding. */
export function encodeFile(text: string, charset: Charset): Buffer {
  return Buffer.concat([charset.bom, encodeText(text, charset)]);
}

function encodeByTable(text: string, charset: Charset): Buffer {
  const table = tableOf(charset);
  // One character has at most four bytes.
  const bytes = Buffer.allocUnsafe(4 * text.length);
  let size = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const sequence = code < 0x80 ? code : table.get(code);
    if (sequence === undefined) throw new UnencodableCharacter(character, charset);
    size = writeSequence(bytes, size, sequence);
  }
  return Buffer.from(bytes.subarray(0, size));
}

/** A sequence is a number whose bytes, most significant first, are its own; none begins with NUL. */
function writeSequence(bytes: Buffer, at: number, sequence: number): number {
  const length = sequence > 0xffff ? 3 : sequence > 0xff ? 2 : 1;
  bytes.writeUIntBE(sequence, at, length);
  return at + length;
}

const tables = new Map<string, ReadonlyMap<number, number>>();

/** What each character is encoded as: the inverse of the decoder, so that both agree. Made at the first use. */
function tableOf(charset: Charset): ReadonlyMap<number, number> {
  const known = tables.get(charset.name);
  if (known !== undefined) return known;
  const table = new Map<number, number>();
  for (const sequence of sequencesOf(charset)) {
    const bytes = Buffer.alloc(3);
    const text = decodeBytes(bytes.subarray(0, writeSequence(bytes, 0, sequence)), charset);
    const code = text.codePointAt(0) ?? 0;
    const isOne = text.length === (code > 0xffff ? 2 : 1) && code !== 0xfffd;
    if (isOne && code >= 0x80 && !table.has(code)) table.set(code, sequence);
  }
  tables.set(charset.name, table);
  return table;
}

/** The sequences of bytes that may be a character beyond ASCII, those first that an encoder prefers. */
function* sequencesOf({ name, label }: Charset): Generator<number> {
  const first = name === 'iso-8859-1' ? 0xa0 : 0x80;
  for (let byte = first; byte <= 0xff; byte++) yield byte;
  if (!MULTI_BYTE.includes(label)) return;
  for (let lead = 0x81; lead <= 0xfe; lead++) {
    for (let trail = 0x40; trail <= 0xfe; trail++) yield (lead << 8) | trail;
  }
  if (label !== 'euc-jp') return;
  for (let row = 0xa1; row <= 0xfe; row++) {
    for (let cell = 0xa1; cell <= 0xfe; cell++) yield 0x8f0000 | (row << 8) | cell;
  }
}

const MULTI_BYTE: readonly string[] = ['shift_jis', 'euc-jp', 'gbk', 'gb18030', 'big5', 'euc-kr'];
