import { ContextdError } from '../core/errors.ts';
import {
  type Findings,
  fromFailure,
  type ScannedOutput,
  type ToolFailure,
  type ToolOutput,
} from '../protocol/tool-output.ts';
import type { RunnerConfig, ToolAnswer } from './runner.ts';

export type CancelReason = 'timeout' | 'cancelled';

export interface PendingDeps {
  tool: string;
  timeoutMs: number;
  /** True if the tool's own profile sets the timeout, because it is shorter than the caller's. */
  isToolLimit: boolean;
  /** The caller's signal. Aborts when the answer is no longer wanted. */
  callerSignal: AbortSignal;
  config: RunnerConfig;
  /** Asks the tool to stop and return what it has. False if the tool cannot be asked. */
  askToEnd(reason: CancelReason): Promise<boolean>;
  /**
   * Called with the reason if the tool did not answer within the grace period after a cancel, or if the search for
   * secrets ran over its limit. Its process gets no more calls.
   */
  onUnresponsive(reason: string): void;
}

/**
 * The deadline of one call. The call ends with an answer, at its deadline, or when the caller cancels. In the last two
 * cases the tool is asked to stop and gets a grace period to return what it has; after that the call ends without it. The
 * search of a long output goes on after the result, with a limit of its own.
 */
export class PendingCall {
  readonly result: Promise<ToolAnswer>;
  /** Settles when nothing more is expected of the tool, its search included. True if it sent all of it. */
  readonly ended: Promise<boolean>;
  readonly #deps: PendingDeps;
  readonly #work = new AbortController();
  readonly #onCallerAbort = () => this.#cancel();
  #resolve: (output: ToolAnswer) => void = () => {};
  #reject: (error: ContextdError) => void = () => {};
  #end: (isComplete: boolean) => void = () => {};
  /** Set while the search goes on. */
  #endSearch: ((found: Findings | ContextdError) => void) | null = null;
  #searchedChars = 0;
  #timer: NodeJS.Timeout | undefined;
  #ending: CancelReason | null = null;
  #isSettled = false;

  constructor(deps: PendingDeps) {
    this.#deps = deps;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#timer = setTimeout(() => this.#expire(), deps.timeoutMs);
    deps.callerSignal.addEventListener('abort', this.#onCallerAbort, { once: true });
  }

  /** Aborts the host's work for this call once it is cancelled or settled. */
  get workSignal(): AbortSignal {
    return this.#work.signal;
  }

  /** Why the call is ending, or null. */
  get ending(): CancelReason | null {
    return this.#ending;
  }

  /** UTF-16 characters that the process still searches for this call. */
  get searchedChars(): number {
    return this.#isSettled ? 0 : this.#searchedChars;
  }

  /** `waitsForChars`: what the process searches before this output. */
  succeed({ output, firstPass }: ScannedOutput, waitsForChars: number): void {
    if (this.#isSettled || this.#endSearch !== null) return;
    if (firstPass !== null) {
      this.#settle(true, () => this.#resolve({ output, firstPass }));
      return;
    }
    const found = new Promise<Findings | ContextdError>((resolve) => {
      this.#endSearch = resolve;
    });
    this.#resolve({ output, firstPass: found });
    this.#work.abort();
    this.#searchedChars = charsOf(output);
    if (this.#ending !== 'cancelled') this.#limitSearch(waitsForChars + this.#searchedChars);
  }

  /** The end of a search that the output announced. */
  found(findings: Findings): void {
    this.#settle(true, () => this.#endSearch?.(findings));
  }

  failWith(failure: ToolFailure): void {
    this.gaveUp(fromFailure(failure));
  }

  /** The tool gave up. If it was asked to, our reason replaces the tool's. */
  gaveUp(error: ContextdError): void {
    const didObey = error.code === 'CANCELLED' || error.code === 'TIMEOUT';
    this.fail(didObey && this.#ending !== null ? this.#endingFault(this.#ending) : error);
  }

  fail(error: ContextdError): void {
    this.#settle(false, () => (this.#endSearch ?? this.#reject)(error));
  }

  #limitSearch(chars: number): void {
    const { scanBaseMs, scanPerKibMs } = this.#deps.config;
    const limitMs = Math.round(Math.min(scanBaseMs + (chars / 1024) * scanPerKibMs, 10 * scanBaseMs));
    this.#restart(() => (this.#ending === null ? this.#abandonSearch(limitMs) : this.#abandon()), limitMs);
  }

  #expire(): void {
    this.#askToEnd('timeout');
  }

  #cancel(): void {
    this.#work.abort();
    if (this.#endSearch !== null) this.fail(this.#endingFault('cancelled'));
    else if (this.#ending === null) this.#askToEnd('cancelled');
  }

  #askToEnd(reason: CancelReason): void {
    this.#ending = reason;
    this.#restart(() => this.#abandon(), this.#deps.config.cancelGraceMs);
    void this.#deps.askToEnd(reason).then((wasAsked) => {
      if (!wasAsked) this.fail(this.#endingFault(reason));
    });
  }

  #abandon(): void {
    const didObey = this.#endSearch !== null && this.#ending === 'cancelled';
    this.fail(this.#endingFault(this.#ending ?? 'timeout'));
    if (!didObey) this.#deps.onUnresponsive('it ignored a cancel');
  }

  /** The tool finished in time, but the search of its output did not. */
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

  #settle(isComplete: boolean, how: () => void): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.#deps.callerSignal.removeEventListener('abort', this.#onCallerAbort);
    how();
    this.#work.abort();
    this.#end(isComplete);
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

function charsOf({ data, streams = [] }: ToolOutput): number {
  return streams.reduce((sum, { text }) => sum + text.length, JSON.stringify(data).length);
}
