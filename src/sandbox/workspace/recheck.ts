import type { Logger } from '../../core/log.ts';
import { toText } from './raw-path.ts';
import type { Scan } from './scan.ts';
import type { WorkspaceIndex } from './workspace-index.ts';

/**
 * Looks at every protected path that is known: a file that is changed in place does not change its directory, so only
 * this finds what a run did to one that no mount covered. One that leads git elsewhere is looked at in any case: a link on
 * its way may have changed.
 */
export class Recheck {
  readonly #index: WorkspaceIndex;
  readonly #scan: Scan;
  readonly #logger: Logger;
  #current: Generator<void, void> | null = null;
  /** Of the round that goes on, and of the next one. */
  #onDone: (() => void)[] = [];
  #waiting: (() => void)[] = [];

  constructor(index: WorkspaceIndex, scan: Scan, logger: Logger) {
    this.#logger = logger;
    this.#index = index;
    this.#scan = scan;
  }

  get isIdle(): boolean {
    return this.#current === null && this.#waiting.length === 0;
  }

  /** `onDone` is called after a round that began now or later. */
  start(onDone: () => void): void {
    this.#waiting.push(onDone);
  }

  step(): void {
    if (this.isIdle) return;
    this.#current ??= this.#begin();
    if (this.#current.next().done !== true) return;
    this.#current = null;
    for (const onDone of this.#onDone.splice(0)) onDone();
  }

  #begin(): Generator<void, void> {
    this.#onDone = this.#waiting.splice(0);
    return this.#round();
  }

  *#round(): Generator<void, void> {
    for (const [path, { kind }] of this.#index.dangers) {
      try {
        if (this.#scan.judge.isOpen(path) || kind === 'pointer' || kind === 'commondir' || kind === 'config')
          yield* this.#scan.judge.decide(path, kind, false);
      } catch (cause) {
        this.#logger.error('workspace.scan.failed', { path: toText(path) }, cause);
      }
      yield;
    }
  }
}
