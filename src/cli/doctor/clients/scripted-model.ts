import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Body, type Call, type Conversation, type Seen, type Wire, wireOf } from './wires.ts';

/** A call, or how it is made from the results so far, the definitions of tools, and the body of the request. */
export type Step = Call | ((seen: readonly Seen[], tools: readonly object[], request: string) => Call | Promise<Call>);

/**
 * A model on loopback that plays a script of tool calls, one a turn. It speaks Anthropic's Messages API, OpenAI's chat completions
 * and responses, and Gemini's content streams. The step to play is read off the conversation, so a retried request changes nothing.
 */
export class ScriptedModel {
  readonly url: string;
  readonly #server: Server;
  readonly #steps: readonly Step[];
  /** Tokens that the model says its first step took: enough of them make OpenCode compact the conversation. */
  #firstTokens: number;
  /** The longest conversation so far. */
  #last: Conversation = { prompt: '', results: [] };
  /** The tools of the last request that has any. */
  #tools: readonly object[] = [];
  /** The bodies of all requests, as they were sent. */
  readonly requests: string[] = [];
  /** Why a step could not be played. */
  #fault: unknown = null;

  private constructor(server: Server, steps: readonly Step[], firstTokens: number) {
    this.#server = server;
    this.#steps = steps;
    this.#firstTokens = firstTokens;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request, response) => void this.#answer(request, response));
  }

  static async start(steps: readonly Step[], firstTokens = 1): Promise<ScriptedModel> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new ScriptedModel(server, steps, firstTokens);
  }

  /** Throws if the client did not come back with a result for every step. */
  get results(): readonly Seen[] {
    if (this.#fault !== null) throw this.#fault;
    const { results } = this.#last;
    if (results.length === this.#steps.length) return results;
    throw new Error(`the client answered ${results.length} of ${this.#steps.length} steps: ${JSON.stringify(results)}`);
  }

  /** Everything that the client told the model before the first step. */
  get prompt(): string {
    return this.#last.prompt;
  }

  /** The definitions of tools in the last request, as the client writes them. A server that starts slowly is not in the first. */
  get tools(): readonly object[] {
    return this.#tools;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const sent = await text(request);
    this.requests.push(sent);
    const body: Body = JSON.parse(sent || '{}');
    const path = request.url ?? '';
    if (request.method !== 'POST') return send(response, { data: [] });
    if (path.includes('count_tokens')) return send(response, { input_tokens: 1 });
    const wire = wireOf(path);
    const conversation = wire.read(body);
    // A request without tools asks for a title or a summary.
    if (body.tools?.length) this.#tools = body.tools;
    const step = body.tools?.length ? await this.#play(conversation.results, sent) : undefined;
    if (body.tools?.length && conversation.results.length >= this.#last.results.length) this.#last = conversation;
    const tokens = step === undefined ? 1 : this.#firstTokens;
    if (step !== undefined) this.#firstTokens = 1;
    const { isNamed, isEnded } = wire;
    stream(response, wire.events(step, conversation.results.length, tokens), { isNamed, isEnded });
  }

  /** The call that follows these results; undefined at the end of the script. */
  async #play(seen: readonly Seen[], request: string): Promise<Call | undefined> {
    const step = this.#steps[seen.length];
    try {
      return typeof step === 'function' ? await step(seen, this.#tools, request) : step;
    } catch (thrown) {
      this.#fault ??= thrown;
      return undefined;
    }
  }
}

function send(response: ServerResponse, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function stream(
  response: ServerResponse,
  events: readonly object[],
  { isNamed, isEnded }: Pick<Wire, 'isNamed' | 'isEnded'>,
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    const name = isNamed && 'type' in event ? `event: ${event.type}\n` : '';
    response.write(`${name}data: ${JSON.stringify(event)}\n\n`);
  }
  response.end(isEnded ? 'data: [DONE]\n\n' : '');
}
