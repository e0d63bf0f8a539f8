import { lstatSync } from 'node:fs';
import type { Paths } from '../config/paths.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';
import type { Logger } from '../core/log.ts';
import type { NetworkScope } from '../egress/messages.ts';
import { directoryIdentity, isRealDirectory } from './directory-identity.ts';
import { type PersonSettings, readPersonSettings } from './git/person-settings.ts';
import { Host } from './host.ts';
import { type Identity, identityFor, personOf } from './identity.ts';
import { checkRoPath, checkWorkspace } from './mountable.ts';
import { explainFailure } from './probe/failures.ts';
import { Isolation } from './probe/isolation.ts';
import { checkEnough, SECCOMP_LAYER } from './probe/ladder.ts';
import { missingBubblewrap, type Shortfall } from './probe/remedies.ts';
import { RepositoriesAbove, repositoryAbove, whyNotMounted } from './repository-above.ts';
import type { IsolationReport } from './sandbox.ts';
import type { SandboxPolicy } from './sandbox-policy.ts';
import { defaultFilter } from './seccomp/filter.ts';
import { checkToolPaths, writablePaths } from './tool-paths.ts';
import { gitDirOf } from './workspace/git-dir.ts';
import { GuardThread, WorkspaceGuard } from './workspace/guard.ts';
import { type EnclosingRepository, type GuardedTree, GuardSet } from './workspace/guard-set.ts';
import { ledgerFile } from './workspace/quarantine-ledger.ts';
import { toRaw } from './workspace/raw-path.ts';

export interface LinuxSandboxDeps {
  paths: Paths;
  config: Config['sandbox'];
  logger: Logger;
  clock: Clock;
}

/** A sandbox policy that has passed all checks. */
export interface CheckedPolicy {
  /** The same for equal policies with the same user inside. */
  readonly key: string;
  readonly policy: SandboxPolicy;
  readonly host: Host;
  readonly identity: Identity;
  /** Sandboxes with the same key share a network namespace; null: it gets one of its own, without a network. */
  readonly loopback: { readonly key: string; readonly scope: NetworkScope } | null;
  /** Why it shares none although its policy wants to; null otherwise. */
  readonly unshared: string | null;
  /** Changes if the workspace is replaced, or gets another owner or mode. */
  readonly state: string;
  /** False if the kernel refuses the filter; the isolation report says so, and `min_isolation` allowed it. */
  readonly isFiltered: boolean;
  readonly guard: GuardSet;
  /** Directories outside the workspace that are there now and may be written. */
  readonly allowedPaths: readonly string[];
  /** The person's git settings; null if the policy gives git inside none. */
  readonly person: PersonSettings | null;
  /** The top of the repository of which the workspace is only a part; null otherwise. */
  readonly repositoryAbove: string | null;
}

/** Milliseconds for which a check is valid, and for how many policies checks are kept. */
const CHECKED_MS = 1_000;
const CHECKED_MAX = 1_000;

/** The filter that the probe tries: what every filter has at least. */
const TRIED_FILTER = { inet: true, unix: true, debugger: false };

/** Checks policies, and holds what the checks need: the machine, how well it isolates, and the guards of workspaces. */
export class CheckedPolicies {
  readonly #deps: LinuxSandboxDeps;
  /** By workspace and hidden paths. A guard knows one directory: a directory that replaces it gets its own guard. */
  readonly #guards = new Map<string, { guard: WorkspaceGuard; directory: string }>();
  readonly #repositories = new RepositoriesAbove();
  readonly #guardThread: GuardThread;
  /** By policy; valid while `state` stays the same. */
  readonly #checked = new Map<string, { checked: CheckedPolicy; atMs: number }>();
  #opened: { host: Promise<Host | null>; isolation: Promise<Isolation | null> } | null = null;
  readonly #idleTimer: NodeJS.Timeout;
  #isClosed = false;

  constructor(deps: LinuxSandboxDeps) {
    this.#deps = deps;
    this.#guardThread = new GuardThread(deps.logger, deps.clock);
    this.#idleTimer = setInterval(() => this.closeIdleGuards(), deps.config.idle_ms).unref();
  }

  /** Null without bubblewrap. */
  host(): Promise<Host | null> {
    return this.#open().host;
  }

  async ofMachine(): Promise<IsolationReport> {
    const isolation = await this.#open().isolation;
    return isolation === null ? Isolation.none() : isolation.ofMachine();
  }

  async ofWorkspace(workspace: string): Promise<IsolationReport> {
    const isolation = await this.#open().isolation;
    return isolation === null ? Isolation.none() : isolation.of(identityFor(workspace, ownUid()));
  }

  /** Throws SANDBOX_UNAVAILABLE, PATH_INVALID and PATH_NOT_FOUND. */
  async check(policy: SandboxPolicy): Promise<CheckedPolicy> {
    if (this.#isClosed) {
      throw refusal({ missing: 'contextd is stopping', remedy: 'Call again when it has started.' });
    }
    const key = JSON.stringify(policy);
    const toolPaths = (policy.toolPaths ?? []).map(({ path }) => path);
    const trees = [policy.workspace.path, ...(policy.allowedPaths ?? []), ...toolPaths];
    const { repository } = policy;
    if (repository !== undefined) trees.push(repository, `${repository}/.git`);
    const state = trees.map(directoryState).join(' ');
    const known = this.#checked.get(key);
    if (known?.checked.state === state && this.#deps.clock.monotonic() - known.atMs < CHECKED_MS) return known.checked;
    const checked = await this.#runChecks(policy, state);
    if (this.#checked.size >= CHECKED_MAX) this.#checked.clear();
    this.#checked.set(key, { checked, atMs: this.#deps.clock.monotonic() });
    return checked;
  }

  async #runChecks(policy: SandboxPolicy, state: string): Promise<CheckedPolicy> {
    checkWorkspace(policy.workspace.path, this.#deps.paths);
    for (const path of policy.roPaths) checkRoPath(path, this.#deps.paths);
    checkToolPaths(policy, this.#deps.paths);
    const host = await this.host();
    if (host === null) throw refusal(missingBubblewrap(null));
    const report = await this.ofWorkspace(policy.workspace.path);
    checkEnough(report, policy.minIsolation);
    const isFiltered = report.layers.some(({ name, enforced }) => name === SECCOMP_LAYER && enforced);
    const identity = identityFor(policy.workspace.path, ownUid());
    return {
      key: keyOf(policy, identity),
      policy,
      host,
      identity,
      loopback: report.loopback.isShared ? loopbackOf(policy, identity) : null,
      unshared: policy.network === 'project' ? report.loopback.why : null,
      state,
      isFiltered,
      guard: this.guardsOf(policy),
      allowedPaths: [...usablePaths(policy), ...writablePaths(policy)],
      repositoryAbove: repositoryAbove(policy.workspace.path),
      person: policy.git === 'working' ? this.#readPerson(policy.workspace.path, identity) : null,
    };
  }

  #readPerson(workspace: string, identity: Identity): PersonSettings {
    return readPersonSettings(personOf(identity, this.#deps.paths), identity, gitDirOf(toRaw(workspace)));
  }

  /** The guards of the policy's trees. Throws PATH_INVALID and PATH_NOT_FOUND. */
  guardsOf(policy: SandboxPolicy): GuardSet {
    const trees = [policy.workspace.path, ...usablePaths(policy)].map((path) => this.#guardOf(path, policy.deny));
    const repository = this.#repositoryOf(policy);
    // A tool process writes the workspace only. What it does not know of other trees stays as the commands' policy had it.
    if (policy.allowedPaths !== undefined) {
      for (const { path, guard } of trees) {
        const paths = trees.map((tree) => tree.path).filter((other) => other !== path);
        const others = repository === null || path === policy.workspace.path ? paths : [...paths, repository.gitDir];
        guard.accompany(policy.workspace.path, others);
      }
    }
    const ofTool = writablePaths(policy).map((path) => this.#guardOf(path, policy.deny));
    if (ofTool.length > 0) {
      trees.push(...ofTool);
      const paths = trees.map(({ path }) => path);
      // A key of their own, so that the trees of the commands stay known.
      const key = JSON.stringify(paths);
      for (const { path, guard } of trees)
        guard.accompany(
          key,
          paths.filter((other) => other !== path),
        );
    }
    if (repository !== null) trees[0]?.guard.enclose(repository.gitDir);
    return new GuardSet(trees, repository, policy.workspace.layer !== null);
  }

  /** The repository around the workspace, if a person allowed it and it is still that. */
  #repositoryOf({ workspace, repository, deny }: SandboxPolicy): EnclosingRepository | null {
    if (repository === undefined || whyNotMounted(workspace.path, repository) !== null) return null;
    checkRoPath(repository, this.#deps.paths);
    return this.#repositories.open(workspace.path, repository, deny);
  }

  /** Projects that one person allowed to each other share the guard of a directory. */
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
    const guard = new WorkspaceGuard(this.#guardThread, { workspace, deny, person, ledgerFile: file });
    this.#guards.set(key, { guard, directory });
    return { path: workspace, guard, directory };
  }

  /** Gives the memory of guards back that nothing has needed for a while. The next use walks the workspace again. */
  closeIdleGuards(): void {
    for (const [key, { guard }] of this.#guards) {
      if (guard.idleMs < this.#deps.config.idle_ms) continue;
      this.#guards.delete(key);
      for (const [policy, { checked }] of this.#checked) {
        if (checked.guard.trees.some((tree) => tree.guard === guard)) this.#checked.delete(policy);
      }
      guard.close();
    }
  }

  /** Resolves when the searches after all runs are done. */
  async settled(): Promise<void> {
    await Promise.all([...this.#guards.values()].map(({ guard }) => guard.settled()));
  }

  /** Refuses every policy from now on. Call `closeHost` when no sandbox is left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#idleTimer);
    for (const { guard } of this.#guards.values()) guard.close();
    await this.#guardThread.stop();
  }

  async closeHost(): Promise<void> {
    const host = await this.#opened?.host.catch(() => null);
    this.#opened = null;
    await host?.close();
  }

  /** Opened once. If it fails, everyone who waits gets the error and the next caller tries again. */
  #open(): { host: Promise<Host | null>; isolation: Promise<Isolation | null> } {
    if (this.#opened !== null) return this.#opened;
    const host = Host.open(this.#deps).catch((cause: unknown) => {
      throw cause instanceof ContextdError ? cause : refusal(explainFailure(String(cause)), cause);
    });
    const isolation = host.then((one) =>
      one === null ? null : Isolation.ofHost(one, triedFilter(one), this.#deps.clock),
    );
    const opened = { host, isolation };
    this.#opened = opened;
    isolation.catch(() => {
      if (this.#opened === opened) this.#opened = null;
    });
    return opened;
  }
}

function keyOf(policy: SandboxPolicy, identity: Identity): string {
  return JSON.stringify([policy.workspace.path, identity, policy]);
}

/**
 * One namespace for each view of a project and each user inside: a different owner never meets what is there. A tool with
 * a network has its own: the namespace is what identifies whose rules hold.
 */
function loopbackOf({ network, workspace, networkTool }: SandboxPolicy, identity: Identity): CheckedPolicy['loopback'] {
  if (network === 'none') return null;
  const tool = networkTool ?? null;
  return { key: JSON.stringify([workspace, identity, tool]), scope: { project: workspace.path, tool } };
}

/** The allowed directories that are there now. One that is a link by now, or is gone, is not mounted. */
function usablePaths({ allowedPaths = [] }: SandboxPolicy): string[] {
  return allowedPaths.filter((path) => isRealDirectory(path));
}

/** The workspace of a checked policy, from its key. */
export function workspaceOf(key: string): string {
  const [workspace]: unknown[] = JSON.parse(key);
  return String(workspace);
}

/** True if the key is of a policy with the storage of this session. */
export function isOfSession(key: string, project: string, session: string): boolean {
  const [workspace, , policy]: unknown[] = JSON.parse(key);
  if (workspace !== project || !isJsonObject(policy) || !isJsonObject(policy.storage)) return false;
  return policy.storage.session === session;
}

function triedFilter({ cgroups }: Host): Buffer | null {
  return defaultFilter(TRIED_FILTER, process.arch, cgroups === null ? 'watchdog' : 'cgroup');
}

/** Which directory it is, its owner and mode; '' if nothing is there. */
function directoryState(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats === undefined ? '' : `${directoryIdentity(path)}:${stats.uid}:${stats.gid}:${stats.mode}`;
}

function ownUid(): number {
  return process.getuid?.() ?? 0;
}

function refusal({ missing, remedy }: Shortfall, cause?: unknown): ContextdError {
  return new ContextdError('SANDBOX_UNAVAILABLE', missing, { remedy, cause });
}
