import { ENTITY_NAMES, meaningOf } from '../../../text/escapes.ts';
import { editMatches, type View } from '../../../text/offset-map.ts';

const ESCAPES = /\\(?:["'`\\/]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\}|[0-3][0-7]{2}|[nrtbfe])/g;

/** Takes off one layer of backslashes, as in a string of JSON or of a program. */
export function unescaped(text: string): View | null {
  if (!text.includes('\\')) return null;
  return editMatches(text, ESCAPES, ([written]) => meaningOf(written));
}

const ENTITIES = new RegExp(`&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|(?:${ENTITY_NAMES}););?`, 'g');

/** HTML and XML with its entities resolved. */
export function withoutEntities(text: string): View | null {
  if (!text.includes('&')) return null;
  return editMatches(text, ENTITIES, ([written]) => meaningOf(written));
}

/** The rules' own decoder reads lines without such a byte. */
const BEYOND_ASCII = /%(?:[89A-Fa-f][0-9A-Fa-f]|[01][0-9A-Fa-f]|7[Ff])/;

/** Decodes percent-encoded text that contains bytes beyond ASCII. */
export function percentDecoded(text: string): View | null {
  if (!BEYOND_ASCII.test(text)) return null;
  return editMatches(text, /%[2-7][0-9A-Fa-f]/g, ([written]) => meaningOf(written));
}

/** Typical of quoted-printable: an encoded equals sign, underscore or line end, or a pair of UTF-8 bytes. */
const TRACE = /=3D|=5F|=0A|=[C-F][0-9A-F]=[89AB][0-9A-F]/;

/** Decodes quoted-printable mail and removes its soft line ends. */
export function quotedPrintableDecoded(text: string): View | null {
  if (!TRACE.test(text)) return null;
  return editMatches(text, /=(?:[ \t]*\r?\n|([0-9A-F]{2}))/g, ([, digits]) =>
    digits === undefined ? '' : String.fromCharCode(Number.parseInt(digits, 16)),
  );
}
