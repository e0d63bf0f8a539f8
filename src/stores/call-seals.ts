import { createCipheriv, createDecipheriv, hash } from 'node:crypto';
import type { CallAnswer, CallRequest } from '../call/request.ts';
import type { DaemonKeys } from './keys.ts';

const CIPHER = 'aes-256-gcm';
/** A key seals one answer and is never used again, so that its nonce need not differ. */
const NONCE = Buffer.alloc(12);
const MAC_BYTES = 16;

/**
 * Binds a call to its caller, project and payload. The answer is encrypted with a key that follows from all of them and is not
 * stored: only the same call gets it back, and a secret found in it later lies in no file.
 */
export interface CallSeal {
  /** Differs if the caller, the project or the payload does. Says nothing about them. */
  readonly tag: string;
  /** Base64: a text reaches the thread of the database sooner than bytes do. */
  seal(answer: CallAnswer): string;
  /** Null if the text is not an answer of this call. */
  open(sealed: string): CallAnswer | null;
}

/** Makes the seals of calls from the daemon's own key. */
export class CallSeals {
  readonly #keys: DaemonKeys;
  #daemonKey: string | undefined;

  constructor(keys: DaemonKeys) {
    this.#keys = keys;
  }

  of(request: CallRequest): CallSeal {
    // Every call waits for its seal before it runs: an HMAC for each would take five times as long. Both parts have a fixed length.
    this.#daemonKey ??= this.#keys.derive('call').toString('hex');
    const key = hash('sha256', `${this.#daemonKey}${payloadHash(request)}`, 'buffer');
    return {
      tag: hash('sha256', key),
      seal(answer) {
        const cipher = createCipheriv(CIPHER, key, NONCE);
        return Buffer.concat([cipher.update(JSON.stringify(answer)), cipher.final(), cipher.getAuthTag()]).toString(
          'base64',
        );
      },
      open(sealed) {
        const bytes = Buffer.from(sealed, 'base64');
        const end = bytes.length - MAC_BYTES;
        if (end < 0) return null;
        const decipher = createDecipheriv(CIPHER, key, NONCE).setAuthTag(bytes.subarray(end));
        try {
          return JSON.parse(Buffer.concat([decipher.update(bytes.subarray(0, end)), decipher.final()]).toString());
        } catch {
          return null;
        }
      },
    };
  }
}

/** Covers everything that decides what the call does, and to whom its answer goes. */
function payloadHash(request: CallRequest): string {
  const { requestId, principal, tool, projectRoot, sessionHint, branchHint, inputJson, inputText, form, cwd } = request;
  const inputs = [hash('sha256', inputJson), inputText === null ? null : hash('sha256', inputText)];
  const facts = [principal, requestId, tool, projectRoot, sessionHint, branchHint, form, cwd, ...inputs];
  const others = [request.surface ?? null, request.clientShell ?? null, request.wholeText ?? null];
  return hash('sha256', JSON.stringify([...facts, ...others]));
}
