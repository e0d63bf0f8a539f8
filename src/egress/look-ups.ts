import { LOOKUPS_AT_ONCE } from './limits.ts';

/**
 * The name look-ups of one scope: few at once, as the system's resolver has few threads and all scopes share them. The
 * others wait. Connections to one name that begin meanwhile share its look-up.
 */
export class LookUps {
  readonly #resolve: (name: string) => Promise<readonly string[]>;
  readonly #underWay = new Map<string, Promise<readonly string[]>>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(resolve: (name: string) => Promise<readonly string[]>) {
    this.#resolve = resolve;
  }

  /** Rejects if the name cannot be looked up, or not within `maxMs`. */
  async find(name: string, maxMs: number): Promise<readonly string[]> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error('looking its name up took too long')), maxMs);
    try {
      return await Promise.race([this.#shared(name), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  #shared(name: string): Promise<readonly string[]> {
    const known = this.#underWay.get(name);
    if (known !== undefined) return known;
    const looking = this.#inTurn(name).finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, looking);
    // Nobody may be waiting any more when it fails.
    looking.catch(() => {});
    return looking;
  }

  async #inTurn(name: string): Promise<readonly string[]> {
    if (this.#running >= LOOKUPS_AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      return await this.#resolve(name);
    } finally {
      // The place goes to the one that waits longest.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
