import type { SessionRef } from '../call/session.ts';
import { ContextdError } from '../core/errors.ts';
import { directoryIdentity } from '../fs/directory-identity.ts';
import { SOCKET_DIR } from '../sandbox/contract/places.ts';
import type { SandboxPolicy } from '../sandbox/contract/policy.ts';
import type { SandboxProcess } from '../sandbox/contract/sandbox.ts';
import { pluginEnvironment } from './plugin/connect-plugin.ts';
import type { HostCertificate } from './plugin/plugin-process.ts';
import type { PluginCall, RunnerConfig, RunnerDeps, ToolAccess, ToolRun } from './runner.ts';
import { ToolProcess, type ToolProcessDeps } from './tool-process.ts';
import { failedRun, withLaterFacts } from './tool-run.ts';

export interface SlotDeps extends Omit<RunnerDeps, 'config'>, Pick<ToolProcessDeps, 'protocol'> {
  config: RunnerConfig;
  certificate: HostCertificate;
}

/** How often one call waits for a new process because the project folder was replaced in the meantime. */
const REPLACED_MAX = 5;

/** Properties common to the calls of one slot. */
type SlotPlan = Pick<PluginCall, 'session' | 'tool' | 'program' | 'origin'> & Pick<ToolAccess, 'variables'>;

/** Policies of the tool's own process and of a session's commands. Both see the same workspace. */
export interface ToolPolicies {
  process: SandboxPolicy;
  commandFor(session: SessionRef): SandboxPolicy;
}

/** Owns one tool process: starts it on demand, stops it when idle, and replaces it when it fails. */
export class ToolSlot {
  readonly #plan: SlotPlan;
  readonly #deps: SlotDeps;
  readonly #onEmpty: () => void;
  readonly #policies: ToolPolicies;
  readonly #backoff = new CrashBackoff();
  /** Processes that may still be alive: the current one, and those that are finishing their last calls. */
  readonly #processes = new Set<ToolProcess>();
  #current: Promise<ToolProcess> | null = null;
  #calls = 0;
  #idleTimer: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** `onEmpty` is called when the idle process has exited, so that the slot can be removed. */
  constructor(plan: SlotPlan, policies: ToolPolicies, deps: SlotDeps, onEmpty: () => void) {
    this.#plan = plan;
    this.#policies = policies;
    this.#deps = deps;
    this.#onEmpty = onEmpty;
  }

  /** Throws errors that the sandbox throws before the call began. */
  async run(call: PluginCall): Promise<ToolRun> {
    this.#calls += 1;
    try {
      return await this.#runWatched(call);
    } finally {
      this.#calls -= 1;
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#idleTimer);
    const stopping = new ContextdError('INTERRUPTED', 'contextd was stopped while the tool ran', {
      remedy: 'Look at what the call has done before calling again.',
    });
    const starting = this.#current;
    await Promise.all([...this.#processes].map((process) => process.stop(stopping)));
    await starting?.catch(() => null);
  }

  /** Throws if no process accepts the call. */
  async #run(call: PluginCall, replaced = 0): Promise<ToolRun> {
    const process = await unlessAborted(this.#acquire(call.tool), call);
    // It closed a moment ago. Nothing was sent yet, so another process may take the call.
    if (!process.isOpen) return this.#run(call, replaced);
    if (process.directory !== directoryIdentity(this.#plan.session.project)) {
      process.phaseOut();
      if (replaced === REPLACED_MAX) throw keepsChanging(this.#plan.session.project);
      return this.#run(call, replaced + 1);
    }
    clearTimeout(this.#idleTimer);
    const ran = await process.call(call);
    if (!(ran.outcome instanceof ContextdError)) this.#backoff.succeeded();
    return ran;
  }

  /** A tool's process can write the workspace itself, without a command, so its leftovers are searched too. */
  async #runWatched(call: PluginCall): Promise<ToolRun> {
    if (!this.#needsWatch(call)) return this.#run(call);
    const watch = await this.#deps.sandbox.watch(this.#policies.process);
    const ran = await this.#run(call).catch(failedRun);
    return withLaterFacts(ran, async () => {
      const { quarantined, denied = [], complete } = await watch.finish();
      return { quarantined, denied, searchComplete: complete };
    });
  }

  /**
   * A watch finds what a call leaves in files, collects network refusals, and shows a branch the changes in its base.
   */
  #needsWatch({ effects: { files } }: PluginCall): boolean {
    if (files === 'write') return true;
    const { networkTool, toolPaths = [], workspace } = this.#policies.process;
    if (networkTool !== undefined || toolPaths.some(({ isWritable }) => isWritable)) return true;
    return files === 'read' && workspace.layer !== null;
  }

  #acquire(tool: string): Promise<ToolProcess> {
    if (this.#current !== null) return this.#current;
    const waitMs = this.#backoff.waitMs(this.#deps.clock.monotonic());
    if (waitMs > 0) return Promise.reject(this.#backingOff(tool, waitMs));
    const starting = this.#start();
    this.#current = starting;
    starting.catch(() => {
      if (this.#current === starting) this.#current = null;
    });
    return starting;
  }

  async #start(): Promise<ToolProcess> {
    const startedAt = this.#deps.clock.monotonic();
    // Read before mounting: if the directory is replaced in between, the next check finds another one and starts again.
    const directory = directoryIdentity(this.#plan.session.project);
    const opened = await this.#open();
    if (this.#isStopped) {
      await opened.kill();
      throw new ContextdError('INTERRUPTED', 'contextd was stopped while the tool started');
    }
    const tool: ToolProcess = new ToolProcess(opened, {
      ...this.#deps,
      // Where the file system is not rebuilt, a sandbox sees the directory under its host path.
      insideSocketDir: process.platform === 'linux' ? SOCKET_DIR : opened.socketDir,
      project: this.#plan.session.project,
      origin: this.#plan.origin,
      directory,
      commandPolicyFor: (session) => this.#policies.commandFor(session),
      onIdle: () => this.#scheduleStop(tool),
      onClosed: (fault) => this.#closed(fault),
    });
    this.#processes.add(tool);
    void opened.exited.then(() => this.#processes.delete(tool));
    await tool.ready();
    this.#scheduleStop(tool);
    const startMs = Math.round(this.#deps.clock.monotonic() - startedAt);
    this.#deps.logger.info('tool.started', { project: this.#plan.session.project, start_ms: startMs });
    return tool;
  }

  /** A tool process's environment: the variables of go-plugin's handshake and those granted to the tool. */
  #open(): Promise<SandboxProcess> {
    const { program, tool, origin, variables } = this.#plan;
    const { bundleDir, profile } = program;
    const { runtime, entry } = profile;
    return this.#deps.sandbox.open(this.#policies.process, {
      bundleDir,
      runtime,
      entry,
      // The adapter cannot know which tool the program is.
      args: runtime === 'exec' ? [tool] : [],
      env: {
        ...variables,
        ...pluginEnvironment({ certificate: this.#deps.certificate, insideSocketDir: SOCKET_DIR }),
      },
      ...(origin === 'core' || runtime === 'plugin' ? {} : { sdkDir: this.#deps.sdkDir }),
    });
  }

  /** Only the current process calls this, once: the next one starts after that. */
  #closed(fault: ContextdError | null): void {
    this.#current = null;
    clearTimeout(this.#idleTimer);
    if (fault === null || this.#isStopped) return;
    this.#backoff.failed(this.#deps.clock.monotonic());
    this.#deps.logger.warn('tool.failed', {
      project: this.#plan.session.project,
      reason: fault.message,
      failures: this.#backoff.failures,
    });
  }

  #scheduleStop(process: ToolProcess): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => void this.#stopIdle(process), this.#deps.config.idleMs);
    this.#idleTimer.unref();
  }

  async #stopIdle(process: ToolProcess): Promise<void> {
    if (process.activeCalls > 0) return;
    await process.stop(new ContextdError('TOOL_CRASHED', 'the idle tool process was stopped'));
    if (this.#calls === 0 && this.#current === null) this.#onEmpty();
  }

  #backingOff(tool: string, waitMs: number): ContextdError {
    return new ContextdError('TOOL_CRASHED', `${tool} failed ${this.#backoff.failures} times in a row`, {
      remedy: `Call again in ${waitMs} ms. If the problem persists, see \`ctxd server logs\`.`,
      retryAfterMs: waitMs,
    });
  }
}

function keepsChanging(projectRoot: string): ContextdError {
  return new ContextdError('CONFLICT', `the project folder ${projectRoot} is being replaced again and again`, {
    remedy: 'Call again once it stays in its place. Nothing was run.',
  });
}

/** A caller that aborts while the process starts is answered at once; the start continues for the next call. */
function unlessAborted(starting: Promise<ToolProcess>, { tool, signal }: PluginCall): Promise<ToolProcess> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(new ContextdError('CANCELLED', `${tool} was cancelled before it began`));
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    starting.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Milliseconds to wait after the second failure in a row, doubled with each further failure up to the longest. */
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 30_000;

/**
 * Exponential backoff for a tool process that keeps failing. After the first failure the next call starts a new process
 * at once. An answered call resets it. Times are monotonic milliseconds.
 */
export class CrashBackoff {
  #failures = 0;
  #notBefore = 0;

  failed(nowMs: number): void {
    this.#failures += 1;
    if (this.#failures < 2) return;
    this.#notBefore = nowMs + Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (this.#failures - 2));
  }

  succeeded(): void {
    this.#failures = 0;
    this.#notBefore = 0;
  }

  /** Milliseconds to wait before the next start; 0: start now. */
  waitMs(nowMs: number): number {
    return Math.max(0, Math.ceil(this.#notBefore - nowMs));
  }

  get failures(): number {
    return this.#failures;
  }
}
