import { lstatSync } from 'node:fs';
import type { Paths } from '../config/paths.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { directoryIdentity } from './directory-identity.ts';
import { Host } from './host.ts';
import { type Identity, identityFor, personOf } from './identity.ts';
import { checkRoPath, checkWorkspace } from './mountable.ts';
import { explainFailure } from './probe/failures.ts';
import { Isolation } from './probe/isolation.ts';
import { checkEnough, SECCOMP_LAYER } from './probe/ladder.ts';
import { missingBubblewrap, type Shortfall } from './probe/remedies.ts';
import type { IsolationReport, SandboxPolicy } from './sandbox.ts';
import { defaultFilter } from './seccomp/filter.ts';
import { GuardThread, WorkspaceGuard } from './workspace/guard.ts';
import { ledgerFile } from './workspace/quarantine-ledger.ts';

export interface SiteDeps {
  paths: Paths;
  config: Config['sandbox'];
  logger: Logger;
  clock: Clock;
}

/** A policy after everything that speaks against it: where sandboxes of this policy are started. */
export interface Site {
  /** Equal for equal policies and the same user inside. */
  readonly key: string;
  readonly policy: SandboxPolicy;
  readonly host: Host;
  readonly identity: Identity;
  /** Which directory the workspace was when it was checked: another one in its place is another site. */
  readonly directory: string;
  /** That, with its owner and mode. */
  readonly state: string;
  /** False where the kernel refuses the filter; then the report says so, and `min_isolation` has decided. */
  readonly isFiltered: boolean;
  readonly guard: WorkspaceGuard;
}

/** Milliseconds for which the checks of a policy are believed, and for how many policies. */
const CHECKED_MS = 1_000;
const CHECKED_MAX = 1_000;

/** What every filter has at least is what is tried out. */
const TRIED_FILTER = { inet: true, unix: true, debugger: false };

/** The machine, how well it isolates, and the workspaces under guard. */
export class Sites {
  readonly #deps: SiteDeps;
  /** By workspace and hidden paths. A guard knows one directory: the next one at that path gets its own. */
  readonly #guards = new Map<string, { guard: WorkspaceGuard; directory: string }>();
  readonly #guardThread: GuardThread;
  /** By policy, for as long as the workspace is the same directory of the same owner. */
  readonly #checked = new Map<string, { site: Site; atMs: number }>();
  #opened: { host: Promise<Host | null>; isolation: Promise<Isolation | null> } | null = null;
  #isClosed = false;

  constructor(deps: SiteDeps) {
    this.#deps = deps;
    this.#guardThread = new GuardThread(deps.logger, deps.clock);
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
  async find(policy: SandboxPolicy): Promise<Site> {
    if (this.#isClosed) {
      throw refusal({ missing: 'contextd is stopping', remedy: 'Call again when it has started.' });
    }
    const key = JSON.stringify(policy);
    const state = directoryState(policy.workspace);
    const known = this.#checked.get(key);
    if (known?.site.state === state && this.#deps.clock.monotonic() - known.atMs < CHECKED_MS) return known.site;
    const site = await this.#check(policy, state);
    if (this.#checked.size >= CHECKED_MAX) this.#checked.clear();
    this.#checked.set(key, { site, atMs: this.#deps.clock.monotonic() });
    return site;
  }

  async #check(policy: SandboxPolicy, state: string): Promise<Site> {
    checkWorkspace(policy.workspace, this.#deps.paths);
    for (const path of policy.roPaths) checkRoPath(path, this.#deps.paths);
    const host = await this.host();
    if (host === null) throw refusal(missingBubblewrap(null));
    const report = await this.ofWorkspace(policy.workspace);
    checkEnough(report, policy.minIsolation);
    const isFiltered = report.layers.some(({ name, enforced }) => name === SECCOMP_LAYER && enforced);
    const identity = identityFor(policy.workspace, ownUid());
    const directory = directoryIdentity(policy.workspace);
    return {
      key: keyOf(policy, identity),
      policy,
      host,
      identity,
      directory,
      state,
      isFiltered,
      guard: this.guardOf(policy),
    };
  }

  /** The guard of the policy's workspace. Throws PATH_INVALID and PATH_NOT_FOUND. */
  guardOf({ workspace, deny }: SandboxPolicy): WorkspaceGuard {
    const { paths } = this.#deps;
    checkWorkspace(workspace, paths);
    const key = JSON.stringify([workspace, deny]);
    const directory = directoryIdentity(workspace);
    const known = this.#guards.get(key);
    if (known?.directory === directory) return known.guard;
    known?.guard.close();
    const person = personOf(identityFor(workspace, ownUid()), paths);
    const file = ledgerFile(paths.quarantineDir, workspace);
    const guard = new WorkspaceGuard(this.#guardThread, { workspace, deny, person, ledgerFile: file });
    this.#guards.set(key, { guard, directory });
    return guard;
  }

  /** Resolves when every search that runs left behind is done. */
  async settled(): Promise<void> {
    await Promise.all([...this.#guards.values()].map(({ guard }) => guard.settled()));
  }

  /** No more sites; `closeHost` is for when no sandbox is left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { guard } of this.#guards.values()) guard.close();
    await this.#guardThread.stop();
  }

  async closeHost(): Promise<void> {
    const host = await this.#opened?.host.catch(() => null);
    this.#opened = null;
    await host?.close();
  }

  /** Opened once; a failure is told to everyone who waits, and the next caller tries again. */
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
  return JSON.stringify([policy.workspace, identity, policy]);
}

/** The workspace of a site, from its key. */
export function workspaceOf(key: string): string {
  const [workspace]: unknown[] = JSON.parse(key);
  return String(workspace);
}

function triedFilter({ cgroups }: Host): Buffer | null {
  return defaultFilter(TRIED_FILTER, process.arch, cgroups === null ? 'watchdog' : 'cgroup');
}

/** Which directory it is and whose; '' if nothing stands there. */
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
