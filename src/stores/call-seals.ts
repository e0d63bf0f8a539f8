import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
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
  readonly tag: Buffer;
  seal(answer: CallAnswer): Buffer;
  /** Null if the bytes are not an answer of this call. */
  open(sealed: Buffer): CallAnswer | null;
}

/** Makes the seals of calls from the daemon's own key. */
export class CallSeals {
  readonly #keys: DaemonKeys;

  constructor(keys: DaemonKeys) {
    this.#keys = keys;
  }

  of(request: CallRequest): CallSeal {
    const key = this.#keys.derive('call', payloadHash(request));
    return {
      tag: createHash('sha256').update(key).digest(),
      seal(answer) {
        const cipher = createCipheriv(CIPHER, key, NONCE);
        return Buffer.concat([cipher.update(JSON.stringify(answer)), cipher.final(), cipher.getAuthTag()]);
      },
      open(sealed) {
        const end = sealed.length - MAC_BYTES;
        if (end < 0) return null;
        const decipher = createDecipheriv(CIPHER, key, NONCE).setAuthTag(sealed.subarray(end));
        try {
          return JSON.parse(Buffer.concat([decipher.update(sealed.subarray(0, end)), decipher.final()]).toString());
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
  const facts = [principal, requestId, tool, projectRoot, sessionHint, branchHint, form, cwd];
  const others = [request.surface ?? null, request.clientShell ?? null, inputJson.length, inputText?.length ?? null];
  const hash = createHash('sha256').update(JSON.stringify([...facts, ...others]));
  return hash
    .update(inputJson)
    .update(inputText ?? '')
    .digest('hex');
}
