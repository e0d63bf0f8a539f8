import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client, JSONRPCMessage } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildConformanceServer } from '../helpers/demo-server.ts';
import { askHttp } from '../helpers/http-door.ts';
import { type AskedClient, connectAsked, type Era, newClient, textOf } from '../helpers/mcp-client.ts';
import {
  openPassthrough,
  PASSTHROUGH_PATH,
  type PassthroughDoor,
  WAYS,
  WAYS_AND_ERAS,
  type Way,
} from '../helpers/passthrough-door.ts';
import { generate, seededRandom } from '../helpers/secret-samples.ts';

let door: PassthroughDoor;
let programs: string;

beforeAll(async () => {
  programs = realpathSync(mkdtempSync(join(tmpdir(), 'passthrough-')));
  door = await openPassthrough('passthrough');
  const server = await buildConformanceServer(programs);
  await door.addServer('both', programs, server);
});

afterAll(async () => {
  await door?.at.remove();
  rmSync(programs, { recursive: true, force: true });
});

/** `wire` receives every message of the server as it comes. */
function connect(way: Way, era: Era, wire: JSONRPCMessage[] = []): Promise<AskedClient> {
  const chosen = door.transport(way);
  // The SDK's client calls it before it reads the message itself.
  chosen.onmessage = (message) => void wire.push(message);
  return connectAsked(era, chosen);
}

async function audit(): Promise<Record<string, unknown>[]> {
  return JSON.parse(await door.ctxd('audit', 'tail', '--json'));
}

/** It looks real, so it is made when the test runs. */
function secret(seed: number): string {
  return `ghp_${generate('[a-zA-Z0-9]{36}', seededRandom(seed))}`;
}

describe.each(WAYS_AND_ERAS)('the surface passthrough over %s, for a client of %s', (way, era) => {
  let client: Client;
  let questions: string[];
  const wire: JSONRPCMessage[] = [];
  beforeAll(async () => {
    ({ client, questions } = await connect(way, era, wire));
  });
  afterAll(() => client.close());

  it('issue 34: lists the tools of a server as it describes them, beside those of contextd', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['safe_bash', 'test_simple_text']));
    const listed = tools.find(({ name }) => name === 'json_schema_2020_12_tool');
    expect(listed?.inputSchema).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $defs: { address: { $anchor: 'addressDef' } },
      additionalProperties: false,
    });
    expect(textOf(await client.callTool({ name: 'safe_bash', arguments: { command: 'echo own' } }))).toBe('own\n');
  });

  it('issue 34: gives images, sounds, resources and errors as the server gave them', async () => {
    const { content } = await client.callTool({ name: 'test_multiple_content_types', arguments: {} });
    expect(content).toMatchObject([
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: expect.stringMatching(/^iVBORw0KGgo/), mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'test://mixed-content-resource', text: '{"test":"data","value":123}' } },
    ]);
    const failed = await client.callTool({ name: 'test_error_handling', arguments: {} });
    expect(failed).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('intentionally') }] });
  });

  it('issue 34: reports progress before the result, with figures', async () => {
    wire.splice(0);
    await client.callTool({ name: 'test_tool_with_progress', arguments: {} }, { onprogress() {} });
    // The SDK's client passes on no progress that it reads at once with the result.
    expect(wire).toMatchObject([
      ...[0, 50, 100].map((progress) => ({
        method: 'notifications/progress',
        params: { progress, total: 100, progressToken: expect.any(Number) },
      })),
      { result: { content: [{ type: 'text' }] } },
    ]);
  });

  it('issue 34: masks secrets in results, resources, prompts and errors, and records them', async () => {
    const [first, second, third] = [secret(1), secret(2), secret(3)];
    const echoed = await client.callTool({ name: 'test_x_mcp_header', arguments: { region: first } });
    expect(textOf(echoed)).toMatch(/^region=\[SECRET_\d+\]$/);
    const read = await client.readResource({ uri: `test://template/${second}/data` });
    expect(JSON.stringify(read)).toContain('[SECRET_');
    const args = { arg1: third, arg2: 'plain' };
    const prompt = await client.getPrompt({ name: 'test_prompt_with_arguments', arguments: args });
    expect(JSON.stringify(prompt)).toMatch(/arg1='\[SECRET_\d+\]', arg2='plain'/);
    const unknown = `test://none/${secret(4)}`;
    await expect(client.readResource({ uri: unknown })).rejects.toThrow(/Resource not found: test:\/\/none\/\[SECRET_/);
    expect(JSON.stringify([echoed, read, prompt])).not.toMatch(/ghp_/);
    const records = await audit();
    const recorded = { door: 'mcp', ...(way === 'HTTP' ? { token: 'passthrough' } : {}) };
    expect(records).toContainEqual(expect.objectContaining({ ...recorded, via: 'tool_execute', secrets_found: 1 }));
    expect(records).toContainEqual(
      expect.objectContaining({ ...recorded, tool: 'resources/read', secret_rules: [expect.any(String)] }),
    );
    expect(records).toContainEqual(expect.objectContaining({ tool: 'prompts/get', error_code: null }));
    expect(records).toContainEqual(expect.objectContaining({ tool: 'resources/read', error_code: 'UPSTREAM_ERROR' }));
    expect(JSON.stringify(records)).not.toMatch(/ghp_/);
  });

  it('issue 34: lists and reads resources, also as bytes, completes arguments, and gets prompts with images', async () => {
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toContain('test://static-binary');
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates).toMatchObject([{ uriTemplate: 'test://template/{id}/data' }]);
    const { contents } = await client.readResource({ uri: 'test://static-binary' });
    expect(contents).toMatchObject([{ blob: expect.stringMatching(/^iVBORw0KGgo.*=$/) }]);
    const ref = { type: 'ref/prompt' as const, name: 'test_prompt_with_arguments' };
    const completed = await client.complete({ ref, argument: { name: 'arg1', value: 'a' } });
    expect(completed.completion.values).toEqual(['a-completed']);
    const { messages } = await client.getPrompt({ name: 'test_prompt_with_image' });
    expect(messages[0]).toMatchObject({ content: { type: 'image', mimeType: 'image/png' } });
  });

  it('issue 34: carries questions of a server to the client, several at once and in several rounds', async () => {
    const call = async (name: string) => textOf(await client.callTool({ name, arguments: {} }));
    expect(await call('test_input_required_result_multi_round')).toBe('Multi-round complete: Ann likes Ann');
    expect(await call('test_input_required_result_multiple_inputs')).toMatch(/^Ann: .*from the model.*home\/ann/);
    expect(await call('test_input_required_result_list_roots')).toBe('Roots: file:///home/ann');
    expect(questions).toContain('The MCP server both asks: "Step 2: What is your favorite color?"');
  });
});

describe('the surface passthrough with a server of an older revision', () => {
  beforeAll(async () => {
    await door.ctxd('upstream', 'remove', 'both');
    const server = join(programs, 'conformance.mjs');
    await door.addServer('old', programs, server, '--legacy');
  });

  it.each(WAYS_AND_ERAS)('issue 34: over %s its questions reach a client of %s, masked', async (way, era) => {
    const { client, questions } = await connect(way, era);
    const message = `Is ${secret(5)} yours?`;
    const answer = await client.callTool({ name: 'test_elicitation', arguments: { message } });
    expect(textOf(answer)).toBe('Elicitation completed: action=accept, content={"response":"Ann"}');
    expect(questions).toEqual([expect.stringMatching(/^The MCP server old asks: "Is \[SECRET_\d+\] yours\?"$/)]);
    const sampled = await client.callTool({ name: 'test_sampling', arguments: { prompt: 'What is it?' } });
    expect(textOf(sampled)).toBe('LLM response: from the model');
    await client.close();
  });

  it.each(WAYS)(
    'issue 34: over %s a client of a session gets what it logs, and what it says of a resource that is watched',
    async (way) => {
      const { client } = await connect(way, '2025-11-25');
      const seen: unknown[] = [];
      client.setNotificationHandler('notifications/message', ({ params }) => void seen.push(params.data));
      const updated = Promise.withResolvers<string>();
      client.setNotificationHandler('notifications/resources/updated', ({ params }) => updated.resolve(params.uri));
      await client.callTool({ name: 'test_tool_with_logging', arguments: {} });
      expect(seen).toEqual(['Tool execution started', 'Tool processing data', 'Tool execution completed']);
      await client.subscribeResource({ uri: 'test://watched-resource' });
      expect(await updated.promise).toBe('test://watched-resource');
      await client.close();
    },
  );

  it.each(WAYS)('issue 34: cancels the call at the server when a client over %s cancels it', async (way) => {
    const { client } = await connect(way, '2025-11-25');
    const asked = Promise.withResolvers<void>();
    client.setRequestHandler('elicitation/create', () => {
      asked.resolve();
      return new Promise(() => {});
    });
    const cancelling = new AbortController();
    const args = { message: `Wait for ${way}` };
    const call = client.callTool({ name: 'test_elicitation', arguments: args }, { signal: cancelling.signal });
    await asked.promise;
    cancelling.abort();
    await expect(call).rejects.toThrow();
    await expect
      .poll(audit, { timeout: 20_000 })
      .toContainEqual(expect.objectContaining({ via: 'tool_execute', input: args, error_code: 'CANCELLED' }));
    await client.close();
  });

  it('issue 34: a session is that of its token, and ends when its client says so', async () => {
    const client = newClient('2025-11-25');
    const own = door.httpTransport();
    await client.connect(own);
    const headers = { 'mcp-session-id': own.sessionId ?? '', accept: 'application/json, text/event-stream' };
    const ping = { jsonrpc: '2.0', id: 7, method: 'ping' };
    const ask = async (as: string) =>
      (await askHttp(door.url, PASSTHROUGH_PATH, { token: as, body: ping, headers })).status;
    const other = await door.makeToken('passthrough-2');
    expect(await ask(other)).toBe(404);
    expect(await ask(door.token)).toBe(200);
    await own.terminateSession();
    expect(await ask(door.token)).toBe(404);
    await client.close();
  });

  it('issue 34: a session ends with its token, and a later token of the same name does not open it', async () => {
    const own = door.httpTransport(await door.makeToken('brief'));
    const client = newClient('2025-11-25');
    await client.connect(own);
    await client.listTools();
    const later = await door.makeToken('brief', '--rotate');
    const named = { 'mcp-session-id': own.sessionId ?? '', accept: 'application/json, text/event-stream' };
    const ping = { jsonrpc: '2.0', id: 7, method: 'ping' };
    expect((await askHttp(door.url, PASSTHROUGH_PATH, { token: later, body: ping, headers: named })).status).toBe(404);
    await client.close();
  });
});

describe('the surface passthrough with a server of the newest revision only', () => {
  beforeAll(async () => {
    await door.ctxd('upstream', 'remove', 'old');
    const server = join(programs, 'conformance.mjs');
    await door.addServer('new', programs, server, '--modern');
  });

  it.each(WAYS)(
    'issue 34: over %s its results that ask for input become requests to a client of 2025-11-25',
    async (way) => {
      const { client, questions } = await connect(way, '2025-11-25');
      const answer = await client.callTool({ name: 'test_input_required_result_multi_round', arguments: {} });
      expect(textOf(answer)).toBe('Multi-round complete: Ann likes Ann');
      expect(questions).toHaveLength(2);
      await client.close();
    },
  );

  it('issue 34: of many sessions of a project, the least recently used one ends', async () => {
    const open = async () => {
      const client = newClient('2025-11-25');
      await client.connect(door.httpTransport());
      return client;
    };
    const first = await open();
    const others = await Promise.all(Array.from({ length: 16 }, open));
    await expect(first.ping()).rejects.toThrow();
    await others.at(-1)?.ping();
    for (const client of [first, ...others]) await client.close();
  });
});
