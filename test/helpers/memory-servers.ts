import {
  Client,
  type GetPromptResult,
  InMemoryTransport,
  type ReadResourceResult,
  type Tool,
} from '@modelcontextprotocol/client';
import { type CallToolResult, Server, type ServerContext } from '@modelcontextprotocol/server';
import { ContextdError } from '#src/core/errors.js';
import { toolIdOf } from '#src/gateway/ids/upstream-name.js';
import type { UpstreamCall, UpstreamServers, UpstreamTool } from '#src/upstream/contract.js';

type Answer = (
  args: Readonly<Record<string, unknown>>,
  context: ServerContext,
) => CallToolResult | Promise<CallToolResult>;

export interface MemoryTool extends Partial<Omit<Tool, 'name'>> {
  name: string;
  answer?: Answer;
}

/** An MCP server of the SDK and a client of it, in this process, behind the contract of upstream servers. */
export class MemoryServers implements UpstreamServers {
  /** The arguments of every call that reached the server, by the server's name of the tool. */
  readonly calls: { tool: string; args: unknown }[] = [];
  /** What the way to the server does before each call. Default: nothing. */
  onTheWay: () => void | Promise<void> = () => {};
  readonly #server: string;
  #tools: readonly MemoryTool[];
  #revision = 0;
  #client: Promise<Client> | undefined;

  constructor(server: string, tools: readonly MemoryTool[]) {
    this.#server = server;
    this.#tools = tools;
  }

  /** The server offers other tools from now on. */
  offer(tools: readonly MemoryTool[]): void {
    this.#tools = tools;
    this.#revision += 1;
  }

  async snapshot() {
    const tools = this.#tools.map((tool): UpstreamTool => {
      const { answer: _answer, inputSchema = { type: 'object' as const }, ...more } = tool;
      const definition = { ...more, inputSchema };
      const id = toolIdOf({ name: tool.name, inputSchema, version: tool._meta?.version }, this.#server);
      return { id, server: this.#server, upstreamName: tool.name, definition, files: 'none' };
    });
    const byId = new Map(tools.map((tool) => [tool.id, tool]));
    return { revision: String(this.#revision), tools, byId, waiting: new Map(), resources: [], prompts: [] };
  }

  notStarted(): undefined {}

  async read(): Promise<ReadResourceResult> {
    throw new ContextdError('RESOURCE_NOT_FOUND', 'the server has no resources');
  }

  async getPrompt(): Promise<GetPromptResult> {
    throw new ContextdError('PROMPT_NOT_FOUND', 'the server has no prompts');
  }

  async call(_project: string, { tool, args, signal, onProgress }: UpstreamCall) {
    await this.onTheWay();
    if (signal.aborted) throw new ContextdError('CANCELLED', 'the call was cancelled');
    this.#client ??= this.#connect();
    const client = await this.#client;
    const asked = { name: tool.upstreamName, arguments: { ...args } };
    const options = { signal, ...(onProgress === undefined ? {} : { onprogress: onProgress }) };
    return (await client.callTool(asked, options).catch((thrown) => {
      throw signal.aborted ? new ContextdError('CANCELLED', 'the call was cancelled') : thrown;
    })) as CallToolResult;
  }

  async close(): Promise<void> {
    await (await this.#client)?.close();
  }

  async #connect(): Promise<Client> {
    const server = new Server({ name: this.#server, version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/call', async ({ params: { name, arguments: args = {} } }, context) => {
      this.calls.push({ tool: name, args });
      const tool = this.#tools.find((one) => one.name === name);
      if (tool === undefined) throw new Error(`no tool ${name}`);
      return tool.answer?.(args, context) ?? { content: [{ type: 'text', text: `${name} ${JSON.stringify(args)}` }] };
    });
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
    const [near, far] = InMemoryTransport.createLinkedPair();
    await server.connect(far);
    await client.connect(near);
    return client;
  }
}
