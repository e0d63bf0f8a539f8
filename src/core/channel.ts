interface Pending<Result> {
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Numbered requests to another thread or process, over any transport: the owner provides `send`, passes every reply to
 * `resolve` or `reject`, and calls `close` when the other side has ended. To stop waiting for a reply, use
 * `untilAborted` or `within` of `deadline.ts`.
 */
export class Channel<Request, Result> {
  readonly #send: (id: number, request: Request) => void;
  readonly #pending = new Map<number, Pending<Result>>();
  #lastId: number;
  #end: { readonly reason: unknown } | null = null;

  /** The first request has the number `lastId + 1`, by default 1. */
  constructor(send: (id: number, request: Request) => void, lastId = 0) {
    this.#send = send;
    this.#lastId = lastId;
  }

  /** Number of the newest request. */
  get lastId(): number {
    return this.#lastId;
  }

  /** Requests without a reply. */
  get pendingCount(): number {
    return this.#pending.size;
  }

  isPending(id: number): boolean {
    return this.#pending.has(id);
  }

  get isClosed(): boolean {
    return this.#end !== null;
  }

  /** Settles with the reply. Rejects with the error that `send` throws, or with the reason given to `close`. */
  ask(request: Request): Promise<Result> {
    if (this.#end !== null) return Promise.reject(this.#end.reason);
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      // Registered before sending, because the reply may arrive while `send` runs.
      this.#pending.set(id, { resolve, reject });
      try {
        this.#send(id, request);
      } catch (thrown) {
        this.reject(id, thrown);
      }
    });
  }

  /** Waits for the reply to a request that was sent before this channel was made. */
  expect(id: number): Promise<Result> {
    if (this.#end !== null) return Promise.reject(this.#end.reason);
    return new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
  }

  /** Ignores a number that is not pending. */
  resolve(id: number, result: Result): void {
    this.#take(id)?.resolve(result);
  }

  /** Ignores a number that is not pending. */
  reject(id: number, error: unknown): void {
    this.#take(id)?.reject(error);
  }

  /** Rejects all pending and later requests with `reason`: the other side has ended. Only the first call counts. */
  close(reason: unknown): void {
    this.#end ??= { reason };
    for (const id of [...this.#pending.keys()]) this.reject(id, this.#end.reason);
  }

  /** Stops waiting for the reply to this request, which another process waits for now. Its promise never settles. */
  forget(id: number): void {
    this.#pending.delete(id);
  }

  #take(id: number): Pending<Result> | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }
}
