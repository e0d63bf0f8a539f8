import {
  type CallToolResult,
  Client,
  type Progress,
  SdkError,
  SdkErrorCode,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client';
import { DEFINITION_BOUNDS, DefinitionCollector, type SeenTools } from './definitions.ts';

export interface ConnectOptions {
  /** How the server is called in messages. */
  readonly version: string;
  /** Milliseconds for each exchange of the handshake. */
  readonly timeoutMs: number;
  /** Milliseconds for an old server to answer a question that it does not know. */
  readonly probeMs: number;
  /** True: the server is known to end when it is asked for its era, so it is not asked. */
  readonly isLegacy: boolean;
  onToolsChanged(): void;
}

export interface ToolRequest {
  readonly definition: Tool;
  readonly upstreamName: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  onProgress?(progress: Progress): void;
}

/** Milliseconds in which several announcements of a changed list count as one. */
const CHANGES_MS = 300;
/** Milliseconds for each page of a list. */
const PAGE_MS = 30_000;

/** An MCP server that has answered the handshake, of either era. */
export class UpstreamConnection {
  /** True if it is of the older era, which it did not say when it was asked. */
  readonly isSilentLegacy: boolean;
  readonly #client: Client;

  private constructor(client: Client, isSilentLegacy: boolean) {
    this.#client = client;
    this.isSilentLegacy = isSilentLegacy;
  }

  /** Throws what the transport and the SDK throw. The caller kills the process. */
  static async open(transport: Transport, options: ConnectOptions): Promise<UpstreamConnection> {
    const client = new Client(
      { name: 'contextd', version: options.version },
      {
        capabilities: {},
        versionNegotiation: { mode: 'auto', probe: { timeoutMs: options.probeMs } },
        listChanged: {
          tools: { autoRefresh: false, debounceMs: CHANGES_MS, onChanged: () => options.onToolsChanged() },
        },
      },
    );
    // An answer with another id, a second answer, a message of no kind: nothing waits for them.
    client.onerror = () => {};
    const askedAt = performance.now();
    await client.connect(transport, {
      timeout: options.timeoutMs,
      ...(options.isLegacy ? { prior: { kind: 'legacy' } } : {}),
    });
    const hasWaited = performance.now() - askedAt >= options.probeMs;
    return new UpstreamConnection(client, hasWaited && client.getProtocolEra() !== 'modern');
  }

  /** True if a server that ended during the handshake may be one that does not know the question for its era. */
  static mayBeLegacy(thrown: unknown): boolean {
    return SdkError.isInstance(thrown) && thrown.code === SdkErrorCode.EraNegotiationFailed;
  }

  /** The revision of the protocol, as a date. */
  get protocol(): string {
    return this.#client.getNegotiatedProtocolVersion() ?? '';
  }

  /** All pages, within bounds. */
  async listTools(): Promise<SeenTools> {
    const found = new DefinitionCollector();
    if (this.#client.getServerCapabilities()?.tools === undefined) return found.result();
    let cursor: string | undefined;
    const seen = new Set<string>();
    for (let page = 0; page < DEFINITION_BOUNDS.pages; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const answer = await this.#client.request({ method: 'tools/list', params }, { timeout: PAGE_MS });
      found.add(answer.tools);
      cursor = answer.nextCursor;
      if (cursor === undefined || cursor === '' || seen.has(cursor)) break;
      seen.add(cursor);
    }
    return found.result();
  }

  /** The answer is not compared with the output schema of the tool: the code that shows it decides what is valid. */
  async callTool({
    definition,
    upstreamName,
    args,
    signal,
    timeoutMs,
    onProgress,
  }: ToolRequest): Promise<CallToolResult> {
    const { outputSchema: _, ...toolDefinition } = definition;
    return this.#client.callTool(
      { name: upstreamName, arguments: { ...args } },
      { toolDefinition, signal, timeout: timeoutMs, ...(onProgress === undefined ? {} : { onprogress: onProgress }) },
    );
  }

  /** Throws if the server does not answer. */
  async ping(timeoutMs: number): Promise<void> {
    // The newer era has no ping.
    if (this.#client.getProtocolEra() === 'modern') await this.#client.discover({ timeout: timeoutMs });
    else await this.#client.ping({ timeout: timeoutMs });
  }

  async close(): Promise<void> {
    await this.#client.close().catch(() => {});
  }
}
