import { HEAD_MAX_BYTES } from './limits.ts';

/** What a program speaks, by its first bytes. `http2`: HTTP/2 without TLS. */
export type Spoken = 'tls' | 'http' | 'http2' | 'ssh' | 'other';

const TLS_RECORD = 0x16;
const SSH = 'SSH-2.0-';
/**
 * The method of a request line, as strict and as lenient servers read it: blanks and blank lines before it, any blanks after
 * it. No two parts of these patterns match the same bytes, so a long line costs no more than its length.
 */
const METHOD = /^[ \t\r\n]*[!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}(?=[ \t])/;
const COULD_BE_METHOD = /^[ \t\r\n]*[!#$%&'*+.^_`|~0-9A-Za-z-]{0,40}$/;
const VERSION = /[ \t]HTTP\/[0-9]/i;

/** Null: more bytes are needed. */
export function whatIsSpoken(data: Buffer): Spoken | null {
  if (data.length === 0) return null;
  if (data[0] === TLS_RECORD) return 'tls';
  const text = data.toString('latin1', 0, HEAD_MAX_BYTES);
  if (text.startsWith(SSH)) return 'ssh';
  if (SSH.startsWith(text)) return null;
  const isWhole = data.length >= HEAD_MAX_BYTES;
  const method = METHOD.exec(text)?.[0];
  if (method === undefined) return COULD_BE_METHOD.test(text) && !isWhole ? null : 'other';
  const rest = text.slice(method.length + 1);
  const end = rest.search(/[\r\n]/);
  if (VERSION.test(end < 0 ? rest : rest.slice(0, end))) return method.trimStart() === 'PRI' ? 'http2' : 'http';
  return end < 0 && !isWhole ? null : 'other';
}
