import { ContextdError } from '../core/errors.ts';
import { CrashBackoff } from './crash-backoff.ts';
import type { RunnerDeps, RunResult, ToolCall } from './runner.ts';
import type { RunnerConfig } from './runner-config.ts';
import { ToolProcess } from './tool-process.ts';

const ENTRY = 'main.js';

type SlotDeps = Omit<RunnerDeps, 'config'> & { config: RunnerConfig };

/** The place of one project's process for one bundle: started when needed, stopped when idle, replaced when it fails. */
export class ToolSlot {
  readonly #projectRoot: string;
  readonly #bundleDir: string;
  readonly #deps: SlotDeps;
  readonly #backoff = new CrashBackoff();
  /** Every process that may still live: besides the current one those that finish their last calls. */
  readonly #processes = new Set<ToolProcess>();
  #current: Promise<ToolProcess> | null = null;
  #idleTimer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(projectRoot: string, bundleDir: string, deps: SlotDeps) {
    this.#projectRoot = projectRoot;
    this.#bundleDir = bundleDir;
    this.#deps = deps;
  }

  async run(call: ToolCall): Promise<RunResult> {
    const process = await unlessAborted(this.#acquire(call.tool), call);
    // Closed in the moment between: nothing was sent yet, so another process may take the call.
    if (!process.isOpen) return this.run(call);
    clearTimeout(this.#idleTimer);
    const result = await process.call(call);
    this.#backoff.succeeded();
    return result;
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
    const { sandbox, policyFor } = this.#deps;
    const policy = policyFor(this.#projectRoot);
    const program = { bundleDir: this.#bundleDir, entry: ENTRY, args: [], env: {} };
    const startedAt = this.#deps.clock.monotonic();
    const opened = await sandbox.open(policy, program);
    if (this.#isStopped) {
      await opened.kill();
      throw new ContextdError('INTERRUPTED', 'contextd was stopped while the tool started');
    }
    const process: ToolProcess = new ToolProcess(opened, {
      ...this.#deps,
      policy,
      onIdle: () => this.#scheduleStop(process),
      onClosed: (fault) => this.#closed(fault),
    });
    this.#processes.add(process);
    void opened.exited.then(() => this.#processes.delete(process));
    await process.ready();
    this.#scheduleStop(process);
    const startMs = Math.round(this.#deps.clock.monotonic() - startedAt);
    this.#deps.logger.info('tool.started', { project: this.#projectRoot, start_ms: startMs });
    return process;
  }

  /** Only the current process reports here while it is current: it is closed once, and a new one starts after that. */
  #closed(fault: ContextdError | null): void {
    this.#current = null;
    clearTimeout(this.#idleTimer);
    if (fault === null || this.#isStopped) return;
    this.#backoff.failed(this.#deps.clock.monotonic());
    this.#deps.logger.warn('tool.failed', {
      project: this.#projectRoot,
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
  }

  #backingOff(tool: string, waitMs: number): ContextdError {
    return new ContextdError('TOOL_CRASHED', `${tool} failed ${this.#backoff.failures} times in a row`, {
      remedy: `Call again in ${waitMs} ms. If it stays, see \`ctxd server logs\`.`,
      retryAfterMs: waitMs,
    });
  }
}

/** A caller who gives up while the process starts is answered at once; the start goes on for the next call. */
function unlessAborted(starting: Promise<ToolProcess>, { tool, signal }: ToolCall): Promise<ToolProcess> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(new ContextdError('CANCELLED', `${tool} was cancelled before it began`));
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    starting.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
