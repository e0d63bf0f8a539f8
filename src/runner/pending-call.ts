import { ContextdError } from '../core/errors.ts';
import { fromFailure, type ScannedOutput, type ToolFailure } from '../protocol/tool-output.ts';
import type { RunnerConfig } from './runner.ts';

export type CancelReason = 'timeout' | 'cancelled';

export interface PendingDeps {
  tool: string;
  timeoutMs: number;
  /** True if the tool's own profile sets the time, which is less than the caller asked for. */
  isToolLimit: boolean;
  /** The caller's signal: aborts when nobody wants the answer any more. */
  callerSignal: AbortSignal;
  config: RunnerConfig;
  /** Asks the tool to end and to answer with what it has. False if the tool cannot be asked. */
  askToEnd(reason: CancelReason): Promise<boolean>;
  /**
   * Called with the reason if the tool did not answer in time after a cancel, or did not finish the search for secrets:
   * its process gets no more calls.
   */
  onUnresponsive(reason: string): void;
}

/**
 * The time of one call. It ends with an answer, at its deadline, or when the caller cancels. In the last two cases the
 * tool is asked to end and gets a grace period to answer with what it has; after that the call ends without it.
 */
export class PendingCall {
  readonly result: Promise<ScannedOutput>;
  readonly #deps: PendingDeps;
  readonly #work = new AbortController();
  readonly #onCallerAbort = () => this.#cancel();
  #resolve: (output: ScannedOutput) => void = () => {};
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

  /** Aborts what the host does for this call: when it is cancelled, and when it is settled for any reason. */
  get workSignal(): AbortSignal {
    return this.#work.signal;
  }

  /** Why the call is about to end, or null. */
  get ending(): CancelReason | null {
    return this.#ending;
  }

  /**
   * The tool is done and its output is being searched for secrets. This is not the tool's time. Counts once per call.
   */
  scanning(chars: number): void {
    if (this.#isSettled || this.#isScanning) return;
    this.#isScanning = true;
    if (this.#ending === 'cancelled') return;
    const { scanBaseMs, scanPerKibMs } = this.#deps.config;
    const limitMs = Math.round(Math.min(scanBaseMs + (chars / 1024) * scanPerKibMs, 10 * scanBaseMs));
    this.#restart(() => (this.#ending === null ? this.#abandonSearch(limitMs) : this.#abandon()), limitMs);
  }

  succeed(output: ScannedOutput): void {
    this.#settle(() => this.#resolve(output));
  }

  failWith(failure: ToolFailure): void {
    this.gaveUp(fromFailure(failure));
  }

  /** The tool gave up. If it was asked to, the reason is ours, whatever the tool calls it. */
  gaveUp(error: ContextdError): void {
    const didObey = error.code === 'CANCELLED' || error.code === 'TIMEOUT';
    this.fail(didObey && this.#ending !== null ? this.#endingFault(this.#ending) : error);
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
    this.#restart(() => this.#abandon(), this.#deps.config.cancelGraceMs);
    void this.#deps.askToEnd(reason).then((wasAsked) => {
      if (!wasAsked) this.fail(this.#endingFault(reason));
    });
  }

  #abandon(): void {
    const didObey = this.#isScanning && this.#ending === 'cancelled';
    this.fail(this.#endingFault(this.#ending ?? 'timeout'));
    if (!didObey) this.#deps.onUnresponsive('it ignored a cancel');
  }

  /** The tool was in time; the search of what it returned was not. */
  #abandonSearch(limitMs: number): void {
    const { tool } = this.#deps;
    const fault = new ContextdError(
      'TIMEOUT',
      `${tool} was done, but the search of its output for secrets did not finish within ${limitMs} ms`,
      {
        remedy:
          'Ask for less at once, such as some lines or the matches of a pattern. A larger timeout_ms does not help.',
        details: { search_limit_ms: limitMs },
      },
    );
    this.fail(fault);
    this.#deps.onUnresponsive('its search for secrets took too long');
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
    const { tool, timeoutMs, isToolLimit } = this.#deps;
    if (reason === 'cancelled') return new ContextdError('CANCELLED', `${tool} was cancelled`);
    return new ContextdError('TIMEOUT', `${tool} did not finish within ${timeoutMs} ms`, {
      remedy: isToolLimit
        ? 'Ask for less at once: its tool.json allows no more time.'
        : 'Ask for less at once, or pass a larger timeout_ms; timeout.max_ms limits it.',
      details: { timeout_ms: timeoutMs },
    });
  }
}
