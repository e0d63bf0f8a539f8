import type { Duplex } from 'node:stream';
import { ContextdError } from '../core/errors.ts';
import { encodeFrame, FrameDecoder, FrameError } from '../protocol/frame-codec.ts';
import {
  type CallFrame,
  type DaemonFrame,
  packToolFrame,
  parseDaemonFrame,
  TOOL_PROTOCOL_VERSION,
  type ToolFrame,
} from '../protocol/tool-frames.ts';
import { type SecretSpan, type ToolOutput, type ToolStream, toFailure } from '../protocol/tool-output.ts';
import { ServedCall } from './served-call.ts';
import type { Tool } from './tool.ts';

/** What the first pass searches: the strings and keys of data and streams, in that order. */
export interface ScannedOutput {
  data: ToolOutput['data'];
  streams: readonly ToolStream[];
}

export interface ServeOptions {
  /** The first scrub pass: per leaf the spans that look like secrets. It replaces nothing. Default: finds nothing. */
  scan?: (output: ScannedOutput) => Promise<readonly (readonly SecretSpan[])[]>;
}

/** The tool's side of the frame protocol over one channel. `finished` settles when the channel is at its end. */
export class ToolServer {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #channel: Duplex;
  readonly #scan: NonNullable<ServeOptions['scan']>;
  readonly #calls = new Map<number, ServedCall>();
  readonly #decoder = new FrameDecoder();
  #protectedPaths: readonly string[] = [];
  readonly finished: Promise<void>;

  constructor(tools: readonly Tool[], channel: Duplex, options: ServeOptions = {}) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#channel = channel;
    this.#scan = options.scan ?? (async () => []);
    this.finished = this.#listen();
    this.#send({ type: 'hello', version: TOOL_PROTOCOL_VERSION, tools: [...this.#tools.keys()] });
  }

  #listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#channel.on('data', (chunk: Buffer) => {
        try {
          for (const value of this.#decoder.push(chunk)) this.#receive(parseDaemonFrame(value));
        } catch (thrown) {
          reject(thrown);
        }
      });
      this.#channel.once('error', reject);
      this.#channel.once('end', resolve);
      this.#channel.once('close', resolve);
    });
  }

  #receive(frame: DaemonFrame): void {
    switch (frame.type) {
      case 'hello':
        if (frame.version !== TOOL_PROTOCOL_VERSION) throw versionMismatch(frame.version);
        this.#protectedPaths = frame.protected_paths;
        break;
      case 'call':
        void this.#serve(frame);
        break;
      case 'cancel':
        this.#calls.get(frame.id)?.cancel(frame.reason);
        break;
      case 'exec_result':
        this.#calls.get(frame.id)?.finishExec(frame.exec, frame.result);
        break;
      case 'exec_error':
        this.#calls.get(frame.id)?.failExec(frame.exec, frame.error);
        break;
      case 'ping':
        this.#send({ type: 'pong', nonce: frame.nonce });
        break;
    }
  }

  async #serve(frame: CallFrame): Promise<void> {
    const call = new ServedCall(frame, this.#protectedPaths, (reply) => this.#send(reply));
    this.#calls.set(frame.id, call);
    try {
      this.#answer(frame.id, await this.#run(frame, call));
    } catch (thrown) {
      this.#send({ type: 'error', id: frame.id, error: toFailure(faultOf(frame.tool, thrown, call)) });
    } finally {
      this.#calls.delete(frame.id);
    }
  }

  async #run(frame: CallFrame, call: ServedCall): Promise<ToolFrame> {
    const tool = this.#tools.get(frame.tool);
    if (tool === undefined) throw new ContextdError('TOOL_NOT_FOUND', `this tool process has no tool ${frame.tool}`);
    const output = await tool.execute(call.context, frame.input);
    const streams = output.streams ?? [];
    this.#send({ type: 'scanning', id: frame.id, chars: streams.reduce((sum, { text }) => sum + text.length, 0) });
    const firstPass = await this.#scan({ data: output.data, streams });
    return { type: 'result', id: frame.id, output, firstPass };
  }

  /** An output that no frame can carry is the tool's failure, not the end of the process. */
  #answer(id: number, frame: ToolFrame): void {
    try {
      this.#send(frame);
    } catch (thrown) {
      if (!(thrown instanceof FrameError)) throw thrown;
      throw new ContextdError('RESOURCE_LIMIT', `the output of call ${id} cannot be carried: ${thrown.message}`, {
        remedy: 'Ask for less at once.',
      });
    }
  }

  #send(frame: ToolFrame): void {
    if (this.#channel.writable) this.#channel.write(encodeFrame(packToolFrame(frame)));
  }
}

function versionMismatch(daemonVersion: number): ContextdError {
  return new ContextdError(
    'VERSION_MISMATCH',
    `the daemon speaks version ${daemonVersion} of the tool protocol, this tool version ${TOOL_PROTOCOL_VERSION}`,
    { remedy: 'Build the tool again with the SDK of the installed contextd.' },
  );
}

/** The text of an unexpected error stays in the tool's process but for the log line: it may quote what was read. */
function faultOf(tool: string, thrown: unknown, call: ServedCall): ContextdError {
  const fault = ContextdError.from(thrown);
  if (fault.code !== 'INTERNAL_ERROR' || fault === thrown) return fault;
  const stack = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  call.context.host.log('error', `${tool} threw: ${stack}`);
  return new ContextdError('INTERNAL_ERROR', `${tool} failed for a reason it did not foresee`, {
    remedy: 'See `ctxd server logs` for the cause.',
  });
}
