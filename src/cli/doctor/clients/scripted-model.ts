import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** One tool call that the model makes. */
export interface Call {
  tool: string;
  input: Record<string, unknown>;
  /** Made in the same turn. Its result counts as that of the next step, which is not played. */
  beside?: Call;
}

/** A call, or how it is made from the results so far, the definitions of tools, and the body of the request. */
export type Step = Call | ((seen: readonly Seen[], tools: readonly object[], request: string) => Call | Promise<Call>);

/** What the model saw as the result of a step. `isError` is what Claude Code says; OpenCode says nothing. */
export interface Seen {
  text: string;
  isError: boolean;
}

/**
 * A model on loopback that plays a script of tool calls, one a turn. It speaks Anthropic's Messages API and OpenAI's chat
 * completions. The step to play is read off the conversation, so a retried request changes nothing.
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
    const openai = path.endsWith('/chat/completions');
    const conversation = openai ? readOpenai(body) : readAnthropic(body);
    // A request without tools asks for a title or a summary.
    if (body.tools?.length) this.#tools = body.tools;
    const step = body.tools?.length ? await this.#play(conversation.results, sent) : undefined;
    if (body.tools?.length && conversation.results.length >= this.#last.results.length) this.#last = conversation;
    const number = conversation.results.length;
    if (openai) {
      const tokens = step === undefined ? 1 : this.#firstTokens;
      if (step !== undefined) this.#firstTokens = 1;
      stream(response, openaiEvents(step, number, tokens), false);
    }
    if (!openai) stream(response, anthropicEvents(step, number), true);
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

interface Conversation {
  prompt: string;
  results: readonly Seen[];
}

interface Block {
  type: string;
  text?: string;
  content?: Content;
  is_error?: boolean;
}
type Content = string | readonly Block[] | undefined;
interface Body {
  system?: Content;
  messages?: readonly { role: string; content?: Content }[];
  tools?: readonly object[];
}

function readAnthropic({ system, messages = [] }: Body): Conversation {
  const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : (content ?? [])));
  const results = blocks.filter((block) => block.type === 'tool_result');
  return {
    prompt: [textOf(system), ...messages.map(({ content }) => textOf(content))].join('\n'),
    results: results.map(({ content, is_error }) => ({
      text: withoutReminders(textOf(content)),
      isError: is_error === true,
    })),
  };
}

function readOpenai({ messages = [] }: Body): Conversation {
  const results = messages.filter(({ role }) => role === 'tool');
  return {
    prompt: messages.map(({ content }) => textOf(content)).join('\n'),
    results: results.map(({ content }) => ({ text: textOf(content), isError: false })),
  };
}

function textOf(content: Content): string {
  if (content === undefined || content === null) return '';
  return typeof content === 'string' ? content : content.map((block) => block.text ?? '').join('');
}

/** Claude Code adds notes of its own to results. */
function withoutReminders(result: string): string {
  return result.replaceAll(/\n*<system-reminder>[\s\S]*?<\/system-reminder>/g, '').trimEnd();
}

/** Claude Code asks for a summary in these tags before it compacts a conversation. */
const DONE = 'The script is done. <summary>Nothing of note.</summary>';

function anthropicEvents(step: Call | undefined, number: number): object[] {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: `msg_${number}`, type: 'message', role: 'assistant', model: 'scripted', content: [], usage };
  return [
    { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
    ...(step === undefined ? textBlock() : together(step).flatMap((call, index) => callBlock(call, index, number))),
    { type: 'message_delta', delta: { stop_reason: step === undefined ? 'end_turn' : 'tool_use' }, usage },
    { type: 'message_stop' },
  ];
}

function together(call: Call): Call[] {
  return call.beside === undefined ? [call] : [call, ...together(call.beside)];
}

function textBlock(): object[] {
  return contentBlock(0, { type: 'text', text: '' }, { type: 'text_delta', text: DONE });
}

function callBlock({ tool, input }: Call, index: number, number: number): object[] {
  return contentBlock(
    index,
    { type: 'tool_use', id: `toolu_step_${number + index}`, name: tool, input: {} },
    { type: 'input_json_delta', partial_json: JSON.stringify(input) },
  );
}

function contentBlock(index: number, content_block: object, delta: object): object[] {
  return [
    { type: 'content_block_start', index, content_block },
    { type: 'content_block_delta', index, delta },
    { type: 'content_block_stop', index },
  ];
}

function openaiEvents(step: Call | undefined, number: number, tokens: number): object[] {
  const calls =
    step &&
    together(step).map(({ tool, input }, index) => ({
      index,
      id: `call_step_${number + index}`,
      type: 'function',
      function: { name: tool, arguments: JSON.stringify(input) },
    }));
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    id: `chunk_${number}`,
    object: 'chat.completion.chunk',
    created: 0,
    model: 'scripted',
    choices: [{ index: 0, delta, finish_reason }],
  });
  return [
    chunk({ role: 'assistant', content: '' }),
    chunk(calls === undefined ? { content: DONE } : { tool_calls: calls }),
    {
      ...chunk({}, calls === undefined ? 'stop' : 'tool_calls'),
      usage: { prompt_tokens: tokens, completion_tokens: 1, total_tokens: tokens + 1 },
    },
  ];
}

function send(response: ServerResponse, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function stream(response: ServerResponse, events: readonly object[], named: boolean): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    const name = named && 'type' in event ? `event: ${event.type}\n` : '';
    response.write(`${name}data: ${JSON.stringify(event)}\n\n`);
  }
  response.end(named ? '' : 'data: [DONE]\n\n');
}
