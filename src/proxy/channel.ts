/** The proxy's side of mutual TLS, in PEM. */
export interface Identity {
  /** The authority that must have signed the daemon's certificate. */
  ca: Buffer;
  cert: Buffer;
  key: Buffer;
}

/** The name in the daemon's certificate (src/doors/grpc/identities.ts), independent of its socket's path. */
export const SERVER_NAME = 'contextd';

/** The only application protocol offered. */
export const APPLICATION_PROTOCOL = 'h2';

/** A TLS 1.3 connection to the holder of the daemon's private key; both sides are verified. */
export interface Channel {
  /** The application protocol the peer agreed to; empty if none. */
  readonly protocol: string;
  write(bytes: Buffer): void;
  /** Writes what is pending, then closes. */
  end(): void;
  /** Reads nothing more until `resume`. A chunk that was read before may still be delivered. */
  pause(): void;
  resume(): void;
  /** Delivers earlier chunks at once. `closed` is called once, after the last chunk. */
  listen(listener: ChannelListener): void;
}

export interface ChannelListener {
  data(chunk: Buffer): void;
  /** `error`: set if the connection broke or the peer's TLS refused to continue. */
  closed(error: Error | undefined): void;
}

/**
 * Opens a channel over a unix socket. Rejects with the system's or TLS's error, in which case nothing was sent, or with
 * `signal.reason` if the signal is aborted first. Throws if the identity's files are unusable.
 */
export type OpenChannel = (path: string, identity: Identity, signal: AbortSignal) => Promise<Channel>;

/** Buffers what arrives until a listener is set. */
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
