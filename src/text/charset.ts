import { TextDecoder } from 'node:util';

/** How the characters of a text are written as bytes. */
export interface Charset {
  /** As answers name it and callers give it, such as "windows-1252" or "utf-16le-bom". */
  readonly name: string;
  /** Its name in the Encoding Standard, for TextDecoder. */
  readonly label: string;
  /** The mark at the start of the file; empty without one. */
  readonly bom: Buffer;
  /** Bytes of the smallest part of a character: a newline has as many. */
  readonly unitBytes: 1 | 2;
  /** The most bytes that one byte becomes in UTF-8. */
  readonly growth: 1 | 2 | 3;
}

const NO_BOM = Buffer.alloc(0);
const BOMS: readonly (readonly [label: string, bom: Buffer])[] = [
  ['utf-8', Buffer.from('efbbbf', 'hex')],
  ['utf-16le', Buffer.from('fffe', 'hex')],
  ['utf-16be', Buffer.from('feff', 'hex')],
];
const UTF32_BOMS = [Buffer.from('fffe0000', 'hex'), Buffer.from('0000feff', 'hex')];

export const UTF8: Charset = charsetOf('utf-8', 'utf-8');

/** Encodings with one byte for each character. */
const SINGLE_BYTE: readonly string[] = [
  'iso-8859-2',
  'iso-8859-3',
  'iso-8859-4',
  'iso-8859-5',
  'iso-8859-6',
  'iso-8859-7',
  'iso-8859-8',
  'iso-8859-10',
  'iso-8859-13',
  'iso-8859-14',
  'iso-8859-15',
  'iso-8859-16',
  'koi8-r',
  'koi8-u',
  'macintosh',
  'x-mac-cyrillic',
  'windows-874',
  'windows-1250',
  'windows-1251',
  'windows-1252',
  'windows-1253',
  'windows-1254',
  'windows-1255',
  'windows-1256',
  'windows-1257',
  'windows-1258',
  'ibm866',
];
/**
 * ISO-2022-JP is not among them: it writes characters as pairs of ASCII letters, so that any text can be read as Japanese,
 * and the secrets in it are then not recognized.
 */
const MULTI_BYTE: readonly string[] = ['shift_jis', 'euc-jp', 'gbk', 'gb18030', 'big5', 'euc-kr'];

/** The names that a caller may give, without those of encodings with a byte order mark. */
export const CHARSET_NAMES: readonly string[] = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'iso-8859-1',
  ...SINGLE_BYTE,
  ...MULTI_BYTE,
];

/** Returns null for an unknown name. Case is ignored; `-bom` is for an encoding of Unicode with a byte order mark. */
export function charsetNamed(given: string): Charset | null {
  const name = given.toLowerCase();
  const [, unicode, mark] = /^(utf-8|utf-16le|utf-16be)(-bom)?$/.exec(name) ?? [];
  if (unicode !== undefined) return charsetOf(unicode, unicode, mark !== undefined);
  if (name === 'latin1' || name === 'iso-8859-1') return charsetOf('iso-8859-1', 'windows-1252');
  return CHARSET_NAMES.includes(name) ? charsetOf(name, name) : null;
}

function charsetOf(name: string, label: string, hasBom = false): Charset {
  const bom = hasBom ? (BOMS.find(([known]) => known === label)?.[1] ?? NO_BOM) : NO_BOM;
  const unitBytes = label.startsWith('utf-16') ? 2 : 1;
  const growth = label === 'utf-8' ? 1 : SINGLE_BYTE.includes(label) ? 3 : 2;
  return { name: hasBom ? `${label}-bom` : name, label, bom, unitBytes, growth };
}

/** The same encoding with the byte order mark that the bytes begin with, or without one. */
export function withBomOf({ name, label }: Charset, start: Buffer): Charset {
  const mark = BOMS.find(([known]) => known === label)?.[1];
  const plain = name.replace(/-bom$/, '');
  return charsetOf(plain, label, mark !== undefined && start.subarray(0, mark.length).equals(mark));
}

/** The part at the start of a text that is searched for NUL bytes. */
const NUL_WINDOW_BYTES = 8 * 1024;

/** More NUL bytes in a row are padding, as in archives and programs. Separators and damaged lines have fewer. */
const NUL_RUN_MAX = 64;
/** If more than this share of the characters beside NUL are other control characters, the data is no text. */
const CONTROL_SHARE_MAX = 0.02;

/**
 * What the first bytes say: an encoding by its byte order mark or its NUL bytes, `binary`, or null if they may be UTF-8 or
 * an encoding that extends ASCII, with or without NUL bytes between its characters.
 */
export function charsetOfStart(start: Buffer): Charset | 'binary' | null {
  if (UTF32_BOMS.some((bom) => start.subarray(0, bom.length).equals(bom))) return 'binary';
  const marked = BOMS.find(([, bom]) => start.subarray(0, bom.length).equals(bom));
  if (marked !== undefined) {
    const charset = charsetOf(marked[0], marked[0], true);
    return charset.unitBytes === 1 || isText(start, charset) ? charset : 'binary';
  }
  const window = start.subarray(0, NUL_WINDOW_BYTES);
  if (!window.includes(0)) return null;
  const label = utf16ByNuls(window);
  const charset = label === null ? null : charsetOf(label, label);
  if (charset !== null && isText(window, charset)) return charset;
  return isTextBetweenNuls(window) ? null : 'binary';
}

/** True for a text with NUL bytes in it: a list with separators, or the output of a program that printed one by mistake. */
function isTextBetweenNuls(bytes: Buffer): boolean {
  let [nuls, run, controls] = [0, 0, 0];
  for (const byte of bytes) {
    run = byte === 0 ? run + 1 : 0;
    if (run > NUL_RUN_MAX) return false;
    if (byte === 0) nuls += 1;
    else if (byte < 0x80 && IS_CONTROL[byte] === 1) controls += 1;
  }
  const others = bytes.length - nuls;
  return nuls <= others && controls <= others * CONTROL_SHARE_MAX;
}

/** The smallest share of ASCII characters in a text in UTF-16: the spaces of any language that has them. */
const UTF16_ASCII_SHARE_MIN = 0.1;
const BLANKS = new Set([0x0a, 0x0d, 0x20]);

/** A single character says nothing of its encoding. */
const UTF16_BYTES_MIN = 4;

/** In UTF-16 one byte of an ASCII character is NUL, the same one in all of them; blanks are among them. */
function utf16ByNuls(bytes: Buffer): string | null {
  if (bytes.length < UTF16_BYTES_MIN) return null;
  const nuls = [0, 0];
  let blanks = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] !== 0) continue;
    nuls[at % 2] = (nuls[at % 2] ?? 0) + 1;
    if (BLANKS.has(bytes[at ^ 1] ?? 0)) blanks += 1;
  }
  const [even = 0, odd = 0] = nuls;
  const isRare = even + odd < (bytes.length / 2) * UTF16_ASCII_SHARE_MIN;
  if ((even > 0 && odd > 0) || blanks === 0 || isRare) return null;
  return even > 0 ? 'utf-16be' : 'utf-16le';
}

/** True if the bytes decode without a fault, and to characters that occur in texts. */
export function isText(bytes: Buffer, { label, unitBytes, bom }: Charset): boolean {
  const whole = bytes.subarray(bom.length, bytes.length - ((bytes.length - bom.length) % unitBytes));
  try {
    const text = new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(whole, { stream: true });
    return !hasControls(text);
  } catch {
    return false;
  }
}

/** Characters below 256 that no text has: controls other than tab, line ends, form feed, backspace, bell and escape. */
const IS_CONTROL = Uint8Array.from({ length: 256 }, (_, code) => {
  const isUsed = (code >= 0x07 && code <= 0x0d) || code === 0x1b || (code >= 0x20 && code < 0x7f) || code >= 0xa0;
  return isUsed ? 0 : 1;
});

/** True for characters that no text has; those for private use have no meaning outside of one program. */
function hasControls(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (IS_CONTROL[code] === 1 || (code >= 0xe000 && code <= 0xf8ff)) return true;
  }
  return false;
}

/**
 * Decodes a part of a text; its byte order mark, if the part begins with it, is removed. Bytes that the encoding does not
 * have become U+FFFD.
 */
export function decodeBytes(bytes: Buffer, charset: Charset, isStart = false): string {
  const body = isStart && bytes.subarray(0, charset.bom.length).equals(charset.bom) ? charset.bom.length : 0;
  const rest = bytes.subarray(body);
  return charset.label === 'utf-8' ? rest.toString('utf8') : decoderOf(charset).decode(rest);
}

/** For a text that arrives in parts: pass `{ stream: true }` for all but the last. Keeps a byte order mark. */
export function decoderOf({ label }: Charset): TextDecoder {
  return new TextDecoder(label, { ignoreBOM: true });
}
