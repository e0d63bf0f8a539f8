import { randomUUID } from 'node:crypto';
import { ContextdError } from '../core/errors.ts';
import { OUTPUT_CEILING_BYTES } from '../protocol/tool-output.ts';
import type { SandboxProcess } from '../sandbox/sandbox.ts';
import { HostApi, type HostDeps } from './host-api.ts';
import { PendingCall } from './pending-call.ts';
import { within } from './plugin/within.ts';
import { brokeProtocol, crashed, describeExit, type LinkDeps, linkPlugin, type PluginLink } from './plugin-link.ts';
import type { RunResult, ToolCall } from './runner.ts';
import type { CallStream, ToolClient } from './tool-client.ts';

export interface ToolProcessDeps extends HostDeps, LinkDeps {
  /**
   * Which directory the project was when the process was opened (`directoryIdentity`): that directory is mounted
   * inside.
   */
  directory: string;
  origin: 'core' | 'installed';
  /** Called when no call is under way any more. */
  onIdle(): void;
  /** Called once, when the process takes no more calls; with the fault if nobody asked it to close. */
  onClosed(fault: ContextdError | null): void;
}

interface Entry {
  pending: PendingCall;
  host: HostApi;
  stream: CallStream | null;
}

/** Milliseconds that a call waits for the reason after its stream broke. Ends only if the connection itself is whole. */
const REASON_WAIT_MS = 5_000;

/** The daemon's handle of one sandboxed tool process. */
export class ToolProcess {
  readonly #process: SandboxProcess;
  readonly #deps: ToolProcessDeps;
  /** Calls under way, by an id that only their own process knows. */
  readonly #entries = new Map<string, Entry>();
  #link: PluginLink | null = null;
  #isClosed = false;
  #fault: ContextdError | null = null;

  constructor(process: SandboxProcess, deps: ToolProcessDeps) {
    this.#process = process;
    this.#deps = deps;
  }

  /** Settles when the process can be called. Throws TOOL_CRASHED, or VERSION_MISMATCH naming both versions. */
  async ready(): Promise<void> {
    try {
      this.#link = await this.#connect();
    } catch (thrown) {
      const fault = this.#fault ?? ContextdError.from(thrown);
      this.#fail(fault);
      throw fault;
    }
    void this.#process.exited.then(({ code, signal }) => this.#fail(crashed(describeExit(code, signal))));
    void this.#link.connection.closed.then(() => this.#loseConnection());
    void this.#process.stale.then(() => this.phaseOut());
    if (this.#fault === null) return;
    await this.#kill();
    throw this.#fault;
  }

  /** False after it was stopped, died, or ignored a cancel: calls under way go on, new ones need another process. */
  get isOpen(): boolean {
    return !this.#isClosed;
  }

  /** The directory that the process has mounted as its project. */
  get directory(): string {
    return this.#deps.directory;
  }

  get activeCalls(): number {
    return this.#entries.size;
  }

  async call(call: ToolCall): Promise<RunResult> {
    const link = this.#checkCallable(call);
    const startedAt = this.#deps.clock.monotonic();
    const { pending, host } = this.#begin(call, link, startedAt);
    try {
      const scanned = await pending.result;
      await host.finished(this.#deps.config.cancelGraceMs);
      return { ...scanned, durationMs: this.#deps.clock.monotonic() - startedAt, ...host.facts };
    } catch (thrown) {
      await host.finished(this.#deps.config.cancelGraceMs);
      throw thrown;
    } finally {
      call.onFacts?.(host.facts);
    }
  }

  /**
   * Asks the process to end, kills its tree if it does not end in time, and waits. Calls under way fail with `fault`.
   * Idempotent.
   */
  async stop(fault: ContextdError): Promise<void> {
    const isDead = this.#fault !== null;
    this.#end(fault, null);
    if (this.#link !== null && !isDead) await this.#link.connection.stop();
    await this.#process.kill();
  }

  /**
   * The sandbox no longer has the current project mounted, or no longer protects it. New calls go to another process;
   * calls under way finish.
   */
  phaseOut(): void {
    this.#close(null);
    if (this.#entries.size === 0) this.#leave();
  }

  #connect(): Promise<PluginLink> {
    return linkPlugin(this.#process, this.#deps, {
      origin: this.#deps.origin,
      backlogMaxChars: this.#deps.config.backlogMaxChars,
      find: (callId) => this.#entries.get(callId)?.host,
      onOverrun: () => this.#fail(brokeProtocol('it does not read what is sent to it')),
    });
  }

  #checkCallable({ tool, signal }: ToolCall): PluginLink {
    if (signal.aborted) throw new ContextdError('CANCELLED', `${tool} was cancelled before it began`);
    if (this.#isClosed || this.#link === null) throw crashed('it was already closed');
    if (this.#link.tools.has(tool)) return this.#link;
    throw new ContextdError('TOOL_NOT_FOUND', `the tool process does not serve ${tool}`, {
      remedy: 'Install the tool again: its bundle does not hold what its manifest names.',
    });
  }

  #begin(call: ToolCall, { client }: PluginLink, startedAt: number): Entry {
    const callId = randomUUID();
    const timeoutMs = Math.min(call.timeoutMs, call.profile.limits.timeoutMs ?? Infinity);
    const pending = new PendingCall({
      tool: call.tool,
      timeoutMs,
      isToolLimit: timeoutMs < call.timeoutMs,
      callerSignal: call.signal,
      config: this.#deps.config,
      askToEnd: (reason) => client.cancel(callId, reason),
      onUnresponsive: (reason) => void this.#retire(reason),
    });
    const outputMaxBytes = Math.min(call.outputMaxBytes, OUTPUT_CEILING_BYTES);
    const hostCall = {
      ...call,
      session: call.session,
      outputMaxBytes,
      endsAt: startedAt + timeoutMs,
      signal: pending.workSignal,
      ending: () => pending.ending,
    };
    const entry: Entry = { pending, host: new HostApi(hostCall, this.#deps), stream: null };
    this.#entries.set(callId, entry);
    pending.result.then(
      () => this.#forget(callId, this.#deps.config.cancelGraceMs),
      () => this.#forget(callId, 0),
    );
    entry.stream = this.#send(callId, { ...call, timeoutMs, outputMaxBytes }, client, pending);
    return entry;
  }

  #send(callId: string, call: ToolCall, client: ToolClient, pending: PendingCall): CallStream {
    const request = {
      call_id: callId,
      request_id: call.requestId,
      tool: call.tool,
      input_json: Buffer.from(JSON.stringify(call.input)),
      workspace: call.session.project,
      etag_key: call.etagKey,
      timeout_ms: call.timeoutMs,
      output_max_bytes: call.outputMaxBytes,
      cwd: call.cwd,
      ...(call.view === null ? {} : { view_json: Buffer.from(JSON.stringify(call.view)) }),
    };
    return client.call(request, {
      scanning: (chars) => pending.scanning(chars),
      output: (output) => pending.succeed(output),
      failure: (failure) => pending.failWith(failure),
      refused: (error) => pending.gaveUp(error),
      broken: (reason) => this.#fail(brokeProtocol(reason)),
      lost: () => void this.#loseConnection(),
    });
  }

  /** The call is over: its id is refused from now on. A tool that answered may end the stream itself. */
  #forget(callId: string, streamGraceMs: number): void {
    this.#entries.get(callId)?.stream?.close(streamGraceMs);
    this.#entries.delete(callId);
    if (this.#entries.size > 0) return;
    if (this.#isClosed) this.#leave();
    else this.#deps.onIdle();
  }

  /** Stops the process, which takes no calls and has none. */
  #leave(): void {
    const retired = crashed('it was replaced');
    this.stop(retired).catch((cause: unknown) => this.#deps.logger.error('tool.stop_failed', {}, cause));
  }

  /**
   * A tool ignored its cancel or searches for too long. New calls go to another process; the others finish and then it is killed. If its event
   * loop hangs, no other call can finish, so it is killed as soon as it leaves a health check unanswered.
   */
  async #retire(reason: string): Promise<void> {
    if (this.#isClosed || this.#link === null) return;
    this.#close(crashed(reason));
    const answers = this.#link.connection.ping().then(
      () => true,
      () => false,
    );
    const isAlive = await within(this.#deps.config.pingDeadlineMs, answers);
    if (isAlive !== true) this.#fail(crashed('it does not respond'));
  }

  /** The process usually ends a moment later, and how it ended is the better reason. */
  async #loseConnection(): Promise<void> {
    if (this.#fault !== null) return;
    const closed = await within(REASON_WAIT_MS, this.#link?.connection.closed ?? Promise.resolve(null));
    this.#fail(crashed(closed?.message ?? 'its connection broke'));
  }

  /** The process has failed: every call under way fails at once with one reason. */
  #fail(fault: ContextdError): void {
    if (this.#fault !== null) return;
    this.#end(fault, fault);
    this.#kill().catch((cause: unknown) => this.#deps.logger.error('tool.kill_failed', {}, cause));
  }

  async #kill(): Promise<void> {
    await this.#process.kill();
    await this.#link?.connection.stop();
  }

  #end(fault: ContextdError, reported: ContextdError | null): void {
    if (this.#fault !== null) return;
    this.#fault = fault;
    this.#close(reported);
    for (const { pending } of this.#entries.values()) pending.fail(fault);
  }

  #close(fault: ContextdError | null): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#deps.onClosed(fault);
  }
}
