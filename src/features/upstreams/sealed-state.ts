import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { McpError } from '../../core/passing.ts';
import type { StoredServer } from '../../stores/upstream-servers.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';
const OPTIONS = { authTagLength: TAG_BYTES } as const;

/** The server that asked a client for input, and the state that it wants back with the answers. */
export interface AskedState {
  readonly server: string;
  /** Tells the server from a later one of the same name. */
  readonly addedMs: number;
  /** Absent: the server gave none. */
  readonly state?: string;
}

/**
 * The state of a question, for a client to carry: it may hold anything, and must come back unchanged, so it is encrypted instead
 * of scrubbed. The key is that of one daemon and of those that replace it.
 */
export class SealedState {
  #key: Buffer = randomBytes(32);

  /** For the next daemon. */
  get key(): Buffer {
    return this.#key;
  }

  /** Opens and seals as the daemon before. */
  adopt(key: Buffer): void {
    this.#key = key;
  }

  /** `owner`: what `open` must be given. */
  seal(asked: AskedState, owner: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce, OPTIONS).setAAD(Buffer.from(owner));
    const { server, addedMs, state } = asked;
    const sealed = [nonce, cipher.update(JSON.stringify([server, addedMs, state]), 'utf8'), cipher.final()];
    return Buffer.concat([...sealed, cipher.getAuthTag()]).toString('base64url');
  }

  /** Throws McpError for a state that was changed, or sealed for another owner or by another daemon. */
  open(sealed: string, owner: string): AskedState {
    const bytes = Buffer.from(sealed, 'base64url');
    try {
      const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, NONCE_BYTES), OPTIONS)
        .setAAD(Buffer.from(owner))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      const opened = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
      const [server, addedMs, state] = JSON.parse(Buffer.concat([opened, decipher.final()]).toString('utf8'));
      return { server, addedMs, ...(typeof state === 'string' ? { state } : {}) };
    } catch {
      throw invalidState();
    }
  }
}

/** Throws McpError if the server is not the one that asked. */
export function checkAsker({ server, addedMs }: AskedState, answered: Pick<StoredServer, 'name' | 'addedMs'>): void {
  if (!isAsker({ server, addedMs }, answered)) throw invalidState();
}

export function isAsker(asked: AskedState, { name, addedMs }: Pick<StoredServer, 'name' | 'addedMs'>): boolean {
  return asked.server === name && asked.addedMs === addedMs;
}

export function invalidState(): McpError {
  return new McpError(-32_602, 'requestState was changed or has expired', { reason: 'invalid_request_state' });
}
