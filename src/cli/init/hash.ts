import { createHash } from 'node:crypto';

/** sha256 of the text as UTF-8, hexadecimal. */
export function contentHash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
