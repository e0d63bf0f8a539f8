import type { ContextdError } from '../core/errors.ts';

/** Where the HTTP door stands. */
export interface HttpStanding {
  readonly enabled: boolean;
  /** Null: nothing listens. `host` is `host:port`. */
  readonly at: { readonly url: string; readonly host: string } | null;
  /** Why nothing listens although it should. */
  readonly why: ContextdError | null;
  /** SHA-256 of the certificate, hexadecimal; '' without TLS. */
  readonly certificateSha256: string;
}
