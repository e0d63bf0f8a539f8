import { createHmac, type Hmac } from 'node:crypto';

const ETAG_CHARS = 16;

/** Computes an etag over bytes that come in parts: HMAC-SHA256 under the session's key, the first 16 hex digits. */
export class EtagBuilder {
  readonly #hmac: Hmac;

  /** `etagKey` is hexadecimal. */
  constructor(etagKey: string) {
    this.#hmac = createHmac('sha256', Buffer.from(etagKey, 'hex'));
  }

  add(bytes: Buffer): void {
    this.#hmac.update(bytes);
  }

  finish(): string {
    return this.#hmac.digest('hex').slice(0, ETAG_CHARS);
  }
}
