import {
  type CallToolResult,
  Client,
  METHOD_NOT_FOUND,
  type Progress,
  ProtocolError,
  type ReadResourceResult,
  SdkError,
  SdkErrorCode,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import { isPassedMethod, type McpMessage, type PassedRequest } from '../core/passing.ts';
import {
  DEFINITION_BOUNDS,
  DefinitionCollector,
  type DefinitionKind,
  type SeenTools,
  shortenPage,
} from './definitions.ts';
import { type ListChangesDeps, listChanges } from './list-changes.ts';
import { OpenRequests } from './open-requests.ts';

export interface ConnectOptions extends ListChangesDeps {
  /** Null: the server is a process. */
  readonly url: string | null;
  /** How the server is called in messages. */
  readonly version: string;
  /** Milliseconds for each exchange of the handshake. */
  readonly timeoutMs: number;
  /** Milliseconds for an old server to answer a question that it does not know. */
  readonly probeMs: number;
  /** True: the server is known to end when it is asked for its era, so it is not asked. */
  readonly isLegacy: boolean;
  /** Called once if the other side ends the connection after the handshake. */
  onLost?(): void;
  /** Called when a question of the server was refused because it may be for any of several requests. */
  onUndecided?(): void;
  /** Absent: the server is not asked for more than its tools. */
  readonly passing?: PassingTraits;
}

/** How requests of clients are passed on to a server as they are. */
export interface PassingTraits {
  /** True: an older revision is asked for, in which the server asks the client by requests of its own. */
  readonly isLegacy: boolean;
  readonly capabilities: JsonObject;
  /** A notification that the SDK did not use itself, and that belongs to no single request. */
  onNotice(message: McpMessage): void;
}

/** What the connection needs to pass a request on. */
export interface PassingOptions {
  /** Of the tool that is called. */
  readonly definition?: Tool;
  readonly timeoutMs: number;
}

export interface ToolRequest {
  readonly definition: Tool;
  readonly upstreamName: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  onProgress?(progress: Progress): void;
}

/** What every request has. */
export interface RequestLimits {
  /** Aborting it cancels the request at the server. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** How each list is asked for, and the field of an answer that has it. */
const LISTS = {
  tool: { method: 'tools/list', key: 'tools' },
  resource: { method: 'resources/list', key: 'resources' },
  template: { method: 'resources/templates/list', key: 'resourceTemplates' },
  prompt: { method: 'prompts/list', key: 'prompts' },
} as const satisfies Record<DefinitionKind, { method: string; key: string }>;
const ALL_KINDS: readonly DefinitionKind[] = ['tool', 'resource', 'template', 'prompt'];

/** Milliseconds for each page of a list. */
const PAGE_MS = 30_000;

interface ConnectionTraits {
  readonly isSilentLegacy: boolean;
  readonly isPassing: boolean;
  readonly isOverHttp: boolean;
  readonly open: OpenRequests;
}

/** An MCP server that has answered the handshake, of either era. */
export class UpstreamConnection {
  /** True if it is of the older era, which it did not say when it was asked. */
  readonly isSilentLegacy: boolean;
  readonly #client: Client;
  readonly #isPassing: boolean;
  readonly #isOverHttp: boolean;
  /** Those that are passed on. */
  readonly #open: OpenRequests;
  /** Where the progress of requests goes that are passed on, by token. */
  readonly #reports = new Map<string, PassedRequest['notify']>();
  #lastToken = 0;
  #isClosing = false;

  private constructor(client: Client, { isSilentLegacy, isPassing, isOverHttp, open }: ConnectionTraits) {
    this.#client = client;
    this.#isPassing = isPassing;
    this.#isOverHttp = isOverHttp;
    this.#open = open;
    this.isSilentLegacy = isSilentLegacy;
  }

  /** Throws what the transport and the SDK throw. The caller kills the process. */
  static async open(transport: Transport, options: ConnectOptions): Promise<UpstreamConnection> {
    const { passing } = options;
    const client = new Client(
      { name: 'contextd', version: options.version },
      {
        capabilities: options.passing?.capabilities ?? {},
        versionNegotiation: { mode: 'auto', probe: { timeoutMs: options.probeMs } },
        listChanged: listChanges(options),
      },
    );
    const open = new OpenRequests({
      isSession: passing?.isLegacy ?? false,
      onUndecided: () => options.onUndecided?.(),
    });
    if (passing !== undefined) {
      client.fallbackRequestHandler = ({ method, params }, { mcpReq: { signal } }) =>
        open.ask({ method, params: plainParams(params) }, signal);
      client.fallbackNotificationHandler = async ({ method, params }) => {
        // A line of a log goes with the request that is under way.
        const request = method === 'notifications/message' ? open.only : undefined;
        const message = { method, params: plainParams(params) };
        if (request === undefined) passing.onNotice(message);
        else request.notify(message);
      };
    }
    // The SDK hands each message to this first. A list that clients ask for is theirs, whatever its length.
    const shortened = passing === undefined ? ALL_KINDS : (['tool'] as const);
    const { onmessage } = transport;
    transport.onmessage = (message, extra) => {
      onmessage?.(message, extra);
      if (!('result' in message) || !isJsonObject(message.result)) return;
      for (const kind of shortened) shortenPage(kind, message.result, LISTS[kind].key);
    };
    // An answer with another id, a second answer, a message of no kind: nothing waits for them.
    client.onerror = () => {};
    const askedAt = performance.now();
    await client.connect(transport, {
      timeout: options.timeoutMs,
      ...(options.isLegacy ? { prior: { kind: 'legacy' } } : {}),
    });
    const hasWaited = performance.now() - askedAt >= options.probeMs;
    const connection = new UpstreamConnection(client, {
      isSilentLegacy: hasWaited && client.getProtocolEra() !== 'modern',
      isPassing: passing !== undefined,
      isOverHttp: options.url !== null,
      open,
    });
    if (passing !== undefined) connection.#followProgress();
    client.onclose = () => {
      if (!connection.#isClosing) options.onLost?.();
    };
    return connection;
  }

  /** True if a server that ended during the handshake may be one that does not know the question for its era. */
  static mayBeLegacy(thrown: unknown): boolean {
    return SdkError.isInstance(thrown) && thrown.code === SdkErrorCode.EraNegotiationFailed;
  }

  /** The revision of the protocol, as a date. */
  get protocol(): string {
    return this.#client.getNegotiatedProtocolVersion() ?? '';
  }

  /** Everything that the server offers, within bounds. What is passed on to clients is listed by them, except tools. */
  async listOffers(): Promise<SeenTools> {
    const { tools, resources, prompts } = this.#client.getServerCapabilities() ?? {};
    const isAsked = (capability: object | undefined): boolean => capability !== undefined && !this.#isPassing;
    const lists = [
      ...(tools === undefined ? [] : [this.#list('tool')]),
      ...(isAsked(resources) ? [this.#list('resource'), this.#list('template')] : []),
      ...(isAsked(prompts) ? [this.#list('prompt')] : []),
    ];
    const found = await Promise.all(lists);
    return { tools: found.flatMap((one) => one.tools), leftOut: found.flatMap(({ leftOut }) => leftOut) };
  }

  /** All pages. A server that refuses a list other than that of its tools is used without it. */
  async #list(kind: DefinitionKind): Promise<SeenTools> {
    const { method, key } = LISTS[kind];
    const hasHeaders = kind === 'tool' && this.#isOverHttp && this.isModern;
    const found = new DefinitionCollector(kind, { hasHeaders });
    let cursor: string | undefined;
    const seen = new Set<string>();
    try {
      for (let page = 0; page < DEFINITION_BOUNDS.pages; page++) {
        const params = cursor === undefined ? {} : { cursor };
        const answer: Record<string, unknown> = await this.#client.request({ method, params }, { timeout: PAGE_MS });
        const hasRoom = found.takePage(Buffer.byteLength(JSON.stringify(answer)));
        if (!found.add(Array.isArray(answer[key]) ? answer[key] : []) || !hasRoom) break;
        cursor = typeof answer.nextCursor === 'string' ? answer.nextCursor : undefined;
        if (cursor === undefined || cursor === '' || seen.has(cursor)) break;
        seen.add(cursor);
      }
    } catch (thrown) {
      if (kind === 'tool' || !(thrown instanceof ProtocolError)) throw thrown;
      // Many servers with resources know no templates.
      if (thrown.code !== METHOD_NOT_FOUND) found.leaveOut(method, thrown.message);
    }
    return found.result();
  }

  async readResource(uri: string, options: RequestLimits): Promise<ReadResourceResult> {
    return this.#client.readResource({ uri }, limitsOf(options));
  }

  async getPrompt(name: string, args: Readonly<Record<string, string>>, options: RequestLimits) {
    return this.#client.getPrompt({ name, arguments: { ...args } }, limitsOf(options));
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

  /** The SDK forgets who asked for progress when it sees the answer, and loses what came just before it. */
  #followProgress(): void {
    this.#client.setNotificationHandler('notifications/progress', ({ method, params }) => {
      const { progressToken, ...progress } = plainParams(params);
      this.#reports.get(String(progressToken))?.({ method, params: progress });
    });
  }

  get isModern(): boolean {
    return this.#client.getProtocolEra() === 'modern';
  }

  /** As the server declared them. */
  get capabilities(): JsonObject {
    return plainParams(this.#client.getServerCapabilities());
  }

  /** Returns what the server answered, also if it asks for input. */
  pass(request: PassedRequest, options: PassingOptions): Promise<JsonObject> {
    return this.#open.run(request, () => this.#pass(request, options), isTimeout);
  }

  async #pass(
    { method, params, signal, notify }: PassedRequest,
    { definition, timeoutMs }: PassingOptions,
  ): Promise<JsonObject> {
    const { _meta, ...others } = params;
    const { progressToken, ...meta } = isJsonObject(_meta) ? _meta : {};
    // A server of an older revision gets no key of the newer one.
    const kept = Object.entries(meta).filter(([key]) => this.isModern || !key.startsWith(MODERN_KEYS));
    const token = progressToken === undefined ? null : `passed-${++this.#lastToken}`;
    if (token !== null) kept.push(['progressToken', token]);
    const sent = { ...others, ...(kept.length === 0 ? {} : { _meta: Object.fromEntries(kept) }) };
    if (!isPassedMethod(method)) throw new ProtocolError(METHOD_NOT_FOUND, `${method} is not passed on`);
    const options = { signal, timeout: timeoutMs, allowInputRequired: true };
    if (token !== null) this.#reports.set(token, notify);
    try {
      // The SDK checks what is sent and what comes by the method.
      if (definition === undefined) return plainParams(await this.#client.request({ method, params: sent }, options));
      const { outputSchema: _, ...toolDefinition } = definition;
      const args = isJsonObject(others.arguments) ? others.arguments : {};
      const call = { ...sent, name: String(others.name), arguments: args };
      return plainParams(await this.#client.callTool(call, { ...options, toolDefinition }));
    } finally {
      if (token !== null) this.#reports.delete(token);
    }
  }

  /** Throws if the server does not answer. */
  async ping(timeoutMs: number): Promise<void> {
    // The newer era has no ping.
    if (this.isModern) await this.#client.discover({ timeout: timeoutMs });
    else await this.#client.ping({ timeout: timeoutMs });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#client.close().catch(() => {});
  }
}

function isTimeout(thrown: unknown): boolean {
  return SdkError.isInstance(thrown) && thrown.code === SdkErrorCode.RequestTimeout;
}

/** Keys of `_meta` that the revision of 2026-07-28 reserves. */
const MODERN_KEYS = 'io.modelcontextprotocol/';

function limitsOf({ signal, timeoutMs }: RequestLimits) {
  return { signal, timeout: timeoutMs };
}

/** What the SDK parsed is JSON, but its types do not say so. */
function plainParams(value: object | null | undefined): JsonObject {
  return value === null || value === undefined ? {} : JSON.parse(JSON.stringify(value));
}
