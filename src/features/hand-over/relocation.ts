import { Pausable } from '../shared/pausable.ts';

/** A daemon, seen from the one whose calls still run. */
export interface NextDaemon {
  ask<T>(name: string, ...args: readonly unknown[]): Promise<T>;
}

type Work = (...args: never[]) => Promise<unknown>;

/**
 * Work of parts that own state. Until the next daemon owns it, it is done here; from then on it is asked of that daemon, which knows
 * the same names. So the calls that are left here never write anything.
 */
export class Relocation {
  readonly #works: Map<string, Work>;
  readonly #pausable = new Pausable();
  #next: NextDaemon | null = null;

  /** `sibling`: moves at another time. The daemon before asks for the works of both by their names. */
  constructor(sibling?: Relocation) {
    this.#works = sibling === undefined ? new Map() : sibling.#works;
  }

  /** Null while this daemon owns the state. */
  get next(): NextDaemon | null {
    return this.#next;
  }

  /** The work under a name that no other has. `received`: what is called at once when the daemon before asks; default: the work. */
  work<Args extends unknown[], Answer>(
    name: string,
    work: (...args: Args) => Promise<Answer>,
    received?: (...args: Args) => Promise<Answer>,
  ): (...args: Args) => Promise<Answer> {
    if (this.#works.has(name)) throw new Error(`two works are named ${name}`);
    const relocated = (...args: Args): Promise<Answer> =>
      this.#pausable.run(() => (this.#next === null ? work(...args) : this.#next.ask<Answer>(name, ...args)));
    // The daemon before asks with the arguments of its own work of this name.
    this.#works.set(name, (received ?? relocated) as unknown as Work);
    return relocated;
  }

  /** The object with some of its methods relocated. */
  object<T extends object>(name: string, object: T, methods: readonly (keyof T & string)[]): T {
    const relocated = new Map<string | symbol, unknown>(
      methods.map((method) => {
        const own = object[method];
        if (typeof own !== 'function') throw new Error(`${method} is no method`);
        return [method, this.work(`${name}.${method}`, (...args: unknown[]) => own.apply(object, args))];
      }),
    );
    return new Proxy(object, {
      get(target, key) {
        const moved = relocated.get(key);
        if (moved !== undefined) return moved;
        const own = Reflect.get(target, key, target);
        return typeof own === 'function' ? own.bind(target) : own;
      },
    });
  }

  /** Does for the daemon before what its calls need. */
  serve(name: string, args: readonly unknown[]): Promise<unknown> {
    const work = this.#works.get(name);
    if (work === undefined) return Promise.reject(new Error(`no work is named ${name}`));
    return work(...(args as never[]));
  }

  /** Lets further work wait, and returns when none is under way. If that takes too long, it goes on here and throws CONFLICT. */
  pause(): Promise<void> {
    return this.#pausable.pause();
  }

  /** Goes on here. */
  resume(): void {
    this.#pausable.resume();
  }

  /** Goes on in the next daemon. */
  leave(next: NextDaemon): void {
    this.#next = next;
    this.resume();
  }
}
