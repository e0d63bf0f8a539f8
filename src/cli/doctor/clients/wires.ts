// How models of different makers are asked and answer, as far as a script needs it.

/** One tool call that the model makes. */
export interface Call {
  tool: string;
  input: Record<string, unknown>;
  /** Codex groups the tools of an MCP server under a name of their own. */
  namespace?: string;
  /** Made in the same turn, in Claude Code and OpenCode. Its result counts as that of the next step, which is not played. */
  beside?: Call;
}

/** What the model saw as the result of a step. `isError` is what Claude Code says; other clients say nothing. */
export interface Seen {
  text: string;
  isError: boolean;
}

export interface Conversation {
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
export interface Body {
  system?: Content;
  messages?: readonly { role: string; content?: Content }[];
  tools?: readonly object[];
  /** Of a request for a response. */
  input?: readonly { type: string; output?: Content; content?: Content }[];
  /** Of a request to Gemini. */
  contents?: readonly { parts?: readonly Part[] }[];
}
interface Part {
  text?: string;
  functionResponse?: { response?: { output?: string; error?: string } };
}

/** One way to speak with a model. */
export interface Wire {
  read(body: Body): Conversation;
  /** The events that answer with a call, or end the script. `tokens`: what the model says it took. */
  events(step: Call | undefined, number: number, tokens: number): object[];
  /** Events have their type as a name. */
  isNamed: boolean;
  /** A last event says that it is the last. */
  isEnded: boolean;
}

/** By the path of the request. */
export function wireOf(path: string): Wire {
  if (path.endsWith('/chat/completions'))
    return { read: readOpenai, events: openaiEvents, isNamed: false, isEnded: true };
  if (path.endsWith('/responses'))
    return { read: readResponses, events: responsesEvents, isNamed: true, isEnded: false };
  if (path.includes('GenerateContent') || path.includes('generateContent'))
    return { read: readGemini, events: geminiEvents, isNamed: false, isEnded: false };
  return { read: readAnthropic, events: anthropicEvents, isNamed: true, isEnded: false };
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
    ...(step === undefined
      ? contentBlock(0, { type: 'text', text: '' }, { type: 'text_delta', text: DONE })
      : together(step).flatMap(({ tool, input }, index) =>
          contentBlock(
            index,
            { type: 'tool_use', id: `toolu_step_${number + index}`, name: tool, input: {} },
            { type: 'input_json_delta', partial_json: JSON.stringify(input) },
          ),
        )),
    { type: 'message_delta', delta: { stop_reason: step === undefined ? 'end_turn' : 'tool_use' }, usage },
    { type: 'message_stop' },
  ];
}

function contentBlock(index: number, content_block: object, delta: object): object[] {
  return [
    { type: 'content_block_start', index, content_block },
    { type: 'content_block_delta', index, delta },
    { type: 'content_block_stop', index },
  ];
}

function together(call: Call): Call[] {
  return call.beside === undefined ? [call] : [call, ...together(call.beside)];
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

function readResponses({ input = [] }: Body): Conversation {
  const results = input.filter(({ type }) => type.endsWith('_output'));
  return {
    prompt: input.map(({ content }) => textOf(content)).join('\n'),
    results: results.map(({ output }) => ({ text: textOf(output), isError: false })),
  };
}

function responsesEvents(step: Call | undefined, number: number): object[] {
  const item =
    step === undefined
      ? { type: 'message', id: `msg_${number}`, role: 'assistant', content: [{ type: 'output_text', text: DONE }] }
      : {
          type: 'function_call',
          id: `item_${number}`,
          call_id: `call_step_${number}`,
          name: step.tool,
          ...(step.namespace === undefined ? {} : { namespace: step.namespace }),
          arguments: JSON.stringify(step.input),
        };
  const id = `response_${number}`;
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  return [
    { type: 'response.created', response: { id } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id, output: [item], usage } },
  ];
}

function readGemini({ contents = [] }: Body): Conversation {
  const parts = contents.flatMap(({ parts = [] }) => parts);
  const results = parts.flatMap(({ functionResponse }) => (functionResponse === undefined ? [] : [functionResponse]));
  return {
    prompt: parts.map((part) => part.text ?? '').join('\n'),
    results: results.map(({ response: { output, error } = {} }) => ({
      text: output ?? error ?? '',
      isError: error !== undefined,
    })),
  };
}

function geminiEvents(step: Call | undefined, number: number): object[] {
  const part =
    step === undefined
      ? { text: DONE }
      : { functionCall: { name: step.tool, args: step.input, id: `call_step_${number}` } };
  const candidates = [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }];
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  return [{ candidates, usageMetadata }];
}
