import { join } from 'node:path';
import { ContextdError } from '../../core/errors.ts';
import { directoryIdentity } from '../directory-identity.ts';
import type { Mount } from '../policy.ts';
import type { QuarantineAction, QuarantineReport, QuarantineResult } from '../quarantine.ts';
import type { OnFound, RunWatch, WorkspaceGuard } from './guard.ts';
import { hide } from './plan-mounts.ts';
import { type Cover, type HiddenEntry, narrowCover, type Protection } from './protection.ts';

/** What a sandbox must mount for all its writable trees. `parts` are in the order of the guards. */
export interface TreeProtection {
  readonly parts: readonly Protection[];
  /** Git directories outside the trees that commands write: a worktree's repository, the repository around the workspace. */
  readonly commonGitDirs: readonly string[];
  /** The top of the repository around the workspace, which is read-only; null if it is not mounted. */
  readonly repository: string | null;
  readonly mounts: readonly Mount[];
  /** The configurations of repositories, the project's own first. */
  readonly gitConfigs: Protection['gitConfigs'];
  /** Paths that deny globs hide. */
  readonly hidden: readonly string[];
  readonly fingerprint: string;
  /** What the mounts of all trees cover. */
  readonly cover: Cover;
}

/** A run in all trees between `begin` and `finish`. */
export interface TreeWatch {
  readonly watches: readonly RunWatch[];
}

/** A writable tree: the workspace, or a directory that a person allowed. */
export interface GuardedTree {
  readonly path: string;
  readonly guard: WorkspaceGuard;
  /** Which directory the guard knows. */
  readonly directory: string;
}

/** The repository of which the workspace is only a part. Commands read it, and write its git directory. */
export interface EnclosingRepository {
  readonly top: string;
  readonly gitDir: string;
  /** What the deny globs match in it now, outside the workspace. */
  hidden(): readonly HiddenEntry[];
}

/** The guards of all trees that one policy lets commands write. The first is the workspace's. */
export class GuardSet {
  readonly trees: readonly GuardedTree[];
  readonly #repository: EnclosingRepository | null;
  readonly #isLayered: boolean;

  /** `isLayered`: a layer lies over the workspace, so that no run changes the workspace itself. */
  constructor(trees: readonly GuardedTree[], repository: EnclosingRepository | null = null, isLayered = false) {
    this.trees = trees;
    this.#repository = repository;
    this.#isLayered = isLayered;
  }

  /** The trees that a run can change on the host. */
  get hostTrees(): readonly GuardedTree[] {
    return this.#isLayered ? this.trees.slice(1) : this.trees;
  }

  /** Throws what `WorkspaceGuard.protection` throws. */
  async protection(): Promise<TreeProtection> {
    const parts = await Promise.all(this.trees.map(({ guard }) => guard.protection()));
    const [first] = parts;
    // A guard is shared with other policies, for which the repository is not mounted.
    const repository = first?.enclosingGitDir === this.#repository?.gitDir ? this.#repository : null;
    const gitDirs = parts.map(({ commonGitDir, enclosingGitDir }, i) =>
      [commonGitDir, i === 0 && repository !== null ? enclosingGitDir : null].flatMap((dir) => dir ?? []),
    );
    const owners = gitDirs.map((dirs, i) => [this.trees[i]?.path ?? '', ...dirs]);
    const isMounted = (path: string) => owners.flat().some((root) => holds(root, path));
    const hidden = repository?.hidden() ?? [];
    // What lies in an earlier tree has the mounts of that tree: a second set could cover the first.
    const isEarlier = (path: string, i: number) =>
      owners.slice(0, i).some((roots) => roots.some((root) => holds(root, path)));
    return {
      parts,
      commonGitDirs: [...new Set(gitDirs.flat())],
      repository: repository?.top ?? null,
      mounts: [
        ...parts.flatMap(({ mounts }, i) => mounts.filter(({ dest }) => isMounted(dest) && !isEarlier(dest, i))),
        ...hide(hidden),
      ],
      gitConfigs: parts.flatMap(({ gitConfigs }, i) =>
        gitConfigs.filter((path) => isMounted(path) && !isEarlier(path, i)),
      ),
      hidden: [...parts.flatMap((part) => part.hidden), ...hidden].map(({ path }) => path),
      fingerprint: [...parts.map(({ fingerprint }) => fingerprint), JSON.stringify([repository?.top, hidden])].join(
        ' ',
      ),
      cover: {
        mounted: new Map(parts.flatMap(({ cover }) => [...cover.mounted])),
        identities: new Set(parts.flatMap(({ cover }) => [...cover.identities])),
        links: new Map(parts.flatMap(({ cover }) => [...cover.links])),
      },
    };
  }

  /**
   * Before a run. `covers` are those of processes that run already and can act for the run. `onFound` gets what the run made
   * and was moved aside, while it goes on.
   */
  begin({ parts, cover }: TreeProtection, covers?: ReadonlySet<Cover>, onFound?: OnFound): TreeWatch {
    return {
      watches: this.hostTrees.map((tree) => {
        const { guard, path } = tree;
        const own = parts[this.trees.indexOf(tree)];
        if (own === undefined) throw new Error('a protection of other trees');
        // A worktree in one tree is compared with the project in another.
        const part = parts.length === 1 ? own : { ...own, cover: { ...own.cover, mounted: cover.mounted } };
        const report: OnFound = (found, again) => onFound?.({ ...found, path: this.#named(path, found.path) }, again);
        return guard.begin(covers === undefined ? part : narrowCover(part, covers), onFound && report);
      }),
    };
  }

  /**
   * What the run created and what was moved away. Nothing of a tree that another directory replaced meanwhile: the run was
   * in the old one and has nothing to do with the files in the new one.
   */
  async finish({ watches }: TreeWatch): Promise<QuarantineReport> {
    const reports = await Promise.all(
      this.hostTrees.map(async ({ path, guard, directory }, i) => {
        const watch = watches[i];
        if (watch === undefined) throw new Error('a watch of other trees');
        if (directoryIdentity(path) !== directory) {
          guard.forget(watch);
          return { complete: true, quarantined: [] };
        }
        const { quarantined, complete } = await guard.finish(watch);
        return { complete, quarantined: quarantined.map((one) => ({ ...one, path: this.#named(path, one.path) })) };
      }),
    );
    return {
      quarantined: reports.flatMap(({ quarantined }) => quarantined),
      complete: reports.every(({ complete }) => complete),
    };
  }

  /** For a sandbox that has the mounts. Call the returned function when the sandbox is dead, once. */
  hold(): () => void {
    const ends = this.trees.map(({ guard }) => guard.hold());
    return () => {
      for (const end of ends) end();
    };
  }

  building(paths: readonly string[]): () => void {
    const ends = this.hostTrees.map(({ guard }) => guard.building(paths));
    return () => {
      for (const end of ends) end();
    };
  }

  /** In whichever tree knows the name. Paths outside the workspace are absolute. */
  async quarantine(action: QuarantineAction): Promise<QuarantineResult> {
    const results: QuarantineResult[] = [];
    let failure: unknown = null;
    for (const { path, guard } of this.trees) {
      try {
        const { items, accepted } = await guard.quarantine(this.#inTree(path, action));
        results.push({
          items: items.map((item) => ({ ...item, path: this.#named(path, item.path) })),
          accepted: accepted.map((one) => ({ ...one, path: this.#named(path, one.path) })),
        });
        if (action.kind !== 'list') break;
      } catch (thrown) {
        if (!(thrown instanceof ContextdError) || thrown.code !== 'PATH_NOT_FOUND') throw thrown;
        failure ??= thrown;
      }
    }
    if (results.length === 0) throw failure;
    return { items: results.flatMap(({ items }) => items), accepted: results.flatMap(({ accepted }) => accepted) };
  }

  /** A name that `#named` made absolute, as the tree's guard knows it. */
  #inTree(tree: string, action: QuarantineAction): QuarantineAction {
    if (tree === this.trees[0]?.path || action.which === null || !action.which.startsWith(`${tree}/`)) return action;
    return { ...action, which: action.which.slice(tree.length + 1) };
  }

  #named(tree: string, path: string): string {
    return tree === this.trees[0]?.path ? path : join(path.startsWith('/') ? '/' : tree, path);
  }
}

function holds(outer: string, inner: string): boolean {
  return outer === inner || inner.startsWith(`${outer}/`);
}
