import { base32Core, base64Core, base85Cores, rot13 } from '../../text/encodings.ts';
import { unescapeOnce } from '../../text/escapes.ts';
import { canonicalOf } from './folded-text.ts';
import type { RunClass } from './forms.ts';

/** A text that is searched for as it is. */
export interface ExactForm {
  text: string;
  /** `value`: it is the value; `escape`: a reader of its format would get the value; `trace`: anything else. */
  shows: 'value' | 'escape' | 'trace';
  run: RunClass;
}

/** Shorter forms would be found by chance. */
const MIN_CHARS = 8;
/** Longer values are not searched for in base 85. */
const MAX_CHARS_IN_BASE85 = 1024;
/** Base58 is one number: it costs the square of the length, and people write keys and addresses in it. */
const MAX_CHARS_IN_BASE58 = 64;
/** Most forms of one value, because the index holds no more. */
const MAX_FORMS = 64;

/**
 * Returns the texts to search for, the value first. `byPieces`: pieces of the value are searched for as well
 * (forms.ts), so that fewer exact forms are needed.
 */
export function exactForms(value: string, byPieces: boolean): ExactForm[] {
  const forms = new Map<string, ExactForm>([[value, { text: value, shows: 'value', run: null }]]);
  const add = (shows: ExactForm['shows'], run: RunClass, texts: readonly string[]): void => {
    for (const text of texts) if (text.length >= MIN_CHARS && !forms.has(text)) forms.set(text, { text, shows, run });
  };
  const plain = canonicalOf(value);
  add('escape', null, escapesOf(value, plain));
  if (value.length <= MAX_CHARS_IN_BASE85) add('trace', null, base85Of(plain));
  if (value.length <= MAX_CHARS_IN_BASE58) add('trace', null, base58Of(plain));
  if (!byPieces) {
    add('trace', 'base64', encodingsOf(value));
    add('trace', null, disguisesOf(value));
  }
  return [...forms.values()].slice(0, MAX_FORMS);
}

function escapesOf(value: string, plain: string): string[] {
  const meanings = [plain, unescapeOnce(value)];
  if (!NEEDS_ESCAPE.test(value)) return meanings;
  const withBreaks = plain.includes('\n') ? [plain, plain.replaceAll('\n', '\r\n')] : [plain];
  return [
    ...meanings,
    ...withBreaks.flatMap((text) => [text, ...WRITERS.map((write) => write(text))]),
    ...WRITERS.map((write) => write(value)),
  ];
}

/** A text of other characters only is the same in every format. */
const NEEDS_ESCAPE = /[^A-Za-z0-9_.-]/;

/** How formats and shells write a text inside their quotes. */
const WRITERS: readonly ((text: string) => string)[] = [
  json,
  (text) => json(json(text)),
  (text) => json(text).replaceAll('/', '\\/'),
  (text) => json(text).replace(/[<>&]/g, unicodeEscape),
  (text) => json(text).replace(/[^\0-\x7e]/g, unicodeEscape),
  (text) => text.replaceAll("'", "'\\''"),
  (text) => text.replaceAll("'", `'"'"'`),
  (text) => text.replaceAll("'", "''"),
  (text) => text.replaceAll('"', '""'),
  (text) => text.replace(/["$`\\!]/g, '\\$&'),
  (text) => text.replace(/[^\w@%+=:,./\n-]/g, '\\$&'),
  (text) => json(text).replaceAll('\\"', '"').replaceAll("'", "\\'"),
  (text) => xml(text),
  (text) => xml(text).replaceAll('"', '&quot;'),
  (text) => xml(text).replaceAll('"', '&quot;').replaceAll("'", '&#x27;'),
  (text) => xml(text).replaceAll('"', '&#34;').replaceAll("'", '&#39;'),
  (text) => xml(text).replaceAll('"', '&quot;').replaceAll("'", '&apos;'),
  percent,
  (text) => percent(text).replaceAll('%20', '+'),
  (text) => percent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`),
  (text) => percent(text).replace(/%[0-9A-F]{2}/g, (written) => written.toLowerCase()),
  (text) => encodeURI(wellFormed(text)),
];

function json(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function percent(text: string): string {
  return encodeURIComponent(wellFormed(text));
}

function encodingsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  const standard = [0, 1, 2].map((lead) => base64Core(bytes, lead));
  const wide = [0, 1, 2].map((lead) => base64Core(Buffer.from(value, 'utf16le'), lead));
  const url = standard.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  return [...standard, ...url, ...wide, ...[0, 1, 2, 3, 4].map((lead) => base32Core(bytes, lead))];
}

function base85Of(plain: string): string[] {
  return [0, 1, 2, 3].flatMap((lead) => base85Cores(Buffer.from(plain), lead));
}

/** With and without a line end, in the alphabets of Bitcoin, Flickr and Ripple. */
function base58Of(plain: string): string[] {
  return [plain, `${plain}\n`].flatMap((text) => {
    const digits = base58Digits(Buffer.from(text));
    return BASE58_ALPHABETS.map((letters) => digits.map((digit) => letters[digit]).join(''));
  });
}

const BASE58_ALPHABETS = [
  '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz',
  '123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ',
  'rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz',
];

function base58Digits(bytes: Buffer): number[] {
  const digits: number[] = [];
  for (let rest = BigInt(`0x0${bytes.toString('hex')}`); rest > 0n; rest /= 58n) digits.push(Number(rest % 58n));
  return digits.reverse();
}

function disguisesOf(value: string): string[] {
  const characters = [...value];
  const spread = [' ', '\n', '\0'].map((between) => characters.join(between));
  return [value.toUpperCase(), value.toLowerCase(), characters.toReversed().join(''), rot13(value), ...spread];
}

/** Lone halves of a pair cannot be written in UTF-8. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}
