import { within } from '../core/deadline.ts';
import { LOOKUPS_AT_ONCE, LOOKUPS_WAITING } from './limits.ts';

/** One name that is looked up, or waits for its turn. */
interface LookUp {
  readonly found: Promise<readonly string[]>;
  begin(): void;
  /** Connections that wait for it. */
  waiters: number;
}

/**
 * The name look-ups of one scope: few at once, as the system's resolver has few threads and all scopes share them. The
 * others wait, up to a limit, and as long as a connection waits for them. Connections to one name share its look-up.
 */
export class LookUps {
  readonly #resolve: (name: string) => Promise<readonly string[]>;
  readonly #underWay = new Map<string, LookUp>();
  /** In the order of their turns. */
  readonly #waiting = new Map<string, LookUp>();
  #running = 0;

  constructor(resolve: (name: string) => Promise<readonly string[]>) {
    this.#resolve = resolve;
  }

  /** Rejects if the name cannot be looked up, or not within `maxMs`, or if too many wait. */
  async find(name: string, maxMs: number): Promise<readonly string[]> {
    const lookUp = this.#underWay.get(name) ?? this.#waiting.get(name) ?? this.#add(name);
    lookUp.waiters += 1;
    try {
      return await within(maxMs, lookUp.found, () => {
        throw new Error('looking its name up took too long');
      });
    } finally {
      lookUp.waiters -= 1;
      if (lookUp.waiters === 0 && this.#waiting.get(name) === lookUp) this.#waiting.delete(name);
    }
  }

  #add(name: string): LookUp {
    if (this.#waiting.size >= LOOKUPS_WAITING) throw new Error('too many other names wait to be looked up');
    const { promise: found, resolve } = Promise.withResolvers<readonly string[]>();
    // Nobody may be waiting any more when it fails.
    found.catch(() => {});
    const lookUp = { found, waiters: 0, begin: () => resolve(this.#lookUp(name)) };
    if (this.#running < LOOKUPS_AT_ONCE) this.#begin(name, lookUp);
    else this.#waiting.set(name, lookUp);
    return lookUp;
  }

  #begin(name: string, lookUp: LookUp): void {
    this.#running += 1;
    this.#underWay.set(name, lookUp);
    lookUp.begin();
  }

  async #lookUp(name: string): Promise<readonly string[]> {
    try {
      return await this.#resolve(name);
    } finally {
      this.#underWay.delete(name);
      this.#running -= 1;
      const [next] = this.#waiting;
      if (next !== undefined) {
        this.#waiting.delete(next[0]);
        this.#begin(...next);
      }
    }
  }
}
