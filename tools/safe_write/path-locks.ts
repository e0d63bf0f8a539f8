/** One writer at a time for each path, in the order they came: between reading an etag and renaming nobody else writes. */
export class PathLocks {
  readonly #last = new Map<string, Promise<unknown>>();

  async hold<T>(path: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(path) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.#last.set(path, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(path) === mine) this.#last.delete(path);
    }
  }
}
