import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { FrameError, OUTPUT_CEILING_BYTES } from '../protocol/frame-codec.ts';
import { type ExecSpec, TOOL_PROTOCOL_VERSION, type ToolFrame } from '../protocol/tool-frames.ts';
import { toFailure } from '../protocol/tool-output.ts';
import type { Sandbox, SandboxPolicy, SandboxProcess } from '../sandbox/sandbox.ts';
import { crashed, describeExit, tooLarge, versionMismatch } from './faults.ts';
import { HostApi } from './host-api.ts';
import { PendingCall } from './pending-call.ts';
import { PROTECTED_PATHS } from './protected-paths.ts';
import type { RunResult, ToolCall } from './runner.ts';
import type { RunnerConfig } from './runner-config.ts';
import { logLastWords } from './stderr-log.ts';
import { ToolChannel } from './tool-channel.ts';

export interface ToolProcessDeps {
  policy: SandboxPolicy;
  sandbox: Sandbox;
  logger: Logger;
  clock: Clock;
  config: RunnerConfig;
  /** No call is under way any more. */
  onIdle(): void;
  /** Once, when the process takes no more calls; the fault when that was not asked for. */
  onClosed(fault: ContextdError | null): void;
}

interface Entry {
  pending: PendingCall;
  host: HostApi;
}

/** The daemon's handle of one sandboxed tool process. */
export class ToolProcess {
  readonly #process: SandboxProcess;
  readonly #deps: ToolProcessDeps;
  readonly #channel: ToolChannel;
  readonly #entries = new Map<number, Entry>();
  readonly #hello: Promise<void>;
  #settleHello: (fault: ContextdError | null) => void = () => {};
  #tools: ReadonlySet<string> = new Set();
  #lastId = 0;
  #isClosed = false;
  #isDead = false;
  #pingTimer: NodeJS.Timeout | undefined;

  constructor(process: SandboxProcess, deps: ToolProcessDeps) {
    this.#process = process;
    this.#deps = deps;
    this.#hello = new Promise((resolve, reject) => {
      this.#settleHello = (fault) => (fault === null ? resolve() : reject(fault));
    });
    this.#hello.catch(() => {});
    this.#channel = new ToolChannel(process.channel, {
      onFrame: (frame) => this.#receive(frame),
      onEnd: (reason) => void this.#crash(reason),
    });
    logLastWords(process, deps.logger);
    void process.exited.then(({ code, signal }) => this.#crash(describeExit(code, signal)));
    this.#channel.send({ type: 'hello', version: TOOL_PROTOCOL_VERSION, protected_paths: PROTECTED_PATHS });
  }

  /** Settles when the process said hello. Throws TOOL_CRASHED, or VERSION_MISMATCH naming both versions. */
  ready(): Promise<void> {
    const { startDeadlineMs } = this.#deps.config;
    const timer = setTimeout(
      () => this.#fail(crashed(`it did not start within ${startDeadlineMs} ms`)),
      startDeadlineMs,
    );
    return this.#hello.finally(() => clearTimeout(timer));
  }

  /** False once it was stopped, has died, or ignored a cancel: calls under way go on, new ones need another process. */
  get isOpen(): boolean {
    return !this.#isClosed;
  }

  get activeCalls(): number {
    return this.#entries.size;
  }

  async call(call: ToolCall): Promise<RunResult> {
    this.#checkCallable(call);
    const startedAt = this.#deps.clock.monotonic();
    const { pending, host } = this.#begin(call, startedAt);
    const { output, firstPass } = await pending.result;
    const durationMs = this.#deps.clock.monotonic() - startedAt;
    return { output, firstPass, durationMs, quarantined: host.quarantined };
  }

  /** Kills the process tree and waits; calls under way fail with `fault`. Idempotent. */
  async stop(fault: ContextdError): Promise<void> {
    this.#fail(fault, null);
    await this.#process.kill();
  }

  #checkCallable({ tool, signal }: ToolCall): void {
    if (signal.aborted) throw new ContextdError('CANCELLED', `${tool} was cancelled before it began`);
    if (this.#isClosed) throw crashed('it was already closed');
    if (this.#tools.has(tool)) return;
    throw new ContextdError('TOOL_NOT_FOUND', `the tool process does not serve ${tool}`, {
      remedy: 'Install the tool again: its bundle does not hold what its manifest names.',
    });
  }

  #begin(call: ToolCall, startedAt: number): Entry {
    this.#lastId += 1;
    const id = this.#lastId;
    const pending = new PendingCall({
      id,
      tool: call.tool,
      timeoutMs: call.timeoutMs,
      callerSignal: call.signal,
      config: this.#deps.config,
      send: (frame) => this.#channel.send(frame),
      onUnresponsive: () => this.#retire(),
    });
    const outputMaxBytes = Math.min(call.outputMaxBytes, OUTPUT_CEILING_BYTES);
    const hostCall = { ...call, outputMaxBytes, endsAt: startedAt + call.timeoutMs, signal: pending.workSignal };
    const entry = { pending, host: new HostApi(hostCall, this.#deps.policy, this.#deps) };
    this.#entries.set(id, entry);
    pending.result.then(
      () => this.#forget(id),
      () => this.#forget(id),
    );
    this.#sendCall(id, call, outputMaxBytes);
    return entry;
  }

  #sendCall(id: number, call: ToolCall, outputMaxBytes: number): void {
    try {
      this.#channel.send({
        type: 'call',
        id,
        request_id: call.requestId,
        tool: call.tool,
        workspace: call.projectRoot,
        etag_key: call.etagKey,
        timeout_ms: call.timeoutMs,
        output_max_bytes: outputMaxBytes,
        input: call.input,
      });
    } catch (thrown) {
      this.#entries.get(id)?.pending.fail(tooLarge(thrown, `the arguments of ${call.tool}`));
    }
  }

  #forget(id: number): void {
    this.#entries.delete(id);
    if (this.#entries.size > 0) return;
    if (this.#isClosed && !this.#isDead) this.#fail(crashed('it ignored a cancel'));
    else if (!this.#isClosed) this.#deps.onIdle();
  }

  #receive(frame: ToolFrame): void {
    switch (frame.type) {
      case 'hello':
        this.#greet(frame);
        break;
      case 'pong':
        clearTimeout(this.#pingTimer);
        break;
      case 'exec':
        void this.#exec(frame.id, frame.exec, frame.spec);
        break;
      case 'log':
        this.#entries.get(frame.id)?.host.log(frame.level, frame.message);
        break;
      case 'scanning':
        this.#entries.get(frame.id)?.pending.scanning(frame.chars);
        break;
      case 'result':
        this.#entries.get(frame.id)?.pending.succeed(frame);
        break;
      case 'error':
        this.#entries.get(frame.id)?.pending.failWith(frame.error);
        break;
    }
  }

  #greet(frame: { version: number; tools: readonly string[] }): void {
    if (frame.version !== TOOL_PROTOCOL_VERSION) {
      this.#fail(versionMismatch(frame.version));
      return;
    }
    this.#tools = new Set(frame.tools);
    this.#settleHello(null);
  }

  async #exec(id: number, exec: number, spec: ExecSpec): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    try {
      const result = await entry.host.exec(spec);
      const endedBy = result.ended_by === 'cancelled' ? (entry.pending.ending ?? 'cancelled') : result.ended_by;
      this.#channel.send({ type: 'exec_result', id, exec, result: { ...result, ended_by: endedBy } });
    } catch (thrown) {
      const fault =
        thrown instanceof FrameError ? tooLarge(thrown, 'the output of the command') : ContextdError.from(thrown);
      if (fault !== thrown) this.#deps.logger.error('tool.exec_failed', {}, thrown);
      this.#channel.send({ type: 'exec_error', id, exec, error: toFailure(fault) });
    }
  }

  /**
   * A tool ignored its cancel. No new calls come here; the others finish and then it is killed. If its event loop
   * hangs, no other call can finish, so it is killed as soon as it leaves a ping unanswered.
   */
  #retire(): void {
    if (this.#isClosed) return;
    this.#close(crashed('it ignored a cancel'));
    const { pingDeadlineMs } = this.#deps.config;
    this.#pingTimer = setTimeout(() => this.#fail(crashed('it does not respond')), pingDeadlineMs);
    this.#channel.send({ type: 'ping', nonce: this.#lastId });
  }

  #crash(reason: string): void {
    this.#fail(crashed(reason));
  }

  /** Nothing more comes of this process: every call under way fails at once with one reason. */
  #fail(fault: ContextdError, reported: ContextdError | null = fault): void {
    if (this.#isDead) return;
    this.#isDead = true;
    clearTimeout(this.#pingTimer);
    this.#close(reported);
    this.#channel.close();
    this.#settleHello(fault);
    for (const { pending } of this.#entries.values()) pending.fail(fault);
    this.#process.kill().catch((cause: unknown) => this.#deps.logger.error('tool.kill_failed', {}, cause));
  }

  #close(fault: ContextdError | null): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#deps.onClosed(fault);
  }
}
