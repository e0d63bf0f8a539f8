import { ContextdError } from '../core/errors.ts';
import type { CallRequest__Output as CallRequest } from '../protocol/generated/contextd/v1/CallRequest.ts';
import { LOG_LINE_MAX_CHARS } from '../protocol/host-messages.ts';
import type { HostClient } from './host-client.ts';
import type { LogLevel, ToolContext, ToolHost } from './tool.ts';

/** One call inside the tool process: its context, and what it still waits for from the host. */
export class ServedCall {
  readonly context: ToolContext;
  readonly #request: CallRequest;
  readonly #host: HostClient;
  readonly #abort = new AbortController();
  /** Lines on their way: the id of the call opens the log only until the call is answered. */
  readonly #logging = new Set<Promise<void>>();

  constructor(request: CallRequest, protectedPaths: readonly string[], host: HostClient) {
    this.#request = request;
    this.#host = host;
    this.context = {
      requestId: request.request_id,
      workspace: request.workspace,
      protectedPaths,
      etagKey: request.etag_key,
      deadlineMs: Date.now() + request.timeout_ms,
      outputMaxBytes: request.output_max_bytes,
      signal: this.#abort.signal,
      host: this.#hostOf(request.call_id),
    };
  }

  /** Commands under way are ended by the host, whose results still come: with what was printed so far. */
  cancel(reason: 'timeout' | 'cancelled'): void {
    const { tool, timeout_ms } = this.#request;
    const fault =
      reason === 'timeout'
        ? new ContextdError('TIMEOUT', `${tool} was not done after ${timeout_ms} ms`)
        : new ContextdError('CANCELLED', `${tool} was cancelled`);
    this.#abort.abort(fault);
  }

  /** Null: no line is on its way. */
  logged(): Promise<unknown> | null {
    return this.#logging.size === 0 ? null : Promise.all(this.#logging);
  }

  #hostOf(callId: string): ToolHost {
    return {
      exec: (spec) => this.#host.exec(callId, spec),
      scrub: (texts) => this.#host.scrub(callId, texts),
      log: (level, message) => this.#log(callId, level, message),
      ask: (method, request) => this.#host.ask(callId, method, request),
    };
  }

  /** A line that may not be written is dropped: that is no reason for a tool to fail. */
  #log(callId: string, level: LogLevel, message: string): void {
    const sent = this.#host.log(callId, level, message.slice(0, LOG_LINE_MAX_CHARS)).catch(() => {});
    this.#logging.add(sent);
    void sent.then(() => this.#logging.delete(sent));
  }
}
