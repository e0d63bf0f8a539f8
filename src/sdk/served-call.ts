import { ContextdError } from '../core/errors.ts';
import { type CallFrame, type CancelReason, cutLogMessage, type ToolFrame } from '../protocol/tool-frames.ts';
import { type ExecResult, fromFailure, type ToolFailure } from '../protocol/tool-output.ts';
import type { ExecSpec, ToolContext, ToolHost } from './tool.ts';

interface Waiting {
  resolve(result: ExecResult): void;
  reject(error: ContextdError): void;
}

/** One call inside the tool process: its context, and what it still waits for from the host. */
export class ServedCall {
  readonly context: ToolContext;
  readonly #frame: CallFrame;
  readonly #send: (frame: ToolFrame) => void;
  readonly #abort = new AbortController();
  readonly #execs = new Map<number, Waiting>();
  #lastExec = 0;

  constructor(frame: CallFrame, protectedPaths: readonly string[], send: (frame: ToolFrame) => void) {
    this.#frame = frame;
    this.#send = send;
    this.context = {
      requestId: frame.request_id,
      workspace: frame.workspace,
      protectedPaths,
      etagKey: frame.etag_key,
      deadlineMs: Date.now() + frame.timeout_ms,
      outputMaxBytes: frame.output_max_bytes,
      signal: this.#abort.signal,
      host: this.#host(),
    };
  }

  /** Commands under way are ended by the host, whose results still come: with what was printed so far. */
  cancel(reason: CancelReason): void {
    const fault =
      reason === 'timeout'
        ? new ContextdError('TIMEOUT', `${this.#frame.tool} was not done after ${this.#frame.timeout_ms} ms`)
        : new ContextdError('CANCELLED', `${this.#frame.tool} was cancelled`);
    this.#abort.abort(fault);
  }

  finishExec(exec: number, result: ExecResult): void {
    this.#take(exec)?.resolve(result);
  }

  failExec(exec: number, error: ToolFailure): void {
    this.#take(exec)?.reject(fromFailure(error));
  }

  #host(): ToolHost {
    return {
      exec: (spec) => this.#exec(spec),
      log: (level, message) => this.#send({ type: 'log', id: this.#frame.id, level, message: cutLogMessage(message) }),
    };
  }

  #exec(spec: ExecSpec): Promise<ExecResult> {
    this.#lastExec += 1;
    const exec = this.#lastExec;
    return new Promise((resolve, reject) => {
      this.#execs.set(exec, { resolve, reject });
      this.#send({ type: 'exec', id: this.#frame.id, exec, spec });
    });
  }

  #take(exec: number): Waiting | undefined {
    const waiting = this.#execs.get(exec);
    this.#execs.delete(exec);
    return waiting;
  }
}
