/** What the two sides of mutual TLS show each other, PEM. */
export interface Identity {
  /** The authority whose signature the daemon's certificate must have. */
  ca: Buffer;
  cert: Buffer;
  key: Buffer;
}

/** The daemon's certificate has this name (src/server/identities.ts), wherever its socket lies. */
export const SERVER_NAME = 'contextd';

/** The one application protocol spoken. */
export const APPLICATION_PROTOCOL = 'h2';

/** A connection to whoever holds the private key of the daemon's certificate: TLS 1.3, both sides verified. */
export interface Channel {
  /** What the peer agreed to speak; empty when nothing. */
  readonly protocol: string;
  write(bytes: Buffer): void;
  /** Writes what is pending and closes. */
  end(): void;
  /** Chunks that came earlier are delivered at once; `closed` comes once, after the last chunk. */
  listen(listener: ChannelListener): void;
}

export interface ChannelListener {
  data(chunk: Buffer): void;
  /** `error` when the connection broke or the peer's TLS refused to go on. */
  closed(error: Error | undefined): void;
}

/**
 * Opens a channel over a unix socket. Rejects with the error of the system or of TLS, in which case nothing was sent;
 * with `signal.reason` when that is aborted first. Throws for an identity that is no identity.
 */
export type OpenChannel = (path: string, identity: Identity, signal: AbortSignal) => Promise<Channel>;

/** Keeps what comes until somebody listens. */
export class Inbox {
  #listener: ChannelListener | undefined;
  #chunks: Buffer[] = [];
  #closed: { error: Error | undefined } | undefined;

  data(chunk: Buffer): void {
    if (this.#listener === undefined) this.#chunks.push(chunk);
    else this.#listener.data(chunk);
  }

  closed(error: Error | undefined): void {
    if (this.#closed !== undefined) return;
    this.#closed = { error };
    this.#listener?.closed(error);
  }

  listen(listener: ChannelListener): void {
    this.#listener = listener;
    for (const chunk of this.#chunks.splice(0)) listener.data(chunk);
    if (this.#closed !== undefined) listener.closed(this.#closed.error);
  }
}
