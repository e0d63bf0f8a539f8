import { HEAD_MAX_BYTES } from './limits.ts';

/**
 * What a program speaks, by its first bytes. `http2`: HTTP/2 without TLS. `unclear`: it can still be HTTP, but its first line
 * is too long to tell.
 */
export type Spoken = 'tls' | 'http' | 'http2' | 'ssh' | 'unclear' | 'other';

/** The record that a ClientHello is in. Libraries skip some records of other types (20 to 24) before it, such as warnings. */
const HANDSHAKE_RECORD = 22;
const FIRST_RECORD = 20;
const LAST_RECORD = 24;
const SSH = 'SSH-2.0-';
/**
 * A request line as strict and as lenient servers read it (RFC 9112 section 3): blanks and blank lines before the method, any
 * blanks after it, of which a carriage return alone is one. No two parts of these patterns match the same bytes, so a long
 * line costs no more than its length.
 */
const METHOD = /^[ \t\v\f\r\n]*[!#$%&'*+.^_`|~0-9A-Za-z-]+(?=[ \t\v\f\r])/;
const COULD_BE_METHOD = /^[ \t\v\f\r\n]*[!#$%&'*+.^_`|~0-9A-Za-z-]*$/;
const VERSION = /[ \t\v\f\r]HTTP\/[0-9]/i;

/** Null: more bytes are needed. */
export function whatIsSpoken(data: Buffer): Spoken | null {
  if (data.length === 0) return null;
  const isTls = couldBeTls(data);
  if (isTls !== false) return isTls === null ? null : 'tls';
  const text = data.toString('latin1', 0, HEAD_MAX_BYTES);
  if (text.startsWith(SSH)) return 'ssh';
  if (SSH.startsWith(text)) return null;
  const undecided = data.length < HEAD_MAX_BYTES ? null : 'unclear';
  const method = METHOD.exec(text)?.[0];
  if (method === undefined) return COULD_BE_METHOD.test(text) ? undecided : 'other';
  const rest = text.slice(method.length);
  const end = rest.indexOf('\n');
  if (VERSION.test(end < 0 ? rest : rest.slice(0, end))) return method.trimStart() === 'PRI' ? 'http2' : 'http';
  return end < 0 ? undecided : 'other';
}

/** Whether a TLS library reads these bytes as the start of TLS: a record, or a ClientHello in the form of SSL 2. */
function couldBeTls(data: Buffer): boolean | null {
  const [first = 0, second, third, fourth] = data;
  if (first === HANDSHAKE_RECORD) return true;
  if (first >= FIRST_RECORD && first <= LAST_RECORD) return second === undefined ? null : second === 3;
  if (first < 0x80) return false;
  if (third === undefined) return null;
  if (third !== 1) return false;
  return fourth === undefined ? null : fourth === 3;
}
