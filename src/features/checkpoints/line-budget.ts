/** Takes lines as long as they fit, as they are written in JSON. */
export class LineBudget {
  #left: number;
  readonly #countTokens: (text: string) => number;

  constructor(tokens: number, countTokens: (text: string) => number) {
    this.#left = tokens;
    this.#countTokens = countTokens;
  }

  get left(): number {
    return this.#left;
  }

  take(line: string): boolean {
    const tokens = this.#countTokens(`${JSON.stringify(line).slice(1, -1)}\\n`);
    if (tokens > this.#left) return false;
    this.#left -= tokens;
    return true;
  }
}
