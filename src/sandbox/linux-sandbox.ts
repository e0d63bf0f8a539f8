import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { SetAside } from '../core/envelope.ts';
import { TIMEOUT_MAX_MS } from '../core/limits.ts';
import { denialsOf } from './after-run.ts';
import {
  CheckedPolicies,
  type CheckedPolicy,
  isOfSession,
  type LinuxSandboxDeps,
  workspaceOf,
} from './checked-policy.ts';
import { isRealDirectory, retryIfReplaced } from './directory-identity.ts';
import { createNetworks, type NetworkListener, type Networks } from './egress/networks.ts';
import {
  followCommand,
  followProcess,
  type JailedProcess,
  makeSocketDir,
  type OutputSinks,
  processJob,
} from './follow.ts';
import { COPY_WITHIN_MS, copyProgram, notCopied } from './layers/copy.ts';
import { Layers } from './layers/layers.ts';
import type { LayerAbility, LayerKind } from './layers/mounted.ts';
import { placeOf } from './layers/place.ts';
import { mergeProgram } from './merge/merge-program.ts';
import type { OutputSink } from './output.ts';
import { CACHES_INSIDE, checkArgv, checkEnvironment, type Mount } from './policy.ts';
import { onTerminal, TERMINAL_ENV } from './pseudo-terminal.ts';
import type { QuarantineAction, QuarantineReport, QuarantineResult } from './quarantine.ts';
import { readableBundle } from './reach.ts';
import { ReadyPool, type ReadySandbox, scriptFor, scriptSocket, WAITING_SHELL } from './ready-pool.ts';
import { NOT_STARTED, type RunEnd, type RunOptions } from './run-end.ts';
import { lookForStaleness, SearchMeanwhile } from './run-watch.ts';
import type {
  CommandSpec,
  IsolationReport,
  ProjectCaches,
  RestoreResult,
  SandboxProgram,
  SandboxStatus,
  StorageAction,
} from './sandbox.ts';
import type { SandboxPolicy } from './sandbox-policy.ts';
import type { RestoreReply } from './snapshots/messages.ts';
import { Snapshots } from './snapshots/snapshots.ts';
import { discard, prepareGit, type StartedSandbox, Starter } from './starter.ts';
import { openStdin, Steering } from './steering.ts';
import { createKeeper, type Keeper } from './storage/keeper.ts';
import { Storage } from './storage/storage.ts';
import type { TreeProtection } from './workspace/guard-set.ts';
import type { Cover } from './workspace/protection.ts';

/** Sandboxes kept ready for all policies together. */
const READY_MAX = 32;
/** Milliseconds for a program of contextd that works on files, and bytes of its answer. */
const OWN_WITHIN_MS = 300_000;
const OWN_OUTPUT_BYTES = 256 * 1024 * 1024;
/** Milliseconds that an orderly stop waits for searches. */
const SEARCH_AT_END_MS = 5_000;

interface OwnOutput {
  readonly output: string;
  readonly quarantined: readonly SetAside[];
}

/** bubblewrap, with a fresh sandbox for every command (design §5). Runs in the spawner, on its main thread. */
export class LinuxSandbox {
  readonly #deps: LinuxSandboxDeps;
  readonly #policies: CheckedPolicies;
  readonly #keeper: Keeper;
  readonly #storage: Storage;
  readonly network: Networks;
  readonly snapshots: Snapshots;
  readonly #layers: Layers;
  readonly #starter: Starter;
  readonly #pool: ReadyPool;
  #running = 0;
  readonly #commands = new Set<Promise<unknown>>();
  #readyUsed = 0;
  #processes = 0;
  /** By workspace: what the mounts of its long-lived processes cover. */
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
      ...{ host: () => this.#policies.host(), paths: deps.paths, idleMs: deps.config.idle_ms },
    });
    this.#layers = new Layers({ root: deps.paths.layersDir, enter: () => this.#enterForLayers() });
    this.#layers.sweep();
    this.#starter = new Starter(this.network, this.#storage, this.#layers);
    this.#pool = new ReadyPool({
      perPolicy: deps.config.preforked,
      max: READY_MAX,
      idleMs: deps.config.idle_ms,
      clock: deps.clock,
      logger: deps.logger,
      discard,
    });
  }

  /** Kills everything that still runs, waits for it, and removes cgroups and pipes. Idempotent. */
  async stop(): Promise<void> {
    this.#storage.stop();
    await Promise.all([this.#pool.stop(), this.#starter.stop(), this.#keeper.stop(), this.snapshots.stop()]);
    await Promise.all([this.network.stop(), this.#layers.stop()]);
    // The sandboxes are dead. Their commands still report what they created, which takes milliseconds.
    await Promise.allSettled(this.#commands);
    // Files that the last calls created are searched for before the guards forget those calls.
    await Promise.race([this.#policies.settled(), delay(SEARCH_AT_END_MS, undefined, { ref: false })]);
    await this.#policies.close();
    await this.#policies.closeHost();
  }

  /** An ordinary user needs the namespaces of git's links, and can join a network only from there. */
  async #enterForLayers(): Promise<readonly string[] | null> {
    const enter = (await (await this.#policies.host())?.git.enter()) ?? [];
    return enter.length === 0 && process.getuid?.() !== 0 ? null : enter;
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
      ready: [...this.#pool.counts()].map(([key, count]) => ({ workspace: workspaceOf(key), count })),
      readyMax: READY_MAX,
      readyUsed: this.#readyUsed,
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

  /** Starts a long-lived program. Its output goes to the sinks, which must take it. */
  open(
    policy: SandboxPolicy,
    program: SandboxProgram,
    sinks: OutputSinks,
    onStale: () => void,
  ): Promise<JailedProcess> {
    return retryIfReplaced(() => this.#openOnce(policy, program, sinks, onStale));
  }

  async #openOnce(
    policy: SandboxPolicy,
    program: SandboxProgram,
    sinks: OutputSinks,
    onStale: () => void,
  ): Promise<JailedProcess> {
    const checked = await this.#policies.check(policy);
    const bundle = await readableBundle(checked.host.sandboxDir, checked.identity, program.bundleDir);
    const socketDir = makeSocketDir(this.#deps.paths.toolSocketsDir, checked.identity);
    const release = async (): Promise<void> => {
      await rm(socketDir, { recursive: true, force: true });
      await bundle.remove();
    };
    try {
      const protection = await checked.guard.protection();
      const started = await this.#starter.start(
        checked,
        protection,
        processJob(policy, program, bundle.dir, socketDir),
      );
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

  /** Starts to watch; the returned function stops it and returns what was moved away. */
  async watch(policy: SandboxPolicy): Promise<() => Promise<QuarantineReport>> {
    const checked = await this.#policies.check(policy);
    // A process that runs already was told of the base as it was then.
    if (policy.workspace.layer !== null) await this.#layers.refresh(policy.workspace);
    const protection = await checked.guard.protection();
    const watch = checked.guard.begin(protection, this.#covers.get(policy.workspace.path));
    return async () => {
      // What the proxy process refused to the tool is reported before this.
      if (policy.networkTool !== undefined) await this.network.bridge.sync();
      return checked.guard.finish(watch);
    };
  }

  /** What a person does with what was moved away. Needs no sandbox. */
  quarantine(policy: SandboxPolicy, action: QuarantineAction): Promise<QuarantineResult> {
    return this.#policies.guardsOf(policy).quarantine(action);
  }

  async storage(action: StorageAction): Promise<readonly ProjectCaches[]> {
    if (action.do === 'end_session') await this.#pool.forget((key) => isOfSession(key, action.project, action.session));
    return this.#storage.act(action);
  }

  /** `items`: `RestoreItem[]` as JSON. */
  async restore(policy: SandboxPolicy, items: Buffer): Promise<RestoreResult> {
    const { output, quarantined } = await this.#runOwn(
      policy,
      this.snapshots.restorer(policy.workspace.path),
      items,
      'putting files back',
    );
    const reply: RestoreReply = JSON.parse(output);
    return { ...reply, quarantined };
  }

  /** `request`: `MergeRequest` as JSON; so is the output. */
  async merge(policy: SandboxPolicy, branch: string | null, request: Buffer): Promise<OwnOutput> {
    const { path } = policy.workspace;
    const layer = branch === null ? null : placeOf(this.#deps.paths.layersDir, path, branch);
    const written = layer === null ? null : existsSync(layer.copy) ? layer.copy : layer.upper;
    const program = mergeProgram(path, { branch: written, store: this.snapshots.storeOf(path) });
    return this.#runOwn(policy, program, request, 'merging files');
  }

  /** Runs a program of contextd as a command of the workspace. */
  async #runOwn(
    policy: SandboxPolicy,
    { mounts, argv }: { mounts: Mount[]; argv: string[] },
    stdin: Buffer,
    what: string,
  ): Promise<OwnOutput> {
    const out: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
    const sink = (stream: 'stdout' | 'stderr'): OutputSink => ({
      write(chunk) {
        out[stream].push(Buffer.from(chunk));
        return true;
      },
      onceDrained() {},
    });
    const command: CommandSpec = {
      ...{ argv, cwd: policy.workspace.path, env: {}, stdin, timeoutMs: OWN_WITHIN_MS },
      ...{ outputMaxBytes: OWN_OUTPUT_BYTES, outputKillBytes: 0, signal: new AbortController().signal },
    };
    const sinks = { stdout: sink('stdout'), stderr: sink('stderr') };
    const end = await this.run(policy, command, sinks, { number: 0, steered: null, program: mounts });
    const words = Buffer.concat(out.stderr).toString().slice(-1_000);
    if (end.exitCode !== 0) throw new Error(`${what} ended by ${end.endedBy}: ${words}`);
    return { output: Buffer.concat(out.stdout).toString(), quarantined: end.quarantined };
  }

  /**
   * Makes the layer of the last branch of the policy's view: empty, or a copy of what the branch around it sees if the
   * workspace can have no overlay. Throws SANDBOX_UNAVAILABLE if it can have neither.
   */
  async createLayer(policy: SandboxPolicy): Promise<LayerKind> {
    const { path, layer } = policy.workspace;
    const outer = layer?.slice(0, -1) ?? [];
    await this.#policies.check(policy);
    const why = this.#layers.isCopy(path, outer) ? 'the branch around it is a copy' : await this.#layers.whyNot(path);
    const kind = why === null ? 'overlay' : 'copy';
    const place = await this.#layers.make(policy.workspace, kind);
    try {
      if (why !== null) await this.#copyInto(place.copy, outer, policy, why);
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

  /** Kills what runs in a branch and removes its files. */
  removeLayer(project: string, branch: string): Promise<void> {
    return this.#layers.remove(project, branch);
  }

  /** Removes the layers of all other branches, of all projects. */
  keepLayers(live: readonly { readonly project: string; readonly branch: string }[]): void {
    this.#layers.keepOnly(live);
  }

  /** As a command does it: what is hidden from commands is not copied. */
  async #copyInto(copy: string, outer: readonly string[], policy: SandboxPolicy, why: string): Promise<void> {
    const { path } = policy.workspace;
    const { program, argv } = copyProgram(copy);
    const sink: OutputSink = { write: () => true, onceDrained() {} };
    const command: CommandSpec = {
      ...{ argv, cwd: path, env: {}, stdin: null, timeoutMs: COPY_WITHIN_MS, outputMaxBytes: 0, outputKillBytes: 0 },
      signal: new AbortController().signal,
    };
    const view = { path, layer: outer.length === 0 ? null : outer };
    const options = { number: 0, steered: null, program };
    const end = await this.run({ ...policy, workspace: view }, command, { stdout: sink, stderr: sink }, options);
    if (end.exitCode !== 0) throw notCopied(path, why, end.exitCode, end.endedBy);
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
      // A waiting sandbox would keep a layer mounted, and show the base as it was.
      if (policy.workspace.layer === null) this.#pool.used(checked.key, () => this.#makeReady(checked));
    }
  }

  async #runWatched(
    checked: CheckedPolicy,
    command: CommandSpec,
    sinks: OutputSinks,
    { number, steered, program }: RunOptions,
  ): Promise<Omit<RunEnd, 'durationMs'>> {
    const protection = await checked.guard.protection();
    const [over, repeated, search] = [new AbortController(), new AbortController(), new SearchMeanwhile()];
    const watch = checked.guard.begin(protection, undefined, (found, isAgain) => {
      steered?.onFound(found);
      search.hurry();
      if (isAgain) repeated.abort();
    });
    const terminal = command.terminal === true && steered === null ? new Steering({ onStarted() {} }, true) : null;
    const steering = steered?.steering ?? terminal;
    try {
      const started = await this.#startCommand(checked, protection, command, steering, program);
      const endUse = this.network.watch(started, number, over.signal);
      void search.run(checked.guard, protection, over.signal);
      const { limits } = checked.policy;
      const { lastWords, ...end } = await followCommand(started, command, limits, sinks, {
        found: repeated.signal,
        terminal,
      });
      const used = endUse();
      started.tidy();
      const settings = (await started.git?.collect()) ?? { denied: [], notices: [] };
      const { quarantined, complete } = await checked.guard.finish(watch);
      const { connections, denied: refused } = await used;
      const facts = { ...end, ...lastWords, refused, networkFailure: this.network.bridge.failure };
      const denied = [...denialsOf(checked, protection, started, command, facts), ...settings.denied];
      return { ...end, quarantined, searchComplete: complete, notices: settings.notices, denied, connections };
    } catch (cause) {
      await checked.guard.finish(watch);
      throw cause;
    } finally {
      over.abort();
      steering?.close();
    }
  }

  /** Takes a pre-forked sandbox if one is ready and suits the command; otherwise starts a new one. */
  async #startCommand(
    checked: CheckedPolicy,
    protection: TreeProtection,
    command: CommandSpec,
    steering: Steering | null,
    program: readonly Mount[] | undefined,
  ): Promise<StartedSandbox> {
    await this.network.settled(checked.loopback?.key ?? null);
    const script =
      steering === null && program === undefined && checked.policy.workspace.layer === null
        ? scriptFor(command, checked.policy.workspace.path)
        : null;
    const isSuitable =
      script !== null && (command.cwd === checked.policy.workspace.path || isRealDirectory(command.cwd));
    const ready = isSuitable ? this.#pool.take(checked.key, this.#fingerprintOf(checked, protection)) : null;
    if (ready !== null && script !== null) {
      this.#readyUsed += 1;
      ready.git?.seed();
      ready.give(script);
      return ready;
    }
    const git = await prepareGit(checked, protection);
    git?.seed();
    const isTerminal = command.terminal === true;
    const started = await this.#starter.start(checked, protection, {
      argv: isTerminal ? onTerminal(command.argv) : command.argv,
      cwd: command.cwd,
      env: isTerminal ? { ...TERMINAL_ENV, ...command.env } : command.env,
      programMounts: program ?? [],
      wallMs: command.timeoutMs,
      stdin: await openStdin(checked, command, steering),
      isTerminal,
      takesScript: false,
      git,
    });
    steering?.attach(started.jail);
    return started;
  }

  #fingerprintOf(checked: CheckedPolicy, protection: TreeProtection): string {
    const { loopback } = checked;
    const name = loopback === null ? '' : this.network.loopbacks.nameOf(loopback.key);
    return fingerprintOf(checked, protection, { loopback: name, authority: this.network.bridge.certificateOf(name) });
  }

  async #makeReady(checked: CheckedPolicy): Promise<ReadySandbox> {
    const protection = await checked.guard.protection();
    const started = await this.#starter.start(checked, protection, {
      argv: WAITING_SHELL,
      cwd: checked.policy.workspace.path,
      env: {},
      programMounts: [],
      wallMs: TIMEOUT_MAX_MS,
      stdin: 'ignore',
      takesScript: true,
      git: await prepareGit(checked, protection),
    });
    const script = await scriptSocket(started).catch((cause: unknown) => {
      discard(started);
      throw cause;
    });
    started.tidy();
    return {
      ...started,
      fingerprint: fingerprintOf(checked, protection, started),
      startedAt: this.#deps.clock.monotonic(),
      give: (text) => void script.end(text),
    };
  }
}

/** A waiting sandbox suits a command only if the directory, its protected paths and its network are still the same. */
function fingerprintOf(
  checked: CheckedPolicy,
  protection: TreeProtection,
  { loopback, authority }: Pick<StartedSandbox, 'loopback' | 'authority'>,
): string {
  return `${checked.state} ${loopback} ${authority ?? ''} ${checked.person?.text ?? ''}${checked.person?.ignored ?? ''} ${protection.fingerprint}`;
}
