/** FIFO mutex: runs tasks one at a time, in call order. A failing task does not stop the next one. */
export class Lock {
  #last: Promise<unknown> = Promise.resolve();

  /** Settles like the task. */
  run<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(task);
    this.#last = result.then(ignore, ignore);
    return result;
  }

  /** Resolves when all tasks so far have ended. Never rejects. */
  get settled(): Promise<unknown> {
    return this.#last;
  }
}

/** One lock per key. Tasks of different keys do not wait for each other. */
export class KeyedLock {
  readonly #locks = new Map<string, Lock>();

  /** Settles like the task. */
  async run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const lock = this.#locks.get(key) ?? new Lock();
    this.#locks.set(key, lock);
    const result = lock.run(task);
    const { settled } = lock;
    try {
      return await result;
    } finally {
      // No later task is queued.
      if (lock.settled === settled) this.#locks.delete(key);
    }
  }
}

function ignore(): void {}
