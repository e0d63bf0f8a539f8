import type { SessionRef } from '../call/session.ts';
import { ContextdError } from '../core/errors.ts';
import { directoryIdentity } from '../sandbox/directory-identity.ts';
import { SOCKET_DIR } from '../sandbox/policy.ts';
import type { SandboxProcess } from '../sandbox/sandbox.ts';
import type { SandboxPolicy } from '../sandbox/sandbox-policy.ts';
import { FactCollector, type RunFacts } from './call-facts.ts';
import { pluginEnvironment } from './plugin/connect-plugin.ts';
import type { HostCertificate } from './plugin/plugin-process.ts';
import type { RunnerConfig, RunnerDeps, RunResult, ToolAccess, ToolCall } from './runner.ts';
import { ToolProcess, type ToolProcessDeps } from './tool-process.ts';

export interface SlotDeps extends Omit<RunnerDeps, 'config'>, Pick<ToolProcessDeps, 'protocol'> {
  config: RunnerConfig;
  certificate: HostCertificate;
}

/** How often one call waits for another process because the project folder was replaced meanwhile. */
const REPLACED_MAX = 5;

/** What the calls of one slot have in common. */
type SlotPlan = Pick<ToolCall, 'session' | 'tool' | 'bundleDir' | 'origin' | 'profile'> & Pick<ToolAccess, 'variables'>;

/** What holds for the tool's own process and for the commands that a session runs. Both see the same workspace. */
export interface ToolPolicies {
  process: SandboxPolicy;
  commandFor(session: SessionRef): SandboxPolicy;
}

/** The place of one tool process: started when needed, stopped when idle, replaced when it fails. */
export class ToolSlot {
  readonly #plan: SlotPlan;
  readonly #deps: SlotDeps;
  readonly #onEmpty: () => void;
  readonly #policies: ToolPolicies;
  readonly #backoff = new CrashBackoff();
  /** Every process that may still be alive: the current one, and those that finish their last calls. */
  readonly #processes = new Set<ToolProcess>();
  #current: Promise<ToolProcess> | null = null;
  #calls = 0;
  #idleTimer: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** `onEmpty` is called when the idle process has ended, so that the slot can be removed. */
  constructor(plan: SlotPlan, policies: ToolPolicies, deps: SlotDeps, onEmpty: () => void) {
    this.#plan = plan;
    this.#policies = policies;
    this.#deps = deps;
    this.#onEmpty = onEmpty;
  }

  async run(call: ToolCall): Promise<RunResult> {
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

  async #run(call: ToolCall, replaced = 0): Promise<RunResult> {
    const process = await unlessAborted(this.#acquire(call.tool), call);
    // It closed a moment ago. Nothing was sent yet, so another process may take the call.
    if (!process.isOpen) return this.#run(call, replaced);
    if (process.directory !== directoryIdentity(this.#plan.session.project)) {
      process.phaseOut();
      if (replaced === REPLACED_MAX) throw keepsChanging(this.#plan.session.project);
      return this.#run(call, replaced + 1);
    }
    clearTimeout(this.#idleTimer);
    const result = await process.call(call);
    this.#backoff.succeeded();
    return result;
  }

  /** A tool's process can write the workspace itself, without a command: what it leaves behind is searched too. */
  async #runWatched(call: ToolCall): Promise<RunResult> {
    const watch = await this.#deps.sandbox.watch(this.#policies.process);
    let facts = new FactCollector().read();
    const onFacts = (found: RunFacts): void => {
      facts = found;
    };
    const [outcome] = await Promise.allSettled([this.#run({ ...call, onFacts })]);
    const made = await watch.finish();
    const byId = new Map([...facts.quarantined, ...made.quarantined].map((one) => [one.id, one]));
    const denied = new Map([...facts.denied, ...(made.denied ?? [])].map((one) => [JSON.stringify(one), one]));
    facts = {
      ...facts,
      quarantined: [...byId.values()],
      denied: [...denied.values()],
      searchComplete: made.complete,
    };
    call.onFacts?.(facts);
    if (outcome.status === 'rejected') throw outcome.reason;
    return { ...outcome.value, ...facts };
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
    // Before it is mounted: if it is replaced in between, the next check finds another directory and starts again.
    const directory = directoryIdentity(this.#plan.session.project);
    const opened = await this.#open();
    if (this.#isStopped) {
      await opened.kill();
      throw new ContextdError('INTERRUPTED', 'contextd was stopped while the tool started');
    }
    const tool: ToolProcess = new ToolProcess(opened, {
      ...this.#deps,
      // If the file system is not rebuilt, a sandbox sees the directory under its host path.
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

  /** The environment of a tool process is what go-plugin's handshake needs, and the variables that the tool was granted. */
  #open(): Promise<SandboxProcess> {
    const { bundleDir, profile, tool, origin, variables } = this.#plan;
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

  /** Only the current process reports here, once: a new one starts after that. */
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

/** A caller who gives up while the process starts is answered at once; the start continues for the next call. */
function unlessAborted(starting: Promise<ToolProcess>, { tool, signal }: ToolCall): Promise<ToolProcess> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(new ContextdError('CANCELLED', `${tool} was cancelled before it began`));
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    starting.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Milliseconds to wait after the second failure in a row; doubled with each further failure. */
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 30_000;

/**
 * When a tool process that keeps failing may be started again. After the first failure the next call starts a new
 * process at once. An answered call resets it. Times are monotonic milliseconds.
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
