import { ContextdError } from '../core/errors.ts';
import type { CancelReason, DaemonFrame } from '../protocol/tool-frames.ts';
import { fromFailure, type SecretSpan, type ToolFailure, type ToolOutput } from '../protocol/tool-output.ts';
import type { RunnerConfig } from './runner-config.ts';

/** What a call is settled with. */
export interface CallOutput {
  output: ToolOutput;
  firstPass: readonly (readonly SecretSpan[])[];
}

export interface PendingDeps {
  id: number;
  tool: string;
  timeoutMs: number;
  /** The caller's: aborts when nobody wants the answer any more. */
  callerSignal: AbortSignal;
  config: RunnerConfig;
  send(frame: DaemonFrame): void;
  /** The tool did not answer in the grace after a cancel: its process is not to be trusted with more. */
  onUnresponsive(): void;
}

/**
 * The time of one call: it ends with an answer, at its deadline or when the caller cancels. Then the tool is told and
 * gets a grace to answer with what it has; after that the call is answered without it.
 */
export class PendingCall {
  readonly result: Promise<CallOutput>;
  readonly #deps: PendingDeps;
  readonly #work = new AbortController();
  readonly #onCallerAbort = () => this.#cancel();
  #resolve: (output: CallOutput) => void = () => {};
  #reject: (error: ContextdError) => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #ending: CancelReason | null = null;
  #isScanning = false;
  #isSettled = false;

  constructor(deps: PendingDeps) {
    this.#deps = deps;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#timer = setTimeout(() => this.#expire(), deps.timeoutMs);
    deps.callerSignal.addEventListener('abort', this.#onCallerAbort, { once: true });
  }

  /** Aborts what the host does for this call: when it was cancelled, and when it is settled whatever the outcome. */
  get workSignal(): AbortSignal {
    return this.#work.signal;
  }

  /** Why the call is coming to its end, or null. */
  get ending(): CancelReason | null {
    return this.#ending;
  }

  /** The tool is done; its output is being searched for secrets. That is not the tool's time (once per call). */
  scanning(chars: number): void {
    if (this.#isSettled || this.#isScanning) return;
    this.#isScanning = true;
    if (this.#ending === 'cancelled') return;
    const { scanBaseMs, scanPerKibMs } = this.#deps.config;
    this.#restart(() => this.#abandon(), Math.min(scanBaseMs + (chars / 1024) * scanPerKibMs, 10 * scanBaseMs));
  }

  succeed(output: CallOutput): void {
    this.#settle(() => this.#resolve(output));
  }

  /** The tool gave up because it was told to: the reason is ours, whatever it calls it. */
  failWith(failure: ToolFailure): void {
    const gaveUp = failure.code === 'CANCELLED' || failure.code === 'TIMEOUT';
    this.fail(gaveUp && this.#ending !== null ? this.#endingFault(this.#ending) : fromFailure(failure));
  }

  fail(error: ContextdError): void {
    this.#settle(() => this.#reject(error));
  }

  #expire(): void {
    this.#end('timeout');
  }

  #cancel(): void {
    this.#work.abort();
    if (this.#isScanning) this.fail(this.#endingFault('cancelled'));
    else if (this.#ending === null) this.#end('cancelled');
  }

  #end(reason: CancelReason): void {
    this.#ending = reason;
    this.#deps.send({ type: 'cancel', id: this.#deps.id, reason });
    this.#restart(() => this.#abandon(), this.#deps.config.cancelGraceMs);
  }

  #abandon(): void {
    const didObey = this.#isScanning && this.#ending === 'cancelled';
    this.fail(this.#endingFault(this.#ending ?? 'timeout'));
    if (!didObey) this.#deps.onUnresponsive();
  }

  #restart(action: () => void, ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(action, ms);
  }

  #settle(how: () => void): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.#deps.callerSignal.removeEventListener('abort', this.#onCallerAbort);
    how();
    this.#work.abort();
  }

  #endingFault(reason: CancelReason): ContextdError {
    const { tool, timeoutMs } = this.#deps;
    if (reason === 'cancelled') return new ContextdError('CANCELLED', `${tool} was cancelled`);
    return new ContextdError('TIMEOUT', `${tool} was not done after ${timeoutMs} ms`, {
      remedy: 'Ask for less at once, or pass a larger timeout_ms.',
      details: { timeout_ms: timeoutMs },
    });
  }
}
