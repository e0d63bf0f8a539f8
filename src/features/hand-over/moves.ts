import { Pausable } from '../shared/pausable.ts';
import { Acts } from './acts.ts';
import type { Pair } from './pair.ts';
import { Relocation } from './relocation.ts';

/** How the state of this daemon moves to the next one. */
export class Moves {
  /** What calls need of parts that own state. */
  readonly works = new Relocation();
  readonly acts = new Acts();
  readonly chores = new Pausable();
  /** The database moves after everything that writes to it has stopped. */
  readonly database = new Relocation(this.works);
  /** Aborts when the state is about to move. */
  readonly leaving = new AbortController();
  /** The next daemon, once it owns the state. */
  next: Pick<Pair, 'ask' | 'tell'> | null = null;

  /** Tells the next daemon that a caller of a service no longer waits. */
  cancelService(key: string): void {
    this.next?.tell('cancelService', key);
  }
}
