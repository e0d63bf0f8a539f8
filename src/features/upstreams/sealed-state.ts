import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { McpError } from '../../core/passing.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * What a server wants to have back with the next request, for a client to carry: it may hold anything, and must come back
 * unchanged, so it is encrypted instead of scrubbed. The key is that of one daemon.
 */
export class SealedState {
  readonly #key = randomBytes(32);

  /** `owner`: what `open` must be given. */
  seal(state: string, owner: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(Buffer.from(owner));
    const sealed = [nonce, cipher.update(state, 'utf8'), cipher.final()];
    return Buffer.concat([...sealed, cipher.getAuthTag()]).toString('base64url');
  }

  /** Throws McpError for a state that was changed, or sealed for another owner or by another daemon. */
  open(sealed: string, owner: string): string {
    const bytes = Buffer.from(sealed, 'base64url');
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(owner))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      const state = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([state, decipher.final()]).toString('utf8');
    } catch {
      throw new McpError(-32_602, 'requestState was changed or has expired', { reason: 'invalid_request_state' });
    }
  }
}
