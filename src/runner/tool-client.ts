import { type Client, type ClientReadableStream, type ServiceError, status } from '@grpc/grpc-js';
import { ContextdError } from '../core/errors.ts';
import {
  type CallEvent__Output as CallEvent,
  type CallRequest,
  CancelReason,
  type DescribeRequest,
} from '../protocol/generated/plugin.ts';
import type { PluginProtocol } from '../protocol/plugin/load-plugin-protocol.ts';
import { readRpcFault } from '../protocol/rpc-faults.ts';
import {
  CALL_EVENT_MAX_FIELDS,
  CALL_EVENT_SHAPE,
  type Findings,
  parseCallOutput,
  parseFailure,
  parseFindings,
  type ScannedOutput,
  type ToolFailure,
} from '../protocol/tool-output.ts';
import { CODE_TRAILER } from '../protocol/trailers.ts';
import { boundedDecoder, WireFault } from '../protocol/wire-bounds.ts';

const MAX_TOOLS = 1_000;
/** For every answer but an event: a list of names, or nothing. */
const SMALL_MAX_FIELDS = 2 * MAX_TOOLS;

/**
 * The events of a call. An output without findings is followed by `findings`, or by one of those below. After any other
 * event only `broken` may follow.
 */
export interface CallEvents {
  output(output: ScannedOutput): void;
  findings(findings: Findings): void;
  failure(failure: ToolFailure): void;
  /** The tool answered with a gRPC error, or we ended the stream. */
  refused(error: ContextdError): void;
  /** The process broke the protocol: nothing it sends can be trusted. */
  broken(reason: string): void;
  /** The connection to the process is gone. */
  lost(): void;
}

/** The stream of one call. */
export interface CallStream {
  /** Ends it at once, or after `graceMs` if it has not ended by itself. Idempotent. */
  close(graceMs: number): void;
}

/**
 * The ToolPlugin service of one tool process. The process is not trusted: everything it sends is checked before and
 * after decoding.
 */
export class ToolClient {
  readonly #client: Client;
  readonly #methods: PluginProtocol['ToolPlugin']['service'];
  readonly #decodeEvent: (bytes: Buffer) => CallEvent;

  constructor(client: Client, protocol: Pick<PluginProtocol, 'ToolPlugin'>) {
    this.#client = client;
    this.#methods = protocol.ToolPlugin.service;
    const { responseDeserialize } = this.#methods.Call;
    this.#decodeEvent = boundedDecoder(responseDeserialize, CALL_EVENT_SHAPE, CALL_EVENT_MAX_FIELDS);
  }

  /** The names of the tools. Throws WireFault, or a ContextdError for a gRPC error. */
  describe(request: DescribeRequest): Promise<readonly string[]> {
    const { path, requestSerialize, responseDeserialize } = this.#methods.Describe;
    const decode = boundedDecoder(responseDeserialize, { 1: 'bytes' }, SMALL_MAX_FIELDS);
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(path, requestSerialize, decode, request, (error, answer) => {
        if (error !== null) reject(describeFault(error));
        else if (answer === undefined || answer.tools.length > MAX_TOOLS) reject(new WireFault('too many tools'));
        else resolve(answer.tools);
      });
    });
  }

  call(request: CallRequest, events: CallEvents): CallStream {
    const { path, requestSerialize } = this.#methods.Call;
    const stream = this.#client.makeServerStreamRequest(path, requestSerialize, this.#decodeEvent, request);
    return new OpenCall(stream, events);
  }

  /**
   * Settles when the tool has received it. False if the tool does not serve Cancel: then the end of its stream must do.
   */
  cancel(callId: string, reason: 'timeout' | 'cancelled'): Promise<boolean> {
    const { path, requestSerialize, responseDeserialize } = this.#methods.Cancel;
    const decode = boundedDecoder(responseDeserialize, {}, SMALL_MAX_FIELDS);
    const wireReason = reason === 'timeout' ? CancelReason.CANCEL_REASON_TIMEOUT : CancelReason.CANCEL_REASON_CANCELLED;
    const request = { call_id: callId, reason: wireReason };
    return new Promise((resolve) => {
      this.#client.makeUnaryRequest(path, requestSerialize, decode, request, (error) =>
        resolve(error?.code !== status.UNIMPLEMENTED),
      );
    });
  }

  close(): void {
    this.#client.close();
  }
}

class OpenCall implements CallStream {
  readonly #stream: ClientReadableStream<CallEvent>;
  readonly #events: CallEvents;
  #isSearching = false;
  #isAnswered = false;
  #isEnded = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: ClientReadableStream<CallEvent>, events: CallEvents) {
    this.#stream = stream;
    this.#events = events;
    stream.on('data', (event: CallEvent) => this.#receive(event));
    stream.on('error', (error: ServiceError) => this.#fail(error));
    stream.on('end', () => this.#end());
  }

  close(graceMs: number): void {
    if (this.#isEnded || this.#timer !== undefined) return;
    if (graceMs > 0) this.#timer = setTimeout(() => this.#stream.cancel(), graceMs).unref();
    else this.#stream.cancel();
  }

  #receive(event: CallEvent): void {
    try {
      this.#deliver(event);
    } catch (thrown) {
      if (!(thrown instanceof WireFault)) throw thrown;
      this.#breakOff(thrown.message);
    }
  }

  #deliver({ output, findings, failure }: CallEvent): void {
    if (this.#isAnswered) throw new WireFault('an event follows the last one');
    if (output) {
      if (this.#isSearching) throw new WireFault('it answers twice');
      const parsed = parseCallOutput(output);
      this.#isSearching = parsed.firstPass === null;
      this.#isAnswered = !this.#isSearching;
      this.#events.output(parsed);
    } else if (findings) {
      if (!this.#isSearching) throw new WireFault('it announced no findings');
      const parsed = parseFindings(findings.leaves);
      this.#isAnswered = true;
      this.#events.findings(parsed);
    } else if (failure) {
      const parsed = parseFailure(failure);
      this.#isAnswered = true;
      this.#events.failure(parsed);
    } else {
      throw new WireFault('an event of no known kind');
    }
  }

  #breakOff(reason: string): void {
    this.#isAnswered = true;
    this.#events.broken(reason);
  }

  #end(): void {
    this.#finish();
    if (!this.#isAnswered) this.#breakOff('it ended a call without an answer');
  }

  /** After its answer a call may end in any way. */
  #fail(error: ServiceError): void {
    this.#finish();
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    if (error.code === status.UNAVAILABLE) this.#events.lost();
    else if (isOfTransport(error)) this.#events.broken(error.details);
    else this.#events.refused(callFault(error));
  }

  #finish(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
  }
}

/** Only gRPC's message shows whether the tool sent an error or sent something unreadable. */
function isOfTransport({ code, details, metadata }: ServiceError): boolean {
  if (metadata.get(CODE_TRAILER).length > 0) return false;
  if (code === status.INTERNAL) return /^(Response message parsing error|Received RST_STREAM|Error)/.test(details);
  return code === status.RESOURCE_EXHAUSTED && details.startsWith('Received message larger than max');
}

function describeFault(error: ServiceError): Error {
  return isOfTransport(error) ? new WireFault(error.details) : readRpcFault(error);
}

/** A gRPC error without one of our codes says nothing about the daemon: the tool failed. */
function callFault(error: ServiceError): ContextdError {
  const fault = readRpcFault(error);
  if (fault.code !== 'INTERNAL_ERROR' && fault.code !== 'INTERRUPTED' && fault.code !== 'PAYLOAD_TOO_LARGE')
    return fault;
  return new ContextdError('INTERNAL_ERROR', `the tool failed: ${fault.message.slice(0, 1_000)}`, {
    remedy: fault.remedy ?? 'See `ctxd server logs` for what it printed.',
    cause: error,
  });
}
