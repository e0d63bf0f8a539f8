import { setTimeout as delay } from 'node:timers/promises';
import { within } from '../../core/deadline.ts';
import { ContextdError } from '../../core/errors.ts';

/** Milliseconds within which the work that is under way must end, so that the state can move. */
const PAUSE_MAX_MS = 10_000;
/** Milliseconds between looks at whether work is under way. */
const LOOK_MS = 1;

/** Work that must not be under way while the state moves. */
export class Pausable {
  #underWay = 0;
  #pause: PromiseWithResolvers<void> | null = null;

  get isPaused(): boolean {
    return this.#pause !== null;
  }

  /** Does the work, once it is not paused. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    while (this.#pause !== null) await this.#pause.promise;
    this.#underWay += 1;
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
    }
  }

  /** Lets further work wait, and returns when none is under way. After `maxMs` milliseconds it goes on and throws CONFLICT. */
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

  /** The work that waits goes on. */
  resume(): void {
    const pause = this.#pause;
    this.#pause = null;
    pause?.resolve();
  }
}

function takesTooLong(maxMs: number): ContextdError {
  return new ContextdError('CONFLICT', `the state cannot move: work on it takes longer than ${maxMs} ms`, {
    remedy: 'Nothing was interrupted. Restart again, or see `ctxd ps` for what runs.',
  });
}
