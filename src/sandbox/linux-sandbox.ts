import { once } from 'node:events';
import { realpathSync, rmSync, statSync } from 'node:fs';
import { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Denial } from '../core/envelope.ts';
import { isErrno } from '../core/errors.ts';
import { TIMEOUT_MAX_MS } from '../core/limits.ts';
import { readableBundle } from './bundle-copy.ts';
import { onceMore } from './changed-underway.ts';
import { followCommand, type OutputSinks, type StartedSandbox } from './command.ts';
import { type DenialFacts, findDenials, placesOf } from './denials.ts';
import { directoryIdentity } from './directory-identity.ts';
import { openInput } from './pipes.ts';
import { checkArgv, checkEnvironment } from './policy.ts';
import { followProcess, type JailedProcess, makeSocketDir, processJob } from './process.ts';
import type { QuarantineAction, QuarantineReport, QuarantineResult } from './quarantine.ts';
import { ReadyPool, type ReadySandbox } from './ready-pool.ts';
import { SCRIPT_FD, scriptFor, WAITING_SHELL } from './ready-script.ts';
import type {
  CommandResult,
  CommandSpec,
  IsolationReport,
  SandboxPolicy,
  SandboxProgram,
  SandboxStatus,
} from './sandbox.ts';
import { type Site, type SiteDeps, Sites, workspaceOf } from './sites.ts';
import { ownerOf, Starter } from './starter.ts';
import type { RunWatch, WorkspaceGuard } from './workspace/guard.ts';
import { type Cover, narrowCover, type Protection } from './workspace/protection.ts';

/** Sandboxes kept ready for all policies together. */
const READY_MAX = 32;
/** Milliseconds in which a waiting shell must be up; a loaded machine takes some hundred. */
const READY_WITHIN_MS = 10_000;
/** Milliseconds that an orderly stop waits for searches. */
const SEARCH_AT_END_MS = 5_000;
/** Milliseconds between two looks at the protected paths under a long-lived process. */
const STALE_LOOK_MS = 1_000;

/** What a command came to; its output went to the sinks. */
export type RunEnd = Omit<CommandResult, 'stdout' | 'stderr'>;

/** Of a command that was cancelled before anything was done for it. */
const NEVER_BEGAN: RunEnd = {
  exitCode: null,
  signal: 'SIGKILL',
  endedBy: 'cancelled',
  durationMs: 0,
  quarantined: [],
  searchComplete: true,
  denied: [],
};

/** bubblewrap, a fresh sandbox for every command (design §5). Lives in the spawner, on its main thread. */
export class LinuxSandbox {
  readonly #deps: SiteDeps;
  readonly #sites: Sites;
  readonly #starter = new Starter();
  readonly #pool: ReadyPool;
  #running = 0;
  readonly #commands = new Set<Promise<unknown>>();
  #readyUsed = 0;
  #processes = 0;
  /** By workspace, what the mounts of its long-lived processes cover. */
  readonly #covers = new Map<string, Set<Cover>>();

  constructor(deps: SiteDeps) {
    this.#deps = deps;
    this.#sites = new Sites(deps);
    this.#pool = new ReadyPool({
      perPolicy: deps.config.preforked,
      max: READY_MAX,
      clock: deps.clock,
      logger: deps.logger,
      discard,
    });
  }

  /** Kills what still runs, waits for it, removes cgroups and pipes. Idempotent. */
  async stop(): Promise<void> {
    await Promise.all([this.#pool.stop(), this.#starter.stop()]);
    // The sandboxes are dead: their commands still report what they made, which takes milliseconds.
    await Promise.allSettled(this.#commands);
    // What the last calls made is searched before the memory of them goes.
    await Promise.race([this.#sites.settled(), delay(SEARCH_AT_END_MS, undefined, { ref: false })]);
    await this.#sites.close();
    await this.#sites.closeHost();
  }

  probe(): Promise<IsolationReport> {
    return this.#sites.ofMachine();
  }

  isolationFor(workspace: string): Promise<IsolationReport> {
    return this.#sites.ofWorkspace(workspace);
  }

  async status(): Promise<SandboxStatus> {
    const host = await this.#sites.host().catch(() => null);
    return {
      spawnerPid: process.pid,
      spawnerRssBytes: process.memoryUsage.rss(),
      running: this.#running,
      processes: this.#processes,
      ready: [...this.#pool.counts()].map(([key, count]) => ({ workspace: workspaceOf(key), count })),
      readyMax: READY_MAX,
      readyUsed: this.#readyUsed,
      totals: host?.cgroups?.totals() ?? null,
    };
  }

  async run(policy: SandboxPolicy, command: CommandSpec, sinks: OutputSinks): Promise<RunEnd> {
    checkArgv(command.argv);
    checkEnvironment(command.env);
    if (command.signal.aborted) return NEVER_BEGAN;
    const startedAt = this.#deps.clock.monotonic();
    const end = await onceMore(() => this.#runOnce(policy, command, sinks));
    return { ...end, durationMs: this.#deps.clock.monotonic() - startedAt };
  }

  /** Starts a program that lives on. Its output goes to the sinks, which must take it. */
  open(
    policy: SandboxPolicy,
    program: SandboxProgram,
    sinks: OutputSinks,
    onStale: () => void,
  ): Promise<JailedProcess> {
    return onceMore(() => this.#openOnce(policy, program, sinks, onStale));
  }

  async #openOnce(
    policy: SandboxPolicy,
    program: SandboxProgram,
    sinks: OutputSinks,
    onStale: () => void,
  ): Promise<JailedProcess> {
    const site = await this.#sites.find(policy);
    const bundle = await readableBundle(site.host.sandboxDir, site.identity, program.bundleDir);
    const socketDir = makeSocketDir(this.#deps.paths.toolSocketsDir, site.identity);
    const putAway = async (): Promise<void> => {
      rmSync(socketDir, { recursive: true, force: true });
      await bundle.remove();
    };
    try {
      const protection = await site.guard.protection();
      const started = await this.#starter.start(site, protection, processJob(policy, program, bundle.dir, socketDir));
      const looks = lookForStaleness(site.guard, protection, onStale);
      this.#processes += 1;
      const covers = this.#covers.get(policy.workspace) ?? new Set();
      this.#covers.set(policy.workspace, covers.add(protection.cover));
      return followProcess(started, policy.limits, sinks, socketDir, async () => {
        clearInterval(looks);
        this.#processes -= 1;
        covers.delete(protection.cover);
        if (covers.size === 0) this.#covers.delete(policy.workspace);
        await putAway();
      });
    } catch (cause) {
      await putAway();
      throw cause;
    }
  }

  /** Begins to watch. The returned function ends it and returns what was moved aside. */
  async watch(policy: SandboxPolicy): Promise<() => Promise<QuarantineReport>> {
    const site = await this.#sites.find(policy);
    const protection = await site.guard.protection();
    const watch = site.guard.begin(narrowCover(protection, this.#covers.get(policy.workspace) ?? new Set()));
    return () => endWatch(site, watch);
  }

  /** What a person does with what was moved away. Needs no sandbox. */
  quarantine(policy: SandboxPolicy, action: QuarantineAction): Promise<QuarantineResult> {
    return this.#sites.guardOf(policy).quarantine(action);
  }

  async #runOnce(policy: SandboxPolicy, command: CommandSpec, sinks: OutputSinks): Promise<Omit<RunEnd, 'durationMs'>> {
    const site = await this.#sites.find(policy);
    this.#running += 1;
    const ended = this.#runWatched(site, command, sinks);
    this.#commands.add(ended);
    try {
      return await ended;
    } finally {
      this.#commands.delete(ended);
      this.#running -= 1;
      this.#pool.used(site.key, () => this.#makeReady(site));
    }
  }

  async #runWatched(site: Site, command: CommandSpec, sinks: OutputSinks): Promise<Omit<RunEnd, 'durationMs'>> {
    const protection = await site.guard.protection();
    const watch = site.guard.begin(protection);
    try {
      const started = await this.#startCommand(site, protection, command);
      const { lastWords, ...end } = await followCommand(started, command, site.policy.limits, sinks);
      started.tidy();
      const { quarantined, complete } = await endWatch(site, watch);
      const denied = denialsOf(site, protection, started, command, { ...end, ...lastWords });
      return { ...end, quarantined, searchComplete: complete, denied };
    } catch (cause) {
      await endWatch(site, watch);
      throw cause;
    }
  }

  /** One that waits, where one does and the command is fit for it; else a new one. */
  async #startCommand(site: Site, protection: Protection, command: CommandSpec): Promise<StartedSandbox> {
    const script = scriptFor(command, site.policy.workspace);
    const fits = script !== null && (command.cwd === site.policy.workspace || isRealDirectory(command.cwd));
    const ready = fits ? this.#pool.take(site.key, fingerprintOf(site, protection)) : null;
    if (ready !== null && script !== null) {
      this.#readyUsed += 1;
      ready.give(script);
      return ready;
    }
    const { host, identity } = site;
    return this.#starter.start(site, protection, {
      argv: command.argv,
      cwd: command.cwd,
      env: command.env,
      programMounts: [],
      wallMs: command.timeoutMs,
      stdin: command.stdin === null ? 'ignore' : openInput(command.stdin, ownerOf(identity), host.sandboxDir),
      takesScript: false,
    });
  }

  async #makeReady(site: Site): Promise<ReadySandbox> {
    const protection = await site.guard.protection();
    const started = await this.#starter.start(site, protection, {
      argv: WAITING_SHELL,
      cwd: site.policy.workspace,
      env: {},
      programMounts: [],
      wallMs: TIMEOUT_MAX_MS,
      stdin: 'ignore',
      takesScript: true,
    });
    const script = await scriptSocket(started).catch((cause: unknown) => {
      discard(started);
      throw cause;
    });
    started.tidy();
    return {
      ...started,
      fingerprint: fingerprintOf(site, protection),
      startedAt: this.#deps.clock.monotonic(),
      give: (text) => void script.end(text),
    };
  }
}

/** What the sandbox refused. A command that succeeded and said nothing on stderr was refused nothing. */
function denialsOf(
  { policy, isFiltered }: Site,
  { hidden }: Protection,
  { mounts }: StartedSandbox,
  { cwd }: CommandSpec,
  end: Pick<DenialFacts, 'exitCode' | 'endedBy' | 'stdout' | 'stderr'>,
): Denial[] {
  if (end.exitCode === 0 && end.endedBy === 'exit' && end.stderr.length === 0) return [];
  const hiddenPaths = hidden.map(({ path }) => path);
  const seccomp = isFiltered ? policy.seccomp : null;
  return findDenials({ ...end, ...placesOf(mounts, hiddenPaths), cwd, workspace: policy.workspace, seccomp });
}

/** A sandbox that waits is fit for a command only in the same directory with the same protected paths. */
function fingerprintOf(site: Site, protection: Protection): string {
  return `${site.state} ${protection.fingerprint}`;
}

/** The socket of a waiting shell, once it says that it is up. Throws when it does not come up. */
async function scriptSocket({ jail }: StartedSandbox): Promise<Duplex> {
  const socket = jail.child.stdio[SCRIPT_FD];
  if (!(socket instanceof Duplex)) throw new Error('a waiting sandbox has no socket for its script');
  socket.on('error', () => {});
  const ended = jail.ended.then(() => Promise.reject(new Error('a waiting sandbox ended before it was used')));
  await Promise.race([once(socket, 'data', { signal: AbortSignal.timeout(READY_WITHIN_MS) }), ended]);
  return socket;
}

function discard({ jail, stdout, stderr }: StartedSandbox): void {
  jail.kill();
  stdout.close();
  stderr.close();
}

/** Looks every second whether the protected paths are still those that were mounted; calls back once. */
function lookForStaleness(guard: WorkspaceGuard, protection: Protection, onStale: () => void): NodeJS.Timeout {
  const look = async (): Promise<void> => {
    const now = await guard.protection().catch(() => null);
    if (now?.fingerprint === protection.fingerprint) return;
    clearInterval(timer);
    onStale();
  };
  const timer = setInterval(() => void look(), STALE_LOOK_MS);
  return timer.unref();
}

/**
 * What the run made and was moved away. Nothing if another directory has taken the place of the project meanwhile: the
 * run was in the old one, and what stands in the new one is not its doing.
 */
async function endWatch({ guard, directory, policy }: Site, watch: RunWatch): Promise<QuarantineReport> {
  if (directoryIdentity(policy.workspace) === directory) return guard.finish(watch);
  guard.forget(watch);
  return { quarantined: [], complete: true };
}

/** Links may lead elsewhere inside than outside. */
function isRealDirectory(path: string): boolean {
  try {
    return realpathSync(path) === path && statSync(path).isDirectory();
  } catch (cause) {
    if (isErrno(cause)) return false;
    throw cause;
  }
}
