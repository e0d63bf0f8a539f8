import { within } from '../../core/deadline.ts';
import type { SetAside } from '../../core/envelope.ts';
import { removeTreeInBackground } from '../../fs/remove-tree.ts';
import type { Cover } from '../../guard/contract/protection.ts';
import type { QuarantineAction, QuarantineReport, QuarantineResult } from '../../guard/contract/quarantine.ts';
import type { CommandSpec } from '../contract/command.ts';
import type { LayerAbility, LayerKind } from '../contract/mounted.ts';
import type { SandboxPolicy } from '../contract/policy.ts';
import type {
  IsolationReport,
  ProjectCaches,
  SandboxProgram,
  SandboxStatus,
  StorageAction,
} from '../contract/sandbox.ts';
import { createNetworks, type NetworkListener, type Networks } from '../egress/networks.ts';
import { Layers } from '../layers/layers.ts';
import { identityFor } from '../machine/identity.ts';
import { CACHES_INSIDE, checkArgv, checkEnvironment } from '../machine/mount-plan.ts';
import { readableBundle } from '../machine/reach.ts';
import { Snapshots } from '../snapshots/snapshots.ts';
import { createKeeper, type Keeper } from '../storage/keeper.ts';
import { Storage } from '../storage/storage.ts';
import { denialsOf } from './after-run.ts';
import { CheckedPolicies, type CheckedPolicy, type LinuxSandboxDeps, workspaceOf } from './checked-policy.ts';
import { CommandStarter, READY_MAX } from './command-starter.ts';
import { FilePrograms } from './file-programs.ts';
import {
  followCommand,
  followProcess,
  type JailedProcess,
  makeSocketDir,
  type OutputSinks,
  processJob,
} from './follow.ts';
import { retryIfReplaced } from './replaced.ts';
import { NOT_STARTED, type ProcessOptions, type RunEnd, type RunOptions } from './run-end.ts';
import { lookForStaleness, SearchMeanwhile } from './run-watch.ts';
import { Starter } from './starter.ts';
import { openStdin, Steering } from './steering.ts';
import { unpackInSandbox } from './unpack-layer.ts';

/** Milliseconds that an orderly stop waits for searches. */
const SEARCH_AT_END_MS = 5_000;

/** bubblewrap backend: a fresh sandbox for every command (docs/isolation.md). Runs on the spawner's main thread. */
export class LinuxSandbox {
  readonly #deps: LinuxSandboxDeps;
  readonly #policies: CheckedPolicies;
  readonly #keeper: Keeper;
  readonly #storage: Storage;
  readonly network: Networks;
  readonly snapshots: Snapshots;
  readonly files: FilePrograms;
  readonly #layers: Layers;
  readonly #starter: Starter;
  readonly #commandStarter: CommandStarter;
  #running = 0;
  readonly #commands = new Set<Promise<unknown>>();
  #processes = 0;
  /** Workspace → paths covered by the mounts of its long-lived processes. */
  readonly #covers = new Map<string, Set<Cover>>();

  constructor(deps: LinuxSandboxDeps, listener: NetworkListener) {
    this.#deps = deps;
    this.#policies = new CheckedPolicies(deps);
    this.network = createNetworks(this.#policies, deps, listener);
    this.#keeper = createKeeper(() => this.#policies.host());
    this.#storage = new Storage({
      ...deps,
      root: async () => (await this.#policies.host())?.storageRoot ?? deps.paths.storageDir,
      keeper: this.#keeper,
      cachesInside: CACHES_INSIDE,
    });
    this.snapshots = new Snapshots({
      host: () => this.#policies.host(),
      paths: deps.paths,
      idleMs: deps.config.idle_ms,
    });
    this.#layers = new Layers({
      root: deps.paths.layersDir,
      enter: () => this.#enterForLayers(),
      unpack: (...moved) => this.#unpackLayer(...moved),
    });
    this.#layers.sweep();
    this.#starter = new Starter(this.network, this.#storage, this.#layers);
    this.#commandStarter = new CommandStarter(deps, this.#starter, this.network);
    const run: LinuxSandbox['run'] = (...command) => this.run(...command);
    this.files = new FilePrograms(run, this.snapshots, deps.paths.layersDir);
  }

  /** Kills everything that still runs, waits for it, and removes cgroups and pipes. Idempotent. */
  async stop(): Promise<void> {
    this.#storage.stop();
    await Promise.all([this.#commandStarter.stop(), this.#starter.stop(), this.#keeper.stop(), this.snapshots.stop()]);
    await Promise.all([this.network.stop(), this.#layers.stop()]);
    // The sandboxes are dead. Their commands still report created paths, which takes milliseconds.
    await Promise.allSettled(this.#commands);
    // Finish the searches after the last calls before the guards are closed.
    await within(SEARCH_AT_END_MS, this.#policies.settled(), () => {});
    await this.#policies.close();
    await this.#policies.closeHost();
  }

  /**
   * The command prefix that enters the namespaces in which layers are mounted. An ordinary user needs the namespaces of
   * git's links, and can join a network only from there. Null if layers are not possible.
   */
  async #enterForLayers(): Promise<readonly string[] | null> {
    const enter = (await (await this.#policies.git())?.enter()) ?? [];
    return enter.length === 0 && process.getuid?.() !== 0 ? null : enter;
  }

  async #unpackLayer(workspace: string, archive: string, dir: string): Promise<void> {
    const host = await this.#policies.host();
    if (host === null) throw new Error('no sandbox can be started');
    await unpackInSandbox(host, identityFor(workspace, process.getuid?.() ?? 0), archive, dir);
  }

  probe(): Promise<IsolationReport> {
    return this.#policies.ofMachine();
  }

  isolationFor(workspace: string): Promise<IsolationReport> {
    return this.#policies.ofWorkspace(workspace);
  }

  async status(): Promise<SandboxStatus> {
    const host = await this.#policies.host().catch(() => null);
    return {
      spawnerPid: process.pid,
      spawnerRssBytes: process.memoryUsage.rss(),
      running: this.#running,
      processes: this.#processes,
      ready: [...this.#commandStarter.readyCounts()].map(([key, count]) => ({ workspace: workspaceOf(key), count })),
      readyMax: READY_MAX,
      readyUsed: this.#commandStarter.readyUsed,
      networks: this.network.bridge.networks(),
      totals: host?.cgroups?.totals() ?? null,
    };
  }

  async run(policy: SandboxPolicy, command: CommandSpec, sinks: OutputSinks, options: RunOptions): Promise<RunEnd> {
    checkArgv(command.argv);
    checkEnvironment(command.env);
    if (command.signal.aborted) return NOT_STARTED;
    const startedAt = this.#deps.clock.monotonic();
    const end = await retryIfReplaced(() => this.#runOnce(policy, command, sinks, options));
    return { ...end, durationMs: this.#deps.clock.monotonic() - startedAt };
  }

  /** Starts a long-lived program. The sinks must read its output. `steering`: for a program that takes input. */
  open(
    policy: SandboxPolicy,
    program: SandboxProgram,
    sinks: OutputSinks,
    { onStale, steering }: ProcessOptions,
  ): Promise<JailedProcess> {
    return retryIfReplaced(() => this.#openOnce(policy, program, sinks, { onStale, steering }));
  }

  async #openOnce(
    policy: SandboxPolicy,
    program: SandboxProgram,
    sinks: OutputSinks,
    { onStale, steering }: ProcessOptions,
  ): Promise<JailedProcess> {
    const checked = await this.#policies.check(policy);
    const bundle = await readableBundle(checked.host.sandboxDir, checked.identity, program.bundleDir);
    const socketDir = makeSocketDir(this.#deps.paths.toolSocketsDir, checked.identity);
    const release = async (): Promise<void> => {
      steering?.close();
      await removeTreeInBackground(socketDir);
      await bundle.remove();
    };
    try {
      const protection = await checked.guard.protection();
      const stdin = await openStdin(checked, { stdin: null }, steering);
      const job = processJob(policy, program, { bundleDir: bundle.dir, socketDir, stdin });
      const started = await this.#starter.start(checked, protection, job);
      const looks = lookForStaleness(checked.guard, protection, onStale);
      this.#processes += 1;
      const isOnBase = policy.workspace.layer === null;
      const covers = this.#covers.get(policy.workspace.path) ?? new Set();
      if (isOnBase) this.#covers.set(policy.workspace.path, covers.add(protection.cover));
      return followProcess(started, policy.limits, sinks, socketDir, async () => {
        clearInterval(looks);
        this.#processes -= 1;
        covers.delete(protection.cover);
        if (isOnBase && covers.size === 0) this.#covers.delete(policy.workspace.path);
        await release();
      });
    } catch (cause) {
      await release();
      throw cause;
    }
  }

  /** Starts watching. The returned function ends it, moves away protected paths created since, and returns them. */
  async watch(policy: SandboxPolicy): Promise<() => Promise<QuarantineReport>> {
    const checked = await this.#policies.check(policy);
    // Processes that already run in the layer still see an old state of the base.
    if (policy.workspace.layer !== null) await this.#layers.refresh(policy.workspace);
    const protection = await checked.guard.protection();
    const watch = checked.guard.begin(protection, this.#covers.get(policy.workspace.path));
    return async () => {
      // Waits until the proxy process has reported what it refused to the tool.
      if (policy.networkTool !== undefined) await this.network.bridge.sync();
      return checked.guard.finish(watch);
    };
  }

  /** Acts on quarantined files for a person. Needs no sandbox. */
  quarantine(policy: SandboxPolicy, action: QuarantineAction): Promise<QuarantineResult> {
    return this.#policies.guardsOf(policy).quarantine(action);
  }

  async storage(action: StorageAction): Promise<readonly ProjectCaches[]> {
    if (action.do === 'end_session') await this.#commandStarter.forgetSession(action.project, action.session);
    return this.#storage.act(action);
  }

  /**
   * Creates the layer of the last branch of the policy's view: empty, or if the workspace cannot have an overlay, a
   * copy of what the enclosing branch sees. Throws SANDBOX_UNAVAILABLE if neither works.
   */
  async createLayer(policy: SandboxPolicy): Promise<LayerKind> {
    const { path, layer } = policy.workspace;
    const outer = layer?.slice(0, -1) ?? [];
    await this.#policies.check(policy);
    const why = this.#layers.isCopy(path, outer) ? 'the branch around it is a copy' : await this.#layers.whyNot(path);
    const kind = why === null ? 'overlay' : 'copy';
    const place = await this.#layers.make(policy.workspace, kind);
    try {
      if (why !== null) await this.files.copyInto(place.copy, outer, policy, why);
      const tried = await this.#layers.lease(policy.workspace);
      tried.release();
      return kind;
    } catch (cause) {
      await this.removeLayer(path, layer?.at(-1) ?? '');
      throw cause;
    }
  }

  async layerAbility(workspace: string): Promise<LayerAbility> {
    const why = await this.#layers.whyNot(workspace);
    return { kind: why === null ? 'overlay' : 'copy', why };
  }

  /** Kills everything that runs in a branch and removes its files. */
  removeLayer(project: string, branch: string): Promise<void> {
    return this.#layers.remove(project, branch);
  }

  /** Removes the layers of all branches that are not in `live`, of all projects. */
  keepLayers(live: readonly { readonly project: string; readonly branch: string }[]): void {
    this.#layers.keepOnly(live);
  }

  async #runOnce(
    policy: SandboxPolicy,
    command: CommandSpec,
    sinks: OutputSinks,
    options: RunOptions,
  ): Promise<Omit<RunEnd, 'durationMs'>> {
    const checked = await this.#policies.check(policy);
    this.#running += 1;
    const ended = this.#runWatched(checked, command, sinks, options);
    this.#commands.add(ended);
    try {
      return await ended;
    } finally {
      this.#commands.delete(ended);
      this.#running -= 1;
      this.#commandStarter.ended(checked);
    }
  }

  async #runWatched(
    checked: CheckedPolicy,
    command: CommandSpec,
    sinks: OutputSinks,
    { number, steered, program }: RunOptions,
  ): Promise<Omit<RunEnd, 'durationMs'>> {
    const protection = await checked.guard.protection();
    const [over, search] = [new AbortController(), new SearchMeanwhile()];
    const onFound = (found: SetAside): void => {
      steered?.onFound(found);
      search.hurry();
    };
    const watch = checked.guard.begin(protection, undefined, steered === null ? undefined : onFound);
    const terminal = command.terminal === true && steered === null ? new Steering({ onStarted() {} }, true) : null;
    const steering = steered?.steering ?? terminal;
    try {
      const { clock } = this.#deps;
      const askedMs = clock.monotonic();
      const started = await this.#commandStarter.start(checked, protection, command, steering, program);
      const sandboxWait = { ms: clock.monotonic() - askedMs, wasReady: started.wasReady };
      const endUse = this.network.watch(started, number, over.signal);
      // A call is searched only at its end, so that files the person's editor saves meanwhile are set aside at most
      // once.
      if (steered !== null) void search.run(checked.guard, over.signal);
      const { limits } = checked.policy;
      const { lastWords, ...end } = await followCommand(started, command, limits, sinks, terminal);
      const report = await started.report();
      const used = endUse();
      started.tidy();
      const settings = (await started.git?.collect()) ?? { denied: [], notices: [] };
      const { quarantined, complete } = await checked.guard.finish(watch);
      const { connections, denied: refused } = await used;
      const facts = { ...end, ...lastWords, ...report, refused, networkFailure: this.network.bridge.failure };
      const denied = [...denialsOf(checked, protection, started, command, facts), ...settings.denied];
      const found = { quarantined, searchComplete: complete, notices: settings.notices, denied, connections };
      return { ...end, ...found, ...report, sandboxWait };
    } catch (cause) {
      await checked.guard.finish(watch);
      throw cause;
    } finally {
      over.abort();
      steering?.close();
    }
  }
}
