import { join } from 'node:path';
import { ContextdError } from '../../core/errors.ts';
import { isBelow, isWithin } from '../../core/paths.ts';
import { directoryIdentity } from '../../fs/directory-identity.ts';
import { toRaw } from '../../fs/raw-path.ts';
import type { Mount } from '../contract/mount.ts';
import { type Cover, type HiddenEntry, hide, narrowCover, type Protection } from '../contract/protection.ts';
import type { QuarantineAction, QuarantineReport, QuarantineResult } from '../contract/quarantine.ts';
import type { OnFound, RunWatch, WorkspaceGuard } from './workspace-guard.ts';

/** Mounts for all writable trees of a sandbox. `parts` are in the order of the guards. */
export interface TreeProtection {
  readonly parts: readonly Protection[];
  /** Git directories outside the trees that commands write: a worktree's, and the enclosing repository's. */
  readonly commonGitDirs: readonly string[];
  /** Top of the repository around the workspace, mounted read-only; null if it is not mounted. */
  readonly repository: string | null;
  readonly mounts: readonly Mount[];
  /** Configurations of repositories, the project's own first. */
  readonly gitConfigs: Protection['gitConfigs'];
  /** Paths hidden by deny globs. */
  readonly hidden: readonly string[];
  readonly fingerprint: string;
  /** Paths covered by the mounts of all trees. */
  readonly cover: Cover;
}

/** A run in all trees, between `begin` and `finish`. */
export interface TreeWatch {
  readonly watches: readonly RunWatch[];
}

/** A writable tree: the workspace, a checkout below `.claude` in it, or a directory that a person allowed. */
export interface GuardedTree {
  readonly path: string;
  readonly guard: WorkspaceGuard;
  /** Identity of the directory that the guard belongs to. */
  readonly directory: string;
}

export interface GuardSetOptions {
  /** The repository around the workspace. Default: none. */
  readonly repository?: EnclosingRepository | null;
  /** True if a layer lies over the workspace, so that runs do not change the workspace itself. Default: false. */
  readonly isLayered?: boolean;
  /**
   * Trees of `trees` that are below a protected path of the workspace: those mounted, and a function that lists the
   * current ones. Default: none.
   */
  readonly checkouts?: { readonly mounted: readonly string[]; now(): readonly string[] };
}

/** A repository of which the workspace is only a part. Commands read it, and write only its git directory. */
export interface EnclosingRepository {
  readonly top: string;
  readonly gitDir: string;
  /** Current matches of the deny globs in it, outside the workspace. */
  hidden(): readonly HiddenEntry[];
}

/** Guards of all trees that commands of one policy may write. The first tree is the workspace. */
export class GuardSet {
  readonly trees: readonly GuardedTree[];
  readonly #repository: EnclosingRepository | null;
  readonly #isLayered: boolean;
  readonly #checkouts: NonNullable<GuardSetOptions['checkouts']>;

  constructor(trees: readonly GuardedTree[], options: GuardSetOptions = {}) {
    this.trees = trees;
    this.#repository = options.repository ?? null;
    this.#isLayered = options.isLayered ?? false;
    this.#checkouts = options.checkouts ?? { mounted: [], now: () => [] };
  }

  /** Trees that a run can change on the host. */
  get hostTrees(): readonly GuardedTree[] {
    return this.#isLayered ? this.trees.slice(1) : this.trees;
  }

  /** Throws the errors of `WorkspaceGuard.protection`. */
  async protection(): Promise<TreeProtection> {
    const parts = await Promise.all(this.trees.map(({ guard }) => guard.protection()));
    const [first] = parts;
    // The guard is shared with policies that do not mount the repository.
    const repository = first?.enclosingGitDir === this.#repository?.gitDir ? this.#repository : null;
    const gitDirs = parts.map(({ commonGitDir, enclosingGitDir }, i) =>
      [commonGitDir, i === 0 && repository !== null ? enclosingGitDir : null].flatMap((dir) => dir ?? []),
    );
    const owners = gitDirs.map((dirs, i) => [this.trees[i]?.path ?? '', ...dirs]);
    const isMounted = (path: string) => owners.flat().some((root) => isWithin(root, path));
    const hidden = repository?.hidden() ?? [];
    // A path in an earlier tree keeps only that tree's mounts: a second set could cover the first.
    const isEarlier = (path: string, i: number) =>
      !this.#isCheckout(i, path) && owners.slice(0, i).some((roots) => roots.some((root) => isWithin(root, path)));
    // Nothing can be mounted below a path that a deny glob hides.
    const isUsable = (i: number) =>
      !this.#isCheckout(i) || first?.hidden.every(({ path }) => !isWithin(path, this.trees[i]?.path ?? '')) === true;
    const open = this.trees.map(({ path }) => path).filter((_, i) => this.#isCheckout(i) && isUsable(i));
    return {
      parts,
      commonGitDirs: [...new Set(gitDirs.flat())],
      repository: repository?.top ?? null,
      mounts: [
        ...parts.flatMap(({ mounts }, i) => [
          // Must come after the read-only mount of the workspace's guard, which is above it.
          ...open.filter((path) => path === this.trees[i]?.path).map(writable),
          ...mounts.filter(({ dest }) => isUsable(i) && isMounted(dest) && !isEarlier(dest, i)),
        ]),
        ...hide(hidden),
      ],
      gitConfigs: parts.flatMap(({ gitConfigs }, i) =>
        gitConfigs.filter((path) => isMounted(path) && !isEarlier(path, i)),
      ),
      hidden: [...parts.flatMap((part) => part.hidden), ...hidden].map(({ path }) => path),
      fingerprint: [
        ...parts.map(({ fingerprint }) => fingerprint),
        JSON.stringify([repository?.top, hidden, open, this.#checkouts.now()]),
      ].join(' '),
      cover: {
        mounted: new Map(parts.flatMap(({ cover }) => [...cover.mounted])),
        identities: new Set(parts.flatMap(({ cover }) => [...cover.identities])),
        links: new Map(parts.flatMap(({ cover }) => [...cover.links])),
        open: new Set(open.map(toRaw)),
      },
    };
  }

  /** Whether a tree is a checkout and, if `path` is given, contains it. */
  #isCheckout(i: number, path?: string): boolean {
    const tree = this.trees[i]?.path ?? '';
    return this.#checkouts.mounted.includes(tree) && (path === undefined || isWithin(tree, path));
  }

  /**
   * Call before a run. `covers`: the covers of running processes that can act for the run. `onFound` is called during
   * the run for each path that the run may have created and that was moved away.
   */
  begin({ parts, cover }: TreeProtection, covers?: ReadonlySet<Cover>, onFound?: OnFound): TreeWatch {
    return {
      watches: this.hostTrees.map((tree) => {
        const { guard, path } = tree;
        const own = parts[this.trees.indexOf(tree)];
        if (own === undefined) throw new Error('a protection of other trees');
        // A worktree in one tree is compared with the project in another.
        const { mounted, open } = cover;
        const part = parts.length === 1 ? own : { ...own, cover: { ...own.cover, mounted, open } };
        const report: OnFound = (found) => onFound?.({ ...found, path: this.#named(path, found.path) });
        return guard.begin(covers === undefined ? part : narrowCover(part, covers), onFound && report);
      }),
    };
  }

  /**
   * Moves away dangerous paths that the run created, and returns them. Skips a tree whose directory was replaced
   * meanwhile: the run was in the old directory and did not create the files in the new one.
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

  /** During runs: moves away dangerous paths created so far. Skips trees whose directory was replaced. */
  async search(): Promise<void> {
    const trees = this.hostTrees.filter(({ path, directory }) => directoryIdentity(path) === directory);
    await Promise.all(trees.map(({ guard }) => guard.search()));
  }

  /** Keeps the guards alive for a sandbox with their mounts. Call the returned function once the sandbox is dead. */
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

  /** Applies the action in the tree that knows the name. Paths outside the workspace are absolute. */
  async quarantine(action: QuarantineAction): Promise<QuarantineResult> {
    const results: QuarantineResult[] = [];
    let failure: unknown = null;
    for (const { path, guard } of this.trees) {
      try {
        const { items, accepted } = await guard.quarantine(this.#inTree(path, action));
        results.push({
          items: items.map((item) => ({
            ...item,
            path: this.#named(path, item.path),
            moved: this.#named(path, item.moved),
          })),
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

  /** Translates a name that `#named` made absolute back to the form that the tree's guard knows. */
  #inTree(tree: string, action: QuarantineAction): QuarantineAction {
    if (tree === this.trees[0]?.path || action.which === null || !isBelow(tree, action.which)) return action;
    return { ...action, which: action.which.slice(tree.length + 1) };
  }

  #named(tree: string, path: string): string {
    return tree === this.trees[0]?.path ? path : join(path.startsWith('/') ? '/' : tree, path);
  }
}

function writable(path: string): Mount {
  return { kind: 'bind', source: path, dest: path, pin: true };
}
