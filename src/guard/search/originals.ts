import { identityOf } from '../../fs/file-access.ts';
import { isWithin, parentOf, type RawPath } from '../../fs/raw-path.ts';
import { newestOf } from '../../fs/read-directory.ts';
import type { Access } from '../index/access.ts';
import type { Runs } from '../index/runs.ts';
import type { WorkspaceIndex } from '../index/workspace-index.ts';
import { isPartOf } from '../quarantine/content-hash.ts';
import { leadsToProtected } from '../table/protected-names.ts';

export interface OriginalsParts {
  readonly index: WorkspaceIndex;
  readonly runs: Runs;
  /** Called often during long work, so that others need not wait. */
  readonly pause: () => void;
}

/** What a worktree or a clone in the workspace has copies of: the same places of the project. */
export class Originals {
  readonly #parts: OriginalsParts;
  readonly #access: Access;

  constructor(parts: OriginalsParts, access: Access) {
    this.#parts = parts;
    this.#access = access;
  }

  /**
   * Whether it is a copy of what the project has at the same place, and no run could change the original: a worktree or a
   * clone has copies of the tracked `.vscode` and `.claude`. The original may hold more, for example files that git ignores.
   */
  hasCopyAt(path: RawPath): boolean {
    return this.#originalsOf(path).some((original) => this.#isCopyOf(path, original));
  }

  /** What the project has, or may have, at the place that `path` has in its worktree or clone. */
  #originalsOf(path: RawPath): RawPath[] {
    const { index } = this.#parts;
    const place = path.slice(this.#topOf(path).length);
    return [index.roots[0] ?? '', ...index.companions]
      .map((root) => `${root}${place}`)
      .filter((original) => original !== path);
  }

  #isCopyOf(path: RawPath, original: RawPath): boolean {
    const [stats, exact] = [this.#access.stat(original), this.#access.exactStat(original)];
    if (exact === null || stats === null || stats === 'closed') return false;
    // A run of before, whose changes are still searched for, may have begun when nothing was there to mount.
    const { runs, pause } = this.#parts;
    const mayBeRuns = (ctimeMs: number) => runs.mayHaveStampedAt(original, identityOf(exact), ctimeMs);
    if (newestOf(original, stats, mayBeRuns, pause).isSuspect) return false;
    return isPartOf(path, original, (inside, text) =>
      leadsToProtected(inside === '' ? path : `${path}/${inside}`, text, this.#topOf(path)),
    );
  }

  /** Whether the project has anything at that place. */
  isExpectedAt(path: RawPath): boolean {
    return this.#originalsOf(path).some((original) => this.#access.exactStat(original) !== null);
  }

  /** The top of the worktree or clone that holds `path`; otherwise the directory of `path`. */
  #topOf(path: RawPath): RawPath {
    const { roots } = this.#parts.index;
    for (let dir = parentOf(path); roots.some((root) => isWithin(root, dir)); dir = parentOf(dir)) {
      const git = this.#access.stat(`${dir}/.git`);
      if (git !== null && git !== 'closed') return dir;
    }
    return parentOf(path);
  }
}
