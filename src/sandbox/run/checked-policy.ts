import { lstatSync } from 'node:fs';
import type { Paths } from '../../config/paths.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { Logger } from '../../core/log.ts';
import type { NetworkScope } from '../../egress/messages.ts';
import { directoryIdentity } from '../../fs/directory-identity.ts';
import { realPathOf } from '../../fs/file-access.ts';
import { toRaw, toText } from '../../fs/raw-path.ts';
import type { GuardSet } from '../../guard/client/guard-set.ts';
import { gitDirOf } from '../../guard/git/git-dir.ts';
import type { SandboxPolicy } from '../contract/policy.ts';
import type { IsolationReport } from '../contract/sandbox.ts';
import { GitViews } from '../git/git-views.ts';
import { type PersonSettings, readPersonSettings } from '../git/person-settings.ts';
import { explainFailure } from '../machine/failures.ts';
import { Host } from '../machine/host.ts';
import { type Identity, identityFor, ownUid, personOf } from '../machine/identity.ts';
import { checkRoPath, checkWorkspace, type Surroundings } from '../machine/mountable.ts';
import { missingBubblewrap, type Shortfall } from '../machine/remedies.ts';
import { defaultFilter } from '../machine/seccomp/filter.ts';
import { checkToolPaths, writablePaths } from '../machine/tool-paths.ts';
import { Isolation } from '../probe/isolation.ts';
import { checkEnough, SECCOMP_LAYER } from '../probe/ladder.ts';
import { repositoryAbove } from './repository-above.ts';
import { checkoutsIn, usablePaths, WorkspaceGuards } from './workspace-guards.ts';

export interface LinuxSandboxDeps {
  paths: Paths;
  config: Config['sandbox'];
  logger: Logger;
  clock: Clock;
}

/** A sandbox policy that has passed all checks. */
export interface CheckedPolicy {
  /** Equal for equal policies with the same identity inside. */
  readonly key: string;
  readonly policy: SandboxPolicy;
  readonly host: Host;
  readonly git: GitViews;
  readonly identity: Identity;
  /** Sandboxes with the same key share a network namespace. Null: a private namespace without a network. */
  readonly loopback: { readonly key: string; readonly scope: NetworkScope } | null;
  /** Why it does not share one although the policy asks for it; otherwise null. */
  readonly unshared: string | null;
  /** Changes if the workspace is replaced or its owner or mode changes. */
  readonly state: string;
  /** False if the kernel rejects the seccomp filter; the isolation report says so, and `min_isolation` allowed it. */
  readonly isFiltered: boolean;
  readonly guard: GuardSet;
  /** Writable directories outside the workspace that exist now. */
  readonly allowedPaths: readonly string[];
  /** The person's git settings; null if git inside gets none. */
  readonly person: PersonSettings | null;
  /** Top of the repository that contains the workspace, if the workspace is only a part of it; otherwise null. */
  readonly repositoryAbove: string | null;
  /** What decides whether a person could allow a directory outside. */
  readonly surroundings: Surroundings;
}

/** The machine's resources; null without bubblewrap. */
interface Opened {
  readonly host: Promise<Host | null>;
  readonly git: Promise<GitViews | null>;
  readonly isolation: Promise<Isolation | null>;
}

/** Milliseconds for which a check stays valid, and maximum number of cached checks. */
const CHECKED_MS = 1_000;
const CHECKED_MAX = 1_000;

/** The seccomp filter that the probe tries: the minimum that every filter contains. */
const TRIED_FILTER = { inet: true, unix: true, debugger: false };

/** Checks policies. Owns what the checks need: the host, its isolation report and the workspace guards. */
export class CheckedPolicies {
  readonly #deps: LinuxSandboxDeps;
  readonly #guards: WorkspaceGuards;
  /** Keyed by policy; valid while `state` stays the same. */
  readonly #checked = new Map<string, { checked: CheckedPolicy; atMs: number }>();
  #opened: Opened | null = null;
  readonly #idleTimer: NodeJS.Timeout;
  #isClosed = false;

  constructor(deps: LinuxSandboxDeps) {
    this.#deps = deps;
    this.#guards = new WorkspaceGuards(deps);
    this.#idleTimer = setInterval(() => this.closeIdleGuards(), deps.config.idle_ms).unref();
  }

  /** Null without bubblewrap. */
  host(): Promise<Host | null> {
    return this.#open().host;
  }

  /** Null without bubblewrap. */
  git(): Promise<GitViews | null> {
    return this.#open().git;
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
    const state = [...trees.map(directoryState), ...checkoutsIn(policy)].join(' ');
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
    const [host, git] = await Promise.all([this.host(), this.git()]);
    if (host === null || git === null) throw refusal(missingBubblewrap(null));
    const report = await this.ofWorkspace(policy.workspace.path);
    checkEnough(report, policy.minIsolation);
    const isFiltered = report.layers.some(({ name, enforced }) => name === SECCOMP_LAYER && enforced);
    const identity = identityFor(policy.workspace.path, ownUid());
    return {
      key: keyOf(policy, identity),
      policy,
      host,
      git,
      identity,
      loopback: report.loopback.isShared ? loopbackOf(policy, identity) : null,
      unshared: policy.network === 'project' ? report.loopback.why : null,
      state,
      isFiltered,
      guard: this.#guards.of(policy),
      allowedPaths: [...usablePaths(policy), ...writablePaths(policy)],
      repositoryAbove: repositoryAbove(policy.workspace.path),
      person: policy.git === 'working' ? this.#readPerson(policy.workspace.path, identity) : null,
      surroundings: surroundingsOf(policy, identity, this.#deps.paths),
    };
  }

  #readPerson(workspace: string, identity: Identity): PersonSettings {
    return readPersonSettings(personOf(identity, this.#deps.paths), identity, gitDirOf(toRaw(workspace)));
  }

  /** The guards of the policy's trees. Throws PATH_INVALID and PATH_NOT_FOUND. */
  guardsOf(policy: SandboxPolicy): GuardSet {
    return this.#guards.of(policy);
  }

  /** Frees the memory of guards that were idle for `idle_ms`. The next use walks the workspace again. */
  closeIdleGuards(): void {
    for (const closed of this.#guards.closeIdle()) {
      for (const [policy, { checked }] of this.#checked) {
        if (checked.guard.trees.some(({ guard }) => guard === closed)) this.#checked.delete(policy);
      }
    }
  }

  /** Resolves when the searches after all runs are done. */
  settled(): Promise<void> {
    return this.#guards.settled();
  }

  /** Refuses every policy from now on. Call `closeHost` when the last sandbox is gone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#idleTimer);
    await this.#guards.close();
  }

  async closeHost(): Promise<void> {
    const [host, git] = await Promise.all([this.#opened?.host, this.#opened?.git]).catch(() => []);
    this.#opened = null;
    await git?.stop();
    await host?.close();
  }

  /** Opened once. On failure every pending caller gets the error, and the next caller tries again. */
  #open(): Opened {
    if (this.#opened !== null) return this.#opened;
    const host = Host.open(this.#deps).catch((cause: unknown) => {
      throw cause instanceof ContextdError ? cause : refusal(explainFailure(String(cause)), cause);
    });
    const isolation = host.then((one) =>
      one === null ? null : Isolation.ofHost(one, triedFilter(one), this.#deps.clock),
    );
    const git = host.then((one) => (one === null ? null : new GitViews(one, this.#deps.logger)));
    git.catch(() => {});
    const opened = { host, git, isolation };
    this.#opened = opened;
    isolation.catch(() => {
      if (this.#opened === opened) this.#opened = null;
    });
    return opened;
  }
}

function surroundingsOf({ workspace, toolchains }: SandboxPolicy, identity: Identity, paths: Paths): Surroundings {
  const homes = [paths.userHome, personOf(identity, paths).home].map((home) => {
    const real = realPathOf(toRaw(home));
    return real === null ? home : toText(real);
  });
  return { root: workspace.path, homes, paths, toolchains: toolchains?.mounts ?? [] };
}

function keyOf(policy: SandboxPolicy, identity: Identity): string {
  return JSON.stringify([policy.workspace.path, identity, policy]);
}

/**
 * One namespace per project view and identity, so that different owners never share one. A tool with a network has its
 * own: the namespace identifies whose rules apply.
 */
function loopbackOf({ network, workspace, networkTool }: SandboxPolicy, identity: Identity): CheckedPolicy['loopback'] {
  if (network === 'none') return null;
  const tool = networkTool ?? null;
  return { key: JSON.stringify([workspace, identity, tool]), scope: { project: workspace.path, tool } };
}

/** Extracts the workspace from the key of a checked policy. */
export function workspaceOf(key: string): string {
  const [workspace]: unknown[] = JSON.parse(key);
  return String(workspace);
}

/** Whether the key belongs to a policy with the storage of this session. */
export function isOfSession(key: string, project: string, session: string): boolean {
  const [workspace, , policy]: unknown[] = JSON.parse(key);
  if (workspace !== project || !isJsonObject(policy) || !isJsonObject(policy.storage)) return false;
  return policy.storage.session === session;
}

function triedFilter({ cgroups }: Host): Buffer | null {
  return defaultFilter(TRIED_FILTER, process.arch, cgroups === null ? 'watchdog' : 'cgroup');
}

/** Identity, owner and mode of a directory; '' if nothing is there. */
function directoryState(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats === undefined ? '' : `${directoryIdentity(path)}:${stats.uid}:${stats.gid}:${stats.mode}`;
}

function refusal({ missing, remedy }: Shortfall, cause?: unknown): ContextdError {
  return new ContextdError('SANDBOX_UNAVAILABLE', missing, { remedy, cause });
}
