import { randomUUID } from 'node:crypto';
import { within } from '../core/deadline.ts';
import { ContextdError } from '../core/errors.ts';
import { TIMEOUT_LONGEST_MS } from '../core/limits.ts';
import { OUTPUT_CEILING_BYTES } from '../protocol/tool-output.ts';
import type { SandboxProcess } from '../sandbox/contract/sandbox.ts';
import { HostApi, type HostDeps } from './host-api.ts';
import { PendingCall } from './pending-call.ts';
import { brokeProtocol, crashed, describeExit, type LinkDeps, linkPlugin, type PluginLink } from './plugin-link.ts';
import type { PluginCall, ToolRun } from './runner.ts';
import type { CallStream, ToolClient } from './tool-client.ts';

export interface ToolProcessDeps extends HostDeps, LinkDeps {
  /** Identity (`directoryIdentity`) of the mounted project directory, as of when the process was opened. */
  directory: string;
  origin: 'core' | 'installed';
  /** Called when no call is in progress any more. */
  onIdle(): void;
  /** Called once, when the process takes no more calls; with the fault unless it was asked to close. */
  onClosed(fault: ContextdError | null): void;
}

interface Entry {
  pending: PendingCall;
  host: HostApi;
  /** True once the tool has answered: its process may still search the output, and ask the host for nothing more. */
  isAnswered: boolean;
  stream: CallStream | null;
}

/** Milliseconds to wait for the reason after a call's stream broke. Elapses only if the connection is intact. */
const REASON_WAIT_MS = 5_000;

/** The daemon's handle of one sandboxed tool process. */
export class ToolProcess {
  readonly #process: SandboxProcess;
  readonly #deps: ToolProcessDeps;
  /** Calls in progress, by an id known only to their own process. */
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

  /** False once it stopped, died, ignored a cancel or was phased out. New calls need another process. */
  get isOpen(): boolean {
    return !this.#isClosed;
  }

  /** Identity of the directory that is mounted as the project. */
  get directory(): string {
    return this.#deps.directory;
  }

  get activeCalls(): number {
    return this.#entries.size;
  }

  /** Throws CANCELLED, TOOL_CRASHED or TOOL_NOT_FOUND if the call cannot begin. */
  async call(call: PluginCall): Promise<ToolRun> {
    const link = this.#checkCallable(call);
    const startedAt = this.#deps.clock.monotonic();
    const { pending, host } = this.#begin(call, link, startedAt);
    const result = await pending.result.catch(failureOfBegun);
    await host.finished(this.#deps.config.cancelGraceMs);
    const durationMs = this.#deps.clock.monotonic() - startedAt;
    return { outcome: result instanceof ContextdError ? result : { ...result, durationMs }, facts: host.facts };
  }

  /**
   * Asks the process to exit, kills its tree if it does not exit in time, and waits. Calls in progress fail with
   * `fault`. Idempotent.
   */
  async stop(fault: ContextdError): Promise<void> {
    const isDead = this.#fault !== null;
    this.#end(fault, null);
    if (this.#link !== null && !isDead) await this.#link.connection.stop();
    await this.#process.kill();
  }

  /**
   * Called when the sandbox no longer has the current project mounted, or no longer protects it. New calls go to
   * another process; calls in progress finish.
   */
  phaseOut(): void {
    this.#close(null);
    if (this.#entries.size === 0) this.#leave();
  }

  #connect(): Promise<PluginLink> {
    return linkPlugin(this.#process, this.#deps, {
      origin: this.#deps.origin,
      backlogMaxChars: this.#deps.config.backlogMaxChars,
      find: (callId) => this.#hostOf(callId),
      onOverrun: () => this.#fail(brokeProtocol('it does not read what is sent to it')),
    });
  }

  #hostOf(callId: string): HostApi | undefined {
    const entry = this.#entries.get(callId);
    return entry?.isAnswered === false ? entry.host : undefined;
  }

  /** A process searches one output after the other. */
  #charsBeingSearched(): number {
    return [...this.#entries.values()].reduce((sum, { pending }) => sum + pending.searchedChars, 0);
  }

  #checkCallable({ tool, signal }: PluginCall): PluginLink {
    if (signal.aborted) throw new ContextdError('CANCELLED', `${tool} was cancelled before it began`);
    if (this.#isClosed || this.#link === null) throw crashed('it was already closed');
    if (this.#link.tools.has(tool)) return this.#link;
    throw new ContextdError('TOOL_NOT_FOUND', `the tool process does not serve ${tool}`, {
      remedy: 'Install the tool again: its bundle does not hold what its manifest names.',
    });
  }

  #begin(call: PluginCall, { client }: PluginLink, startedAt: number): Entry {
    const callId = randomUUID();
    const { timeoutMs: ownMs = Infinity } = call.program.profile.limits;
    // Above the usual limit it is what a call may ask for, and a person may allow more.
    const timeoutMs = ownMs > TIMEOUT_LONGEST_MS ? call.timeoutMs : Math.min(call.timeoutMs, ownMs);
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
    const entry: Entry = { pending, host: new HostApi(hostCall, this.#deps), isAnswered: false, stream: null };
    this.#entries.set(callId, entry);
    const answered = (): void => {
      entry.isAnswered = true;
    };
    pending.result.then(answered, answered);
    void pending.ended.then((isComplete) => this.#forget(callId, isComplete ? this.#deps.config.cancelGraceMs : 0));
    entry.stream = this.#send(callId, { ...call, timeoutMs, outputMaxBytes }, client, pending);
    return entry;
  }

  #send(callId: string, call: PluginCall, client: ToolClient, pending: PendingCall): CallStream {
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
      output: (output) => pending.succeed(output, this.#charsBeingSearched()),
      findings: (findings) => pending.found(findings),
      failure: (failure) => pending.failWith(failure),
      refused: (error) => pending.gaveUp(error),
      broken: (reason) => this.#fail(brokeProtocol(reason)),
      lost: () => void this.#loseConnection(),
    });
  }

  /** The call is over, and its id is refused from now on. A tool that answered may end the stream itself. */
  #forget(callId: string, streamGraceMs: number): void {
    this.#entries.get(callId)?.stream?.close(streamGraceMs);
    this.#entries.delete(callId);
    if (this.#entries.size > 0) return;
    if (this.#isClosed) this.#leave();
    else this.#deps.onIdle();
  }

  /** Stops a closed process that has no calls left. */
  #leave(): void {
    const retired = crashed('it was replaced');
    this.stop(retired).catch((cause: unknown) => this.#deps.logger.error('tool.stop_failed', {}, cause));
  }

  /**
   * Called when a tool ignored its cancel or its search takes too long. New calls go to another process, and this one
   * is killed once its other calls have finished. A hung event loop finishes no call, so the process is killed at once
   * if it does not answer a health check.
   */
  async #retire(reason: string): Promise<void> {
    if (this.#isClosed || this.#link === null) return;
    this.#close(crashed(reason));
    const answers = this.#link.connection.ping().then(
      () => true,
      () => false,
    );
    const isAlive = await within(this.#deps.config.pingDeadlineMs, answers, () => false);
    if (!isAlive) this.#fail(crashed('it does not respond'));
  }

  /** The process usually exits a moment later, and how it exited is the better reason. */
  async #loseConnection(): Promise<void> {
    if (this.#fault !== null) return;
    const closing = this.#link?.connection.closed ?? Promise.resolve(null);
    const closed = await within(REASON_WAIT_MS, closing, () => null);
    this.#fail(crashed(closed?.message ?? 'its connection broke'));
  }

  /** The process has failed: all calls in progress fail at once with the same reason. */
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

/** Of a call that was sent: a crash may have come after its effects. */
function failureOfBegun(thrown: unknown): ContextdError {
  const failure = ContextdError.from(thrown);
  if (failure.code !== 'TOOL_CRASHED') return failure;
  const { code, message, remedy, cause } = failure;
  const details = { ...failure.details, stopped_by: 'crash' };
  return new ContextdError(code, message, { ...(remedy === undefined ? {} : { remedy }), details, cause });
}
