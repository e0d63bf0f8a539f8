import { ContextdError } from '../../core/errors.ts';
import { DEFAULT_SURFACE, isSurface, type Surface } from '../../core/surfaces.ts';
import type { McpAnswer, McpCall, McpTool, McpTools } from '../../mcp/tools.ts';
import { exchange } from '../../proxy/exchange.ts';
import { encodeExecuteRequest } from '../../proxy/messages.ts';
import type { CallContext, DaemonCalls } from './daemon-calls.ts';
import { type CallableTools, watchToolsRpc } from './tool-messages.ts';

/** The tools of a project as the daemon carries them out. */
export class DaemonTools implements McpTools {
  readonly #calls: DaemonCalls;
  readonly #onChanged: () => void;
  /** Of the list that the client last got, or was told to get. */
  #version = '';
  /** That list, while it is followed. */
  #listed: readonly McpTool[] | null = null;
  #isWatching = false;

  constructor(calls: DaemonCalls, onChanged: () => void) {
    this.#calls = calls;
    this.#onChanged = onChanged;
  }

  async list(signal: AbortSignal): Promise<readonly McpTool[]> {
    const { tools, version } = await this.#read(signal);
    this.#version = version;
    this.#listed = tools;
    this.#watch();
    return tools;
  }

  async find(name: string, signal: AbortSignal): Promise<McpTool | undefined> {
    const listed = (this.#isWatching ? this.#listed : null) ?? (await this.list(signal));
    return listed.find((tool) => tool.name === name);
  }

  /** The surface that clients see if the caller names none. */
  async surface(signal: AbortSignal): Promise<Surface> {
    const { surface } = await this.#read(signal);
    return isSurface(surface) ? surface : DEFAULT_SURFACE;
  }

  async call({ tool, inputJson, surface, form = 'text', signal, onProgress }: McpCall): Promise<McpAnswer> {
    const { cwd, places } = this.#calls.caller;
    const request = (requestId: string, isAskedAgain: boolean): Buffer =>
      encodeExecuteRequest({
        ...this.#calls.context(requestId),
        ...{ tool, inputJson, cwd, form, surface },
        inputText: Buffer.alloc(0),
        isAskedAgain,
      });
    const { envelopeJson, textStdout, textStderr, errorLine } = await this.#calls.send(
      (channel, requestId, isAskedAgain, ended) =>
        exchange(channel, request(requestId, isAskedAgain), places, ended, onProgress),
      signal,
      'asks again',
    );
    this.#watch();
    const [line, stdout, stderr] = [envelopeJson, textStdout, textStderr].map((bytes) => bytes.toString('utf8'));
    return { line: line ?? '', stdout: stdout ?? '', stderr: stderr ?? '', errorLine };
  }

  /** Reading changes nothing, so it is tried again if the daemon goes away meanwhile. */
  async #read(signal: AbortSignal): Promise<CallableTools> {
    const read = () => this.#calls.start((context) => this.#rpc(context, ''), signal);
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ContextdError) || error.code !== 'INTERRUPTED') throw error;
      return read();
    }
  }

  /** Follows the list while the daemon runs. Starts none: a person may have stopped it. */
  #watch(): void {
    if (this.#isWatching || this.#version === '' || this.#calls.ended.aborted) return;
    this.#isWatching = true;
    this.#follow()
      // The daemon is gone. The next call finds or starts another, and watches again.
      .catch(() => {})
      .finally(() => {
        this.#isWatching = false;
        this.#listed = null;
      });
  }

  async #follow(): Promise<void> {
    for (;;) {
      const found = await this.#calls.reach((context) => this.#rpc(context, this.#version));
      if (found === undefined) return;
      this.#version = found.version;
      this.#listed = found.tools;
      this.#onChanged();
    }
  }

  #rpc(context: CallContext, knownVersion: string) {
    return watchToolsRpc(context, { knownVersion, surface: this.#calls.caller.surface });
  }
}
