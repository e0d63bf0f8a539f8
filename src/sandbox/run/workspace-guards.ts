import type { Paths } from '../../config/paths.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../core/log.ts';
import { directoryIdentity, isRealDirectory } from '../../fs/directory-identity.ts';
import { realPathOf } from '../../fs/file-access.ts';
import { toRaw, toText } from '../../fs/raw-path.ts';
import { type EnclosingRepository, type GuardedTree, GuardSet } from '../../guard/client/guard-set.ts';
import { GuardThread } from '../../guard/client/guard-thread.ts';
import { WorkspaceGuard } from '../../guard/client/workspace-guard.ts';
import { ledgerFile } from '../../guard/contract/quarantine.ts';
import { checkoutsOf } from '../../guard/git/checkouts.ts';
import type { SandboxPolicy } from '../contract/policy.ts';
import { identityFor, ownUid, personOf } from '../machine/identity.ts';
import { checkRoPath, checkWorkspace } from '../machine/mountable.ts';
import { PUBLIC_MOUNT_POINTS } from '../machine/reach.ts';
import { writablePaths } from '../machine/tool-paths.ts';
import { RepositoriesAbove, whyNotMounted } from './repository-above.ts';

interface WorkspaceGuardsDeps {
  paths: Paths;
  config: Pick<Config['sandbox'], 'idle_ms'>;
  logger: Logger;
  clock: Clock;
}

/** The guards of all workspaces. A guard belongs to one directory, not to one that replaces it. */
export class WorkspaceGuards {
  readonly #deps: WorkspaceGuardsDeps;
  /** Keyed by workspace and deny globs. */
  readonly #guards = new Map<string, { guard: WorkspaceGuard; directory: string }>();
  readonly #repositories = new RepositoriesAbove();
  readonly #thread: GuardThread;

  constructor(deps: WorkspaceGuardsDeps) {
    this.#deps = deps;
    this.#thread = new GuardThread(deps.logger, deps.clock);
  }

  /** Returns the guards of the policy's trees. Throws PATH_INVALID and PATH_NOT_FOUND. */
  of(policy: SandboxPolicy): GuardSet {
    const checkouts = checkoutsIn(policy);
    const trees = [policy.workspace.path, ...checkouts, ...usablePaths(policy)].map((path) =>
      this.#guardOf(path, policy.deny),
    );
    const repository = this.#repositoryOf(policy);
    // Only commands have toolchains, tool processes do not.
    if (policy.toolchains !== undefined) {
      const readOnly = [...policy.toolchains.mounts, ...policy.roPaths];
      for (const { guard } of trees) guard.allowLinksTo(policy.workspace.path, readOnly);
    }
    // A tool process writes only the workspace: the other trees stay registered as the commands' policy set them.
    if (policy.allowedPaths !== undefined) {
      for (const { path, guard } of trees) {
        const paths = trees.map((tree) => tree.path).filter((other) => other !== path);
        const others = repository === null || path === policy.workspace.path ? paths : [...paths, repository.gitDir];
        guard.accompany(policy.workspace.path, others);
      }
    } else if (trees.length > 1) introduce(JSON.stringify([policy.workspace.path, 'checkouts']), trees);
    const ofTool = writablePaths(policy).map((path) => this.#guardOf(path, policy.deny));
    if (ofTool.length > 0) {
      trees.push(...ofTool);
      // A key of their own, so that the trees of the commands stay registered.
      introduce(JSON.stringify(trees.map(({ path }) => path)), trees);
    }
    if (repository !== null) trees[0]?.guard.enclose(repository.gitDir);
    return new GuardSet(trees, {
      repository,
      isLayered: policy.workspace.layer !== null,
      checkouts: { mounted: checkouts, now: () => checkoutsIn(policy) },
    });
  }

  /** The repository around the workspace, if a person allowed it and it still is that repository. */
  #repositoryOf({ workspace, repository, deny }: SandboxPolicy): EnclosingRepository | null {
    if (repository === undefined || whyNotMounted(workspace.path, repository) !== null) return null;
    checkRoPath(repository, this.#deps.paths);
    return this.#repositories.open(workspace.path, repository, deny);
  }

  /** A directory that several projects may write has one guard, shared by them. */
  #guardOf(workspace: string, deny: readonly string[]): GuardedTree {
    const { paths } = this.#deps;
    checkWorkspace(workspace, paths);
    const key = JSON.stringify([workspace, deny]);
    const directory = directoryIdentity(workspace);
    const known = this.#guards.get(key);
    if (known?.directory === directory) return { path: workspace, ...known };
    known?.guard.close();
    const person = personOf(identityFor(workspace, ownUid()), paths);
    const file = ledgerFile(paths.quarantineDir, workspace);
    const settings = { workspace, deny, person, ledgerFile: file, ownDirectories: ownDirectories(paths) };
    const guard = new WorkspaceGuard(this.#thread, settings);
    this.#guards.set(key, { guard, directory });
    return { path: workspace, guard, directory };
  }

  /** Closes the guards that were idle for `idle_ms`, and returns them. */
  closeIdle(): WorkspaceGuard[] {
    const idle = [...this.#guards].filter(([, { guard }]) => guard.idleMs >= this.#deps.config.idle_ms);
    for (const [key, { guard }] of idle) {
      this.#guards.delete(key);
      guard.close();
    }
    return idle.map(([, { guard }]) => guard);
  }

  /** Resolves when the searches after all runs are done. */
  async settled(): Promise<void> {
    await Promise.all([...this.#guards.values()].map(({ guard }) => guard.settled()));
  }

  async close(): Promise<void> {
    for (const { guard } of this.#guards.values()) guard.close();
    await this.#thread.stop();
  }
}

/** contextd's own directories, both as configured and as real paths. */
function ownDirectories({ configDir, dataDir, stateDir, runDir }: Paths): string[] {
  const paths = [configDir, dataDir, stateDir, runDir, PUBLIC_MOUNT_POINTS];
  return [...new Set(paths.flatMap((path) => [path, toText(realPathOf(toRaw(path)) ?? toRaw(path))]))];
}

/** The allowed directories that exist now. A directory that became a link or is gone is not mounted. */
export function usablePaths({ allowedPaths = [] }: SandboxPolicy): string[] {
  return allowedPaths.filter((path) => isRealDirectory(path));
}

/** Writable checkouts below `.claude`. None in a layer: writes would go to the host. */
export function checkoutsIn({ workspace }: SandboxPolicy): string[] {
  return workspace.layer === null ? checkoutsOf(workspace.path) : [];
}

/** Registers the other trees with each guard, under this key. */
function introduce(key: string, trees: readonly GuardedTree[]): void {
  const paths = trees.map(({ path }) => path);
  for (const { path, guard } of trees)
    guard.accompany(
      key,
      paths.filter((other) => other !== path),
    );
}
