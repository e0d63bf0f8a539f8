import { createHash, createHmac } from 'node:crypto';

/** A challenge: random bytes as hexadecimal digits. */
export const NONCE_PATTERN = /^[0-9a-f]{32,128}$/;
/** The id of a token, or '' for the daemon's own challenge over its socket. */
export const TOKEN_ID_PATTERN = /^(?:[0-9a-f]{16})?$/;
/** Every token begins with it, so that a search for secrets finds one. */
export const TOKEN_PREFIX = 'ctxd_';

/** What names a token without giving it away: the first digits of its hash. */
export function tokenId(token: string): string {
  return createHash('sha256').update(token).digest('hex').slice(0, 16);
}

/**
 * The answer of the daemon to a challenge. It covers the address, so that a listener elsewhere cannot pass on the answer of
 * the true one.
 */
export function proofOf(key: Buffer, host: string, nonce: string): string {
  return createHmac('sha256', key).update(`contextd http proof\n${host}\n${nonce}`).digest('hex');
}
