import { parentsBetween, type RawPath } from '../../fs/raw-path.ts';

/** bubblewrap arguments per mount; hiding a directory takes two mounts. */
export const MOUNT_ARGUMENTS = { mounted: 3, file: 3, dir: 6 } as const;

/** A path to mount and the arguments that takes. */
interface MountCost {
  readonly path: RawPath;
  readonly own: number;
  /** Whether its parent directories are mounted too. */
  readonly holdsParents: boolean;
}

/**
 * Remaining arguments for mounts. A call can create any number of repositories and of matches of a deny glob, so their
 * number must not keep a sandbox from starting.
 */
export class MountBudget {
  #left: number;
  readonly #rootOf: (path: RawPath) => RawPath;
  readonly #parents = new Set<RawPath>();

  constructor(left: number, rootOf: (path: RawPath) => RawPath) {
    this.#left = left;
    this.#rootOf = rootOf;
  }

  /** Takes all of it if it fits, otherwise nothing. Returns whether it fit. */
  takes(costs: readonly MountCost[]): boolean {
    const parents = new Set<RawPath>();
    let total = 0;
    for (const { path, own, holdsParents } of costs) {
      total += own;
      if (total > this.#left) return false;
      for (const parent of holdsParents ? parentsBetween(this.#rootOf(path), path) : []) {
        if (!this.#parents.has(parent)) parents.add(parent);
      }
    }
    total += parents.size * MOUNT_ARGUMENTS.mounted;
    if (total > this.#left) return false;
    this.#left -= total;
    for (const parent of parents) this.#parents.add(parent);
    return true;
  }
}
