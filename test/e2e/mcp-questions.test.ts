import type { Client } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERAS, newClient } from '../helpers/mcp-client.ts';
import { openPassthrough, type PassthroughDoor, SERVERS } from '../helpers/passthrough-door.ts';
import { propertyRuns } from '../helpers/property-runs.ts';

const NAMES = ['alpha', 'beta'] as const;

let door: PassthroughDoor;

beforeAll(async () => {
  door = await openPassthrough('questions');
  for (const [name, era] of [
    ['alpha', '2025'],
    ['beta', '2026'],
  ] as const)
    await door.addServer(name, SERVERS, `${SERVERS}/asking.mjs`, name, era);
});
afterAll(() => door?.at.remove());

/** What the client is shown of a question. */
interface Shown {
  readonly method: string;
  readonly words: string;
}

interface Asked {
  readonly client: Client;
  readonly shown: Shown[];
}

async function connect(era: (typeof ERAS)[number]): Promise<Asked> {
  const shown: Shown[] = [];
  const client = newClient(era, { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} });
  client.setRequestHandler('elicitation/create', async ({ method, params }) => {
    shown.push({ method, words: params.message });
    return { action: 'decline' };
  });
  client.setRequestHandler('sampling/createMessage', async ({ method, params }) => {
    shown.push({ method, words: params.systemPrompt ?? '' });
    return { role: 'assistant', model: 'test', content: { type: 'text', text: 'said' } };
  });
  client.setRequestHandler('roots/list', async ({ method }) => {
    shown.push({ method, words: '' });
    return { roots: [] };
  });
  await client.connect(door.httpTransport());
  return { client, shown };
}

/** A request of a client that is for one server, or for all; `mayAsk`: the server may ask within it. */
interface Operation {
  readonly method: string;
  readonly mayAsk: boolean;
  send(client: Client, server: string, _meta: Record<string, unknown>): Promise<unknown>;
}

const OPERATIONS: readonly Operation[] = [
  {
    method: 'tools/call',
    mayAsk: true,
    send: (client, server, _meta) => client.callTool({ name: `tool_${server}`, arguments: {}, _meta }),
  },
  {
    method: 'resources/read',
    mayAsk: true,
    send: (client, server, _meta) => client.readResource({ uri: `test://${server}`, _meta }),
  },
  {
    method: 'prompts/get',
    mayAsk: true,
    send: (client, server, _meta) => client.getPrompt({ name: `prompt_${server}`, _meta }),
  },
  { method: 'resources/list', mayAsk: false, send: (client, _server, _meta) => client.listResources({ _meta }) },
  {
    method: 'resources/templates/list',
    mayAsk: false,
    send: (client, _server, _meta) => client.listResourceTemplates({ _meta }),
  },
  { method: 'prompts/list', mayAsk: false, send: (client, _server, _meta) => client.listPrompts({ _meta }) },
  {
    method: 'completion/complete',
    mayAsk: false,
    send: (client, server, _meta) =>
      client.complete({
        ref: { type: 'ref/prompt', name: `prompt_${server}` },
        argument: { name: 'a', value: 'x' },
        _meta,
      }),
  },
];

/** Words that try to end their quotes, or to begin as those of contextd or of another server. */
const words = fc
  .array(
    fc.oneof(
      fc.constantFrom('"', '”', '\n', '\r\n', '\u2028', '\u202e', '\u001b[2K\r', '> ', '`', '[contextd asks]'),
      fc.constantFrom(...NAMES.map((name) => `The MCP server ${name} asks: "`), 'during tools/call: '),
      fc.string({ maxLength: 8 }),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

const question = fc.oneof(
  words.map((message) => ({
    method: 'elicitation/create',
    params: { message, requestedSchema: { type: 'object', properties: {} } },
  })),
  words.map((systemPrompt) => ({
    method: 'sampling/createMessage',
    params: { messages: [], maxTokens: 1, systemPrompt },
  })),
  fc.constant({ method: 'roots/list', params: {} }),
);

/** What a person may be shown: the server first, and nothing of it outside its quotes. */
function expectNamed({ method, words: said }: Shown, server: string, during: string): void {
  if (method === 'roots/list') return;
  if (method === 'elicitation/create') {
    expect(said).toMatch(
      new RegExp(`^The MCP server ${server} asks: "${during}:[^"“”„\`\\p{Cc}\\p{Zl}\\p{Zp}]*"$`, 'u'),
    );
    return;
  }
  const [first, second, ...others] = said.split(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/);
  expect(first).toBe(`The MCP server ${server} asks for this, with these words:`);
  expect(second).toMatch(new RegExp(`^> ${during}:`));
  for (const line of others) expect(line).toMatch(/^> /);
}

describe.each(ERAS)('a client of %s on the surface passthrough', (era) => {
  let asked: Asked;
  beforeAll(async () => {
    asked = await connect(era);
  });
  afterAll(() => asked?.client.close());

  it('decision 0124: is asked only within its own call, read or prompt of that server, by its name, and everything else is answered', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...OPERATIONS),
        fc.constantFrom(...NAMES),
        question,
        fc.constantFrom(...OPERATIONS.filter(({ mayAsk }) => !mayAsk)),
        async ({ method, mayAsk, send }, server, put, beside) => {
          const { client, shown } = asked;
          shown.splice(0);
          const meta = { 'test.example.com/ask': { ...put, isOfRead: mayAsk } };
          // A server of 2026 may not ask within completion, so this one breaks the protocol: the request fails.
          const answered = send(client, server, meta).catch((thrown: unknown) => String(thrown));
          const [answer] = await Promise.all([answered, era === '2025-11-25' ? beside.send(client, server, {}) : null]);
          expect(shown.map((one) => one.method)).toEqual(mayAsk ? [put.method] : []);
          for (const one of shown) expectNamed(one, server, method);
          if (method !== 'completion/complete') expect(answer).toBeTypeOf('object');
        },
      ),
      { numRuns: propertyRuns('door', 2) },
    );
  });
});

it('decision 0124: the addresses that a server of 2025 wants opened come under its name, and only for a call', async () => {
  const { client } = await connect('2025-11-25');
  const meta = {
    'test.example.com/ask': { isThrown: true, method: 'elicitation/create', params: { message: 'Go "there"' } },
  };
  const [call, list] = OPERATIONS.filter(({ method }) => method === 'tools/call' || method === 'completion/complete');
  const failure = (one?: Operation) => one?.send(client, 'alpha', meta).catch((thrown: unknown) => thrown);
  expect(await failure(call)).toMatchObject({
    code: -32_042,
    data: { elicitations: [{ message: `The MCP server alpha asks: "tools/call: Go 'there'"` }] },
  });
  expect(await failure(list)).toMatchObject({ code: -32_603 });
  expect(JSON.stringify(await failure(list))).not.toContain('there');
  await client.close();
});
