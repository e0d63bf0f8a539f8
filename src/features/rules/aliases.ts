/** What the text gives other names: aliases of the shell, and paths that `hash -p` remembers. */
export class Aliases {
  readonly #values = new Map<string, string>();

  set(name: string, value: string): void {
    this.#values.set(name, value);
  }

  /** Calls `use` with the text that the words become; not at all if the first is no alias. An alias is not expanded in itself. */
  expand(words: readonly string[], use: (text: string) => void): void {
    const taken: [string, string][] = [];
    const expanded: string[] = [];
    let at = 0;
    // After a value that ends in a blank, the next word is looked up too.
    for (let isNext = true; isNext && at < words.length; at += 1) {
      const name = words[at] ?? '';
      const value = this.#values.get(name);
      if (value === undefined) break;
      taken.push([name, value]);
      expanded.push(value);
      isNext = /\s$/.test(value);
    }
    if (taken.length === 0) return;
    for (const [name] of taken) this.#values.delete(name);
    use([...expanded, ...words.slice(at)].join(' '));
    for (const [name, value] of taken) this.#values.set(name, value);
  }
}
