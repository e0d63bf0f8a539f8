import type { Server, ServerWritableStream } from '@grpc/grpc-js';
import { ContextdError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import {
  type CallEvent,
  type CallRequest__Output as CallRequest,
  CancelReason,
  type DescribeRequest__Output as DescribeRequest,
} from '../protocol/generated/plugin.ts';
import type { ToolPluginHandlers } from '../protocol/generated/plugin-service.ts';
import { LOG_LINE_MAX_CHARS } from '../protocol/host-messages.ts';
import { APP_PROTOCOL_VERSION } from '../protocol/plugin/environment.ts';
import { loadPluginProtocol } from '../protocol/plugin/load-plugin-protocol.ts';
import {
  type Findings,
  packCallOutput,
  packFailure,
  packFindings,
  type ToolOutput,
  type ToolStream,
  toFailure,
} from '../protocol/tool-output.ts';
import { readJsonObject } from '../protocol/wire-bounds.ts';
import { type HostBroker, HostClient } from './host-client.ts';
import { servePlugin } from './plugin/serve-plugin.ts';
import type { LogLevel, Tool, ToolContext, ToolHost } from './tool.ts';

/** Runs a tool process: serves the tools until the daemon ends the process or is gone, then exits. */
export function serveTools(tools: readonly Tool[], options: ServeOptions = {}): void {
  serve(tools, options).then(
    () => process.exit(0),
    (fault: unknown) => {
      process.stderr.write(`${fault instanceof Error ? fault.message : String(fault)}\n`, () => process.exit(1));
    },
  );
}

export function serveTool(tool: Tool, options: ServeOptions = {}): void {
  serveTools([tool], options);
}

async function serve(tools: readonly Tool[], options: ServeOptions): Promise<void> {
  const plugin = await servePlugin({
    appVersion: APP_PROTOCOL_VERSION,
    env: process.env,
    register: (server, broker) => new ToolServer(tools, broker, options).register(server),
  });
  await plugin.closed;
}

/** The part of an output that the first pass searches: strings and keys of data and streams, in that order. */
export interface SearchedOutput {
  data: ToolOutput['data'];
  streams: readonly ToolStream[];
}

export interface ServeOptions {
  /**
   * The first scrub pass: returns the spans of each leaf that look like secrets; replaces nothing. What a promise returns
   * is sent after the output, so that the daemon searches at the same time. Default: no pass.
   */
  scan?: (output: SearchedOutput) => Findings | Promise<Findings>;
}

type CallStream = ServerWritableStream<CallRequest, CallEvent>;

/** Serves ToolPlugin: the daemon calls the tools of this process through it. */
export class ToolServer {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #broker: HostBroker;
  readonly #scan: ServeOptions['scan'];
  readonly #protocol = loadPluginProtocol();
  readonly #calls = new Map<string, ServedCall>();
  #protectedPaths: readonly string[] = [];
  #host: HostClient | undefined;

  constructor(tools: readonly Tool[], broker: HostBroker, options: ServeOptions = {}) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#broker = broker;
    this.#scan = options.scan;
  }

  register(server: Server): void {
    const handlers: ToolPluginHandlers = {
      Describe: ({ request }, respond) => respond(null, this.#describe(request)),
      Call: (stream) => void this.#serve(stream),
      Cancel: ({ request }, respond) => {
        const reason = request.reason === CancelReason.CANCEL_REASON_TIMEOUT ? 'timeout' : 'cancelled';
        this.#calls.get(request.call_id)?.cancel(reason);
        respond(null, {});
      },
    };
    server.addService(this.#protocol.ToolPlugin.service, handlers);
  }

  #describe({ host_service_id, protected_paths }: DescribeRequest): { tools: string[] } {
    this.#protectedPaths = protected_paths;
    this.#host = new HostClient(host_service_id, this.#broker, this.#protocol);
    return { tools: [...this.#tools.keys()] };
  }

  async #serve(stream: CallStream): Promise<void> {
    const { event, findings } = await this.#answer(stream);
    stream.write(event);
    if (findings !== null) stream.write(await findings);
    stream.end();
  }

  async #answer(stream: CallStream): Promise<Answer> {
    const { request } = stream;
    if (this.#host === undefined) return failed(new ContextdError('INTERNAL_ERROR', 'Call came before Describe'));
    const call = new ServedCall(request, this.#protectedPaths, this.#host);
    this.#calls.set(request.call_id, call);
    // gRPC also emits this after the answer; then it has no effect.
    stream.once('cancelled', () => call.cancel('cancelled'));
    try {
      return await this.#run(call, request);
    } catch (thrown) {
      return failed(faultOf(request, thrown));
    } finally {
      await call.logged();
      this.#calls.delete(request.call_id);
    }
  }

  async #run(call: ServedCall, request: CallRequest): Promise<Answer> {
    const tool = this.#tools.get(request.tool);
    if (tool === undefined) throw new ContextdError('TOOL_NOT_FOUND', `this tool process has no tool ${request.tool}`);
    const output = await tool.execute(call.context, readJsonObject('input', request.input_json));
    const found = this.#scan?.({ data: output.data, streams: output.streams ?? [] }) ?? [];
    if (!(found instanceof Promise))
      return { event: { output: packCallOutput({ output, firstPass: found }) }, findings: null };
    const findings = found.then(
      (leaves): CallEvent => ({ findings: { leaves: packFindings(leaves) } }),
      (thrown: unknown) => failed(faultOf(request, thrown)).event,
    );
    return { event: { output: packCallOutput({ output, firstPass: null }) }, findings };
  }
}

/** The answer of a call; `findings`: the event that follows it, or null. */
interface Answer {
  event: CallEvent;
  findings: Promise<CallEvent> | null;
}

/** The daemon has checked the view. */
function readView(json: Buffer | undefined): Json | null {
  return json === undefined || json.length === 0 ? null : JSON.parse(json.toString());
}

function failed(fault: ContextdError): Answer {
  return { event: { failure: packFailure(toFailure(fault)) }, findings: null };
}

/** The text of an unexpected error goes only to stderr: it may quote data that the tool read. */
function faultOf({ tool, request_id }: CallRequest, thrown: unknown): ContextdError {
  const fault = ContextdError.from(thrown);
  if (fault.code !== 'INTERNAL_ERROR' || fault === thrown) return fault;
  const stack = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  process.stderr.write(`${tool} threw in ${request_id}: ${stack}\n`);
  return new ContextdError('INTERNAL_ERROR', `${tool} failed unexpectedly`, {
    remedy: 'See `ctxd server logs` for the cause.',
  });
}

/** One call in the tool process: its context, and its requests to the host that are under way. */
export class ServedCall {
  readonly context: ToolContext;
  readonly #request: CallRequest;
  readonly #host: HostClient;
  readonly #abort = new AbortController();
  /** Log lines being sent. The call's id is valid for the log only until the call is answered. */
  readonly #logging = new Set<Promise<void>>();

  constructor(request: CallRequest, protectedPaths: readonly string[], host: HostClient) {
    this.#request = request;
    this.#host = host;
    this.context = {
      requestId: request.request_id,
      workspace: request.workspace,
      cwd: request.cwd === '' ? request.workspace : request.cwd,
      protectedPaths,
      etagKey: request.etag_key,
      deadlineMs: Date.now() + request.timeout_ms,
      timeoutMs: request.timeout_ms,
      outputMaxBytes: request.output_max_bytes,
      view: readView(request.view_json),
      signal: this.#abort.signal,
      host: this.#hostOf(request.call_id),
      log: (level, message) => this.#log(request.call_id, level, message),
    };
  }

  /** The host ends the commands that are running; their results still arrive, with the output so far. */
  cancel(reason: 'timeout' | 'cancelled'): void {
    const { tool, timeout_ms } = this.#request;
    const fault =
      reason === 'timeout'
        ? new ContextdError('TIMEOUT', `${tool} did not finish within ${timeout_ms} ms`)
        : new ContextdError('CANCELLED', `${tool} was cancelled`);
    this.#abort.abort(fault);
  }

  /** Settles when all log lines are sent; null if no line is being sent. */
  logged(): Promise<unknown> | null {
    return this.#logging.size === 0 ? null : Promise.all(this.#logging);
  }

  #hostOf(callId: string): ToolHost {
    return {
      exec: (spec) => this.#host.exec(callId, spec),
      scrub: (texts) => this.#host.scrub(callId, texts),
      ask: (method, request) => this.#host.ask(callId, method, request),
    };
  }

  /** Drops a line that is refused: a tool must not fail because of a log line. */
  #log(callId: string, level: LogLevel, message: string): void {
    const sent = this.#host.log(callId, level, message.slice(0, LOG_LINE_MAX_CHARS)).catch(() => {});
    this.#logging.add(sent);
    void sent.then(() => this.#logging.delete(sent));
  }
}
