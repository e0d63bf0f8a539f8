import { ContextdError } from '../../core/errors.ts';
import { newRequestId } from '../../core/ids.ts';
import { DEFAULT_SURFACE, isSurface, type Surface } from '../../core/surfaces.ts';
import type { McpAnswer, McpCall, McpTool, McpTools } from '../../mcp/tools.ts';
import { PROTOCOL_VERSION } from '../../protocol/versions.ts';
import { callDaemon } from '../../proxy/call-daemon.ts';
import type { Channel } from '../../proxy/channel.ts';
import { attemptConnection } from '../../proxy/connect.ts';
import type { Places } from '../../proxy/environment.ts';
import { ask, exchange, type Rpc } from '../../proxy/exchange.ts';
import { type ExecuteResponse, encodeExecuteRequest } from '../../proxy/messages.ts';
import type { DaemonSource } from '../../proxy/start.ts';
import { type CallableTools, watchToolsRpc } from './tool-messages.ts';

/** For whom the bridge calls, and how it reaches or starts the daemon. */
export interface BridgeCaller extends Pick<DaemonSource, 'launcher' | 'launchWords' | 'environment'> {
  places: Places;
  project: string;
  /** "" lets the daemon choose the session. */
  session: string;
  branch: string;
  /** Where the client stands: an absolute path without links. */
  cwd: string;
  /** "" for the one that the settings of the daemon name. */
  surface: Surface | '';
}

/**
 * The tools of a project as the daemon carries them out. Each call has a connection of its own, as calls of the proxy do: no
 * restart of the daemon breaks more than the calls it interrupts, and the next one starts a daemon if none runs.
 */
export class DaemonTools implements McpTools {
  readonly #caller: BridgeCaller;
  readonly #onChanged: () => void;
  /** Aborts when the bridge ends. */
  readonly #signal: AbortSignal;
  /** Of the list that the client last got, or was told to get. */
  #version = '';
  /** That list, while it is followed. */
  #listed: readonly McpTool[] | null = null;
  #isWatching = false;

  constructor(caller: BridgeCaller, onChanged: () => void, signal: AbortSignal) {
    this.#caller = caller;
    this.#onChanged = onChanged;
    this.#signal = signal;
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

  async call({ tool, inputJson, continuedBy, form = 'text', signal, onProgress }: McpCall): Promise<McpAnswer> {
    const { project, session, branch, cwd, places } = this.#caller;
    const source = this.#source(signal);
    const request = (requestId: string): Buffer =>
      encodeExecuteRequest({
        ...{ tool, inputJson, requestId, branch, cwd },
        projectRoot: project,
        sessionId: session,
        protocolVersion: PROTOCOL_VERSION,
        form,
        inputText: Buffer.alloc(0),
        door: 'mcp',
        ...(continuedBy === undefined ? {} : { continuedBy }),
      });
    const send = (channel: Channel, requestId: string): Promise<ExecuteResponse | undefined> =>
      exchange(channel, request(requestId), places, source.signal, onProgress).finally(() => channel.end());
    const { envelopeJson, textStdout, textStderr, errorLine } = await callDaemon(source, send);
    this.#watch();
    const [line, stdout, stderr] = [envelopeJson, textStdout, textStderr].map((bytes) => bytes.toString('utf8'));
    return { line: line ?? '', stdout: stdout ?? '', stderr: stderr ?? '', errorLine };
  }

  /** Reading changes nothing, so it is tried again if the daemon goes away meanwhile. */
  async #read(signal: AbortSignal): Promise<CallableTools> {
    const source = this.#source(signal);
    const send = (channel: Channel, requestId: string) =>
      this.#ask(channel, this.#watchRpc(requestId, ''), source.signal);
    try {
      return await callDaemon(source, send);
    } catch (error) {
      if (!(error instanceof ContextdError) || error.code !== 'INTERRUPTED') throw error;
      return callDaemon(this.#source(signal), send);
    }
  }

  /** Follows the list while the daemon runs. Starts none: a person may have stopped it. */
  #watch(): void {
    if (this.#isWatching || this.#version === '' || this.#signal.aborted) return;
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
      const attempt = await attemptConnection(this.#caller.places, this.#signal);
      if (attempt.kind !== 'connected') return;
      const rpc = this.#watchRpc(newRequestId(Date.now()), this.#version);
      const found = await this.#ask(attempt.channel, rpc, this.#signal);
      if (found === undefined) return;
      this.#version = found.version;
      this.#listed = found.tools;
      this.#onChanged();
    }
  }

  #ask<T>(channel: Channel, rpc: Rpc<T>, signal: AbortSignal): Promise<T | undefined> {
    return ask(channel, rpc, this.#caller.places, signal).finally(() => channel.end());
  }

  #watchRpc(requestId: string, knownVersion: string): Rpc<CallableTools> {
    const { project: projectRoot, session: sessionId, branch, surface } = this.#caller;
    const context = {
      requestId,
      projectRoot,
      sessionId,
      branch,
      protocolVersion: PROTOCOL_VERSION,
      door: 'mcp',
    } as const;
    return watchToolsRpc(context, { knownVersion, surface });
  }

  #source(signal: AbortSignal): DaemonSource {
    const { places, launcher, launchWords, environment } = this.#caller;
    const nonce = newRequestId(Date.now());
    return { places, launcher, launchWords, environment, nonce, signal: AbortSignal.any([signal, this.#signal]) };
  }
}
