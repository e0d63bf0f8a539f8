import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { toRaw } from '../../fs/raw-path.ts';
import type { WorkspaceIndex } from '../index/workspace-index.ts';
import type { Search } from '../search/search.ts';
import type { Targets } from './targets.ts';

type AfterWalk = (failure: ContextdError | null) => void;

interface WalkParts {
  /** Absolute real path. */
  readonly workspace: string;
  readonly index: WorkspaceIndex;
  readonly targets: Targets;
  readonly search: Search;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** The first walk of a workspace, and those of roots found later. Sandboxes wait for their end. */
export class Walks {
  readonly #parts: WalkParts;
  /** Called when the current walk has ended or failed. */
  readonly #afterWalk: AfterWalk[] = [];
  #isWalked = false;

  constructor(parts: WalkParts) {
    this.#parts = parts;
  }

  /** True once the first walk has found the workspace. */
  get isWalked(): boolean {
    return this.#isWalked;
  }

  get isWalking(): boolean {
    return this.#afterWalk.length > 0;
  }

  /** Walks the workspace, unless a walk is under way, whose end `afterWalk` then waits for. */
  first(afterWalk: AfterWalk): void {
    const { workspace, clock, logger, index, targets, search } = this.#parts;
    const { isWalking } = this;
    const startedAtMs = clock.monotonic();
    if (!isWalking) targets.refresh();
    this.#afterWalk.push(afterWalk);
    if (isWalking) return;
    search.walk(toRaw(workspace), () => {
      const directories = index.directories.size;
      this.#isWalked = directories > 0;
      if (!this.#isWalked) {
        this.end(new ContextdError('PATH_NOT_FOUND', `the workspace ${workspace} does not exist`));
        return;
      }
      logger.info('workspace.indexed', { workspace, directories, milliseconds: clock.monotonic() - startedAtMs });
      if (!index.isComplete) logger.warn('workspace.too_large', { workspace, directories });
      this.end(null);
    });
  }

  /** Walks a root that was found after the first walk. */
  root(root: string, afterWalk: AfterWalk): void {
    this.#afterWalk.push(afterWalk);
    this.#parts.search.walk(toRaw(root), () => this.end(null));
  }

  end(failure: ContextdError | null): void {
    for (const afterWalk of this.#afterWalk.splice(0)) afterWalk(failure);
  }
}
