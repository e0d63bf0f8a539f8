import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CTXD, type Installation, install, ROOT } from '../helpers/installation.ts';
import { connectClient, textOf } from '../helpers/mcp-client.ts';

const SERVERS = `${ROOT}/test/fixtures/mcp-servers`;

async function add(at: Installation, name: string, ...words: string[]): Promise<void> {
  const program = [`${SERVERS}/named.mjs`, name, ...words];
  const added = await at.run(CTXD, ['upstream', 'add', name, '--path', SERVERS, '--yes', '--', 'node', ...program]);
  if (added.code !== 0) throw new Error(added.stderr);
}

function passing(at: Installation): Promise<Client> {
  return connectClient(at, '2025-11-25', ['--surface', 'passthrough']);
}

async function read(client: Client, uri: string): Promise<unknown> {
  const [content] = (await client.readResource({ uri })).contents;
  return content && 'text' in content ? content.text : content;
}

async function prompt(client: Client, name: string): Promise<unknown> {
  const [message] = (await client.getPrompt({ name })).messages;
  return message?.content.type === 'text' ? message.content.text : message;
}

async function complete(client: Client, ref: Parameters<Client['complete']>[0]['ref']): Promise<readonly string[]> {
  return (await client.complete({ ref, argument: { name: 'a', value: 'x' } })).completion.values;
}

const call = async (client: Client, name: string) => textOf(await client.callTool({ name }));

describe('passthrough to several servers at once', () => {
  let at: Installation;
  let client: Client;

  beforeAll(async () => {
    at = await install({ warm: true });
    for (const name of ['one', 'two']) await add(at, name);
    client = await passing(at);
  });
  afterAll(async () => {
    await client?.close();
    await at?.remove();
  });

  it('issue 34: of two tools with the same name the first is listed and called, and the others of both servers too', async () => {
    const { tools } = await client.listTools();
    const listed = tools.filter(({ name }) => name.startsWith('echo'));
    expect(listed.map(({ name, description }) => [name, description])).toEqual([
      ['echo', 'Echo of one.'],
      ['echo_one', 'Echo of one.'],
      ['echo_two', 'Echo of two.'],
    ]);
    expect(await call(client, 'echo')).toBe('echo of one, level none');
    expect(await call(client, 'echo_two')).toBe('echo_two of two, level none');
  });

  it('issue 34: of two resources with the same URI the first counts, and each server answers for its own', async () => {
    const { resources } = await client.listResources();
    expect(resources.map(({ name }) => name)).toEqual([
      'test://shared of one',
      'test://one of one',
      'test://two of two',
    ]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ name }) => name)).toEqual(['one', 'all of one', 'two']);
    expect(await read(client, 'test://shared')).toBe('test://shared of one');
    expect(await read(client, 'test://two')).toBe('test://two of two');
    // Of a template, which no server lists as a resource.
    expect(await read(client, 'two://7')).toBe('two://7 of two');
    await expect(read(client, 'test://none')).rejects.toThrow('one does not have it');
  });

  it('issue 34: of two prompts with the same name the first counts, and completion goes to the server that has them', async () => {
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name, description }) => [name, description])).toEqual([
      ['shared', 'Of one.'],
      ['prompt_one', 'Of one.'],
      ['prompt_two', 'Of two.'],
    ]);
    expect(await prompt(client, 'shared')).toBe('shared of one');
    expect(await prompt(client, 'prompt_two')).toBe('prompt_two of two');
    expect(await complete(client, { type: 'ref/prompt', name: 'shared' })).toEqual(['x of one']);
    expect(await complete(client, { type: 'ref/resource', uri: 'two://{id}' })).toEqual(['x of two']);
  });

  it('issue 34: the level of logging is that of every server', async () => {
    await client.setLoggingLevel('error');
    expect(await call(client, 'echo')).toBe('echo of one, level error');
    expect(await call(client, 'echo_two')).toBe('echo_two of two, level error');
  });

  it('issue 34: a server that fails takes nothing away from the others', async () => {
    // Its name comes first.
    await add(at, 'broken', 'fails');
    expect((await client.listResources()).resources).toHaveLength(3);
    expect((await client.listPrompts()).prompts).toHaveLength(3);
    expect(await read(client, 'test://two')).toBe('test://two of two');
    expect(await read(client, 'two://8')).toBe('two://8 of two');
    expect(await prompt(client, 'shared')).toBe('shared of one');
    await client.setLoggingLevel('debug');
    expect(await call(client, 'echo_one')).toBe('echo_one of one, level debug');
    for (const name of ['one', 'two']) await at.run(CTXD, ['upstream', 'remove', name]);
    await expect(client.listResources()).rejects.toThrow('broken is broken');
  });
});

describe('gateway.access for what servers have besides tools', () => {
  let at: Installation;
  let client: Client;

  beforeAll(async () => {
    const denied = ['one:resources', 'two:prompts', 'one:completions', 'two:logging'];
    at = await install({ settings: { 'gateway.access.deny': JSON.stringify(denied) } });
    for (const name of ['one', 'two']) await add(at, name);
    client = await passing(at);
  });
  afterAll(async () => {
    await client?.close();
    await at?.remove();
  });

  it('issue 34: a denied NAME:resources hides its resources and templates, and they cannot be read', async () => {
    const { resources } = await client.listResources();
    expect(resources.map(({ name }) => name)).toEqual(['test://shared of two', 'test://two of two']);
    expect((await client.listResourceTemplates()).resourceTemplates.map(({ name }) => name)).toEqual([
      'two',
      'all of two',
    ]);
    expect(await read(client, 'test://shared')).toBe('test://shared of two');
    await expect(read(client, 'test://one')).rejects.toThrow('two does not have it');
    await expect(read(client, 'one://7')).rejects.toThrow('two does not have it');
  });

  it('issue 34: a denied NAME:prompts hides its prompts, and they cannot be got', async () => {
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['shared', 'prompt_one']);
    await expect(prompt(client, 'prompt_two')).rejects.toThrow('no MCP server of this project answers prompts/get');
  });

  it('issue 34: with a denied NAME:completions the server is asked for none', async () => {
    await expect(complete(client, { type: 'ref/prompt', name: 'prompt_one' })).rejects.toThrow(
      'no MCP server of this project answers completion/complete',
    );
  });

  it('issue 34: with a denied NAME:logging the server gets no level', async () => {
    await client.setLoggingLevel('error');
    expect(await call(client, 'echo_one')).toBe('echo_one of one, level error');
    expect(await call(client, 'echo_two')).toBe('echo_two of two, level none');
  });
});
