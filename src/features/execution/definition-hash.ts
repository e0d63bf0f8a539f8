import { createHash } from 'node:crypto';
import type { UpstreamTool } from '../../upstream/contract.ts';

/** SHA-256 of everything that a server says of a tool, hexadecimal. */
export function definitionHash(definition: UpstreamTool['definition']): string {
  return createHash('sha256').update(JSON.stringify(definition)).digest('hex');
}
