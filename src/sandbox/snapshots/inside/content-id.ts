import { createHash } from 'node:crypto';

/** The id that git gives to this content. */
export function idOf(bytes: Buffer): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}
