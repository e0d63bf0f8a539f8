import { HEAD_MAX_BYTES } from './limits.ts';

/** What a program speaks, by its first bytes. `http2`: HTTP/2 without TLS. */
export type Spoken = 'tls' | 'http' | 'http2' | 'ssh' | 'other';

const TLS_RECORD = 0x16;
const SSH = 'SSH-2.0-';
/** A request line as strict and as lenient servers read it: blank lines before, any blanks between. */
const REQUEST_LINE = /^[\r\n]*[!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}[ \t]+[^\r\n]*[ \t]HTTP\/[0-9]/i;
const COULD_BE_REQUEST_LINE = /^[\r\n]*[!#$%&'*+.^_`|~0-9A-Za-z-]{0,40}([ \t]+[^\r\n]*)?$/;

/** Null: more bytes are needed. */
export function whatIsSpoken(data: Buffer): Spoken | null {
  if (data.length === 0) return null;
  if (data[0] === TLS_RECORD) return 'tls';
  const text = data.toString('latin1', 0, HEAD_MAX_BYTES);
  if (text.startsWith(SSH)) return 'ssh';
  if (SSH.startsWith(text)) return null;
  const request = REQUEST_LINE.exec(text);
  if (request !== null) return request[0].trimStart().startsWith('PRI ') ? 'http2' : 'http';
  return COULD_BE_REQUEST_LINE.test(text) && data.length < HEAD_MAX_BYTES ? null : 'other';
}
