import { setTimeout as delay } from 'node:timers/promises';
import { within } from '../../core/deadline.ts';
import { ContextdError } from '../../core/errors.ts';

/** Milliseconds within which the work that is under way must end, so that the state can move. */
const PAUSE_MAX_MS = 10_000;
/** Milliseconds between looks at whether work is under way. */
const LOOK_MS = 1;

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
  #underWay = 0;
  #pause: PromiseWithResolvers<void> | null = null;
  #next: NextDaemon | null = null;

  /** `sibling`: moves at another time. The daemon before asks for the works of both by their names. */
  constructor(sibling?: Relocation) {
    this.#works = sibling === undefined ? new Map() : sibling.#works;
  }

  /** Null while this daemon owns the state. */
  get next(): NextDaemon | null {
    return this.#next;
  }

  /** The work under a name that no other has. */
  work<Args extends unknown[], Answer>(
    name: string,
    work: (...args: Args) => Promise<Answer>,
  ): (...args: Args) => Promise<Answer> {
    if (this.#works.has(name)) throw new Error(`two works are named ${name}`);
    const relocated = async (...args: Args): Promise<Answer> => {
      while (this.#pause !== null) await this.#pause.promise;
      if (this.#next !== null) return this.#next.ask<Answer>(name, ...args);
      this.#underWay += 1;
      try {
        return await work(...args);
      } finally {
        this.#underWay -= 1;
      }
    };
    // The daemon before asks with the arguments of its own work of this name.
    this.#works.set(name, relocated as unknown as Work);
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

  /** Lets further work wait, and returns when none is under way. After `maxMs` milliseconds it goes on here and throws CONFLICT. */
  async pause(maxMs: number = PAUSE_MAX_MS): Promise<void> {
    const pause = Promise.withResolvers<void>();
    this.#pause = pause;
    const paused = async (): Promise<void> => {
      while (this.#underWay > 0 && this.#pause === pause) await delay(LOOK_MS);
    };
    await within(maxMs, paused(), () => {
      this.resume();
      throw takesTooLong(maxMs);
    });
  }

  /** Goes on here. */
  resume(): void {
    const pause = this.#pause;
    this.#pause = null;
    pause?.resolve();
  }

  /** Goes on in the next daemon. */
  leave(next: NextDaemon): void {
    this.#next = next;
    this.resume();
  }
}

function takesTooLong(maxMs: number): ContextdError {
  return new ContextdError('CONFLICT', `the state cannot move: work on it takes longer than ${maxMs} ms`, {
    remedy: 'Nothing was interrupted. Restart again, or see `ctxd ps` for what runs.',
  });
}
