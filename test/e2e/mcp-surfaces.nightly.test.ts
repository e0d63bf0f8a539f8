import type { Client } from '@modelcontextprotocol/client';
import { getEncoding } from 'js-tiktoken';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FOR_SERVERS } from '#src/catalog/tool-list.js';
import type { Surface } from '#src/core/surfaces.js';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { connectClient, ERAS, textOf } from '../helpers/mcp-client.ts';

let at: Installation;

beforeAll(async () => {
  at = await install({ settings: { 'gateway.surface': 'gateway' } });
});

afterAll(() => at.remove());

const META = { 'anthropic/alwaysLoad': true, 'anthropic/maxResultSizeChars': 500_000 };
const encoding = getEncoding('cl100k_base');

/** What a session costs a client before its first call. */
async function startTokens(client: Client): Promise<number> {
  const { tools } = await client.listTools();
  const shown = tools.map(({ name, description, inputSchema }) => ({
    name: `mcp__contextd__${name}`,
    description,
    input_schema: inputSchema,
  }));
  return encoding.encode(JSON.stringify(shown)).length + encoding.encode(client.getInstructions() ?? '').length;
}

async function names(client: Client): Promise<string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

describe.each(ERAS)('the surface gateway, for a client of %s', (era) => {
  let client: Client;
  beforeAll(async () => {
    // The settings name it.
    client = await connectClient(at, era);
  });
  afterAll(() => client.close());

  it('issue 34: shows three tools, to be loaded always, for at most 1,000 tokens', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['tool_browse', 'tool_execute', 'tool_view']);
    for (const tool of tools) expect(tool._meta).toEqual(META);
    expect(await startTokens(client)).toBeLessThanOrEqual(1_000);
  });

  it('issue 34: finds a tool, executes it by its id, reads on and views a part, each in text only', async () => {
    const found = textOf(await client.callTool({ name: 'tool_browse', arguments: { query: 'run a shell command' } }));
    const [id = ''] = /^contextd:safe_bash@\S+/m.exec(found) ?? [];
    const args = { command: 'seq 1 9000' };
    const result = await client.callTool({ name: 'tool_execute', arguments: { tool_id: id, args } });
    expect(result).not.toHaveProperty('structuredContent');
    const [, continuation = ''] = /rest: tool_execute \{"continuation":"(\d+)"\}\]\n$/.exec(textOf(result)) ?? [];
    const rest = textOf(await client.callTool({ name: 'tool_execute', arguments: { tool_id: id, continuation } }));
    expect(rest).toMatch(/^\d+$/m);
    const { stdout } = await at.run(CTXD, ['audit', 'tail', '--json']);
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ tool: 'safe_bash', via: 'tool_execute', door: 'mcp', input: args }),
    );
  });

  it('issue 34: views a stored output by handle and selector', async () => {
    const answer = await at.ask(
      'safe_bash',
      { command: 'seq 1 9000' },
      { env: { CONTEXTD_SESSION_ID: `view-${era}` } },
    );
    const own = await connectClient(at, era, ['--session', `view-${era}`]);
    const view = { handle: answer.refs[0], selector: { lines: '4000-4002' } };
    expect(textOf(await own.callTool({ name: 'tool_view', arguments: view }))).toContain('4000\n4001\n4002\n');
    await own.close();
  });

  it('issue 34: answers wrong calls with an error that says what to do', async () => {
    const wrong = [
      {
        name: 'tool_browse',
        arguments: { query: 'a', path: '/' },
        says: 'tool_browse takes a query or a path, not both',
      },
      { name: 'tool_browse', arguments: {}, says: 'tool_browse needs a query or a path' },
      { name: 'tool_browse', arguments: { path: `/${'a/'.repeat(5_000)}` }, says: 'PATH_INVALID' },
      { name: 'tool_execute', arguments: { tool_id: 'x:y#00000000' }, says: 'HYDRATE_FAILED' },
      { name: 'tool_execute', arguments: { tool_id: 'safe_bash', args: {} }, says: "required property 'command'" },
      { name: 'tool_view', arguments: { handle: 'art_none' }, says: 'ARGS_INVALID' },
      { name: 'tool_view', arguments: { handle: 'art_0123456789abcdef' }, says: 'NOT_FOUND' },
      { name: 'no_such_tool', arguments: {}, says: 'TOOL_NOT_FOUND' },
    ];
    for (const { says, ...call } of wrong) {
      const result = await client.callTool(call);
      expect(result.isError, call.name).toBe(true);
      expect(textOf(result)).toContain(says);
      expect(textOf(result).length).toBeLessThan(3_000);
    }
  });
});

describe('the surface compact', () => {
  let client: Client;
  beforeAll(async () => {
    client = await connectClient(at, '2026-07-28', ['--surface', 'compact']);
  });
  afterAll(() => client.close());

  it('issue 34: shows search, schema, call and batch for at most 1,000 tokens', async () => {
    expect(await names(client)).toEqual(['batch', 'call', 'schema', 'search']);
    for (const tool of (await client.listTools()).tools) expect(tool._meta).toEqual(META);
    expect(await startTokens(client)).toBeLessThanOrEqual(1_000);
  });

  it('issue 34: searches, shows a schema and calls, and reads on with call', async () => {
    const found = textOf(
      await client.callTool({ name: 'search', arguments: { query: 'run a shell command', limit: 1 } }),
    );
    const [operation = ''] = /^contextd:safe_bash@\S+/.exec(found) ?? [];
    expect(found.trimEnd().split('\n')).toHaveLength(1);
    expect(textOf(await client.callTool({ name: 'search', arguments: {} }))).toContain('/contextd');
    expect(textOf(await client.callTool({ name: 'search', arguments: { namespace: 'contextd' } }))).toContain(
      'safe_read',
    );
    expect(textOf(await client.callTool({ name: 'schema', arguments: { operation } }))).toContain('"command"');
    const input = { command: 'seq 1 9000' };
    const first = textOf(await client.callTool({ name: 'call', arguments: { operation, input } }));
    const [, continuation = ''] = /rest: call \{"continuation":"(\d+)"\}\]\n$/.exec(first) ?? [];
    expect(textOf(await client.callTool({ name: 'call', arguments: { continuation } }))).toMatch(/^\d+$/m);
  });

  it('issue 34: runs a batch at the same time, in one budget, each answer in its place', async () => {
    const long = { operation: 'safe_bash', input: { command: 'seq 1 9000' } };
    // Both wait for the other: one after the other they would never end.
    const meet = (mine: string, other: string) =>
      `touch /tmp/${mine}; for i in $(seq 200); do [ -e /tmp/${other} ] && break; sleep 0.05; done; [ -e /tmp/${other} ] && echo met ${other}`;
    const calls = [
      { operation: 'safe_bash', input: { command: meet('a', 'b') } },
      { operation: 'safe_bash', input: { command: meet('b', 'a') } },
      { operation: 'x:none#00000000' },
      long,
      long,
    ];
    const result = await client.callTool({ name: 'batch', arguments: { calls, max_tokens: 2_000 } });
    const texts = result.content.map((block) => (block.type === 'text' ? block.text : ''));
    expect(result.isError ?? false).toBe(false);
    expect(texts[0]).toContain('[contextd call 1 safe_bash]\nmet b\n');
    expect(texts[1]).toContain('[contextd call 2 safe_bash]\nmet a\n');
    expect(texts[2]).toMatch(/^\[contextd call 3 x:none#00000000 failed\]\n.*HYDRATE_FAILED/);
    expect(texts[3]).toMatch(/rest: call \{"continuation":"\d+"\}\]\n$/);
    expect(encoding.encode(texts.join('')).length).toBeLessThanOrEqual(2_000 + 5 * 20);
  });

  it.each([[{}], [{ calls: [] }], [{ calls: ['x'] }], [{ calls: Array(21).fill({ operation: 'jobs' }) }]])(
    'issue 34: refuses the batch %j',
    async (args) => {
      const result = await client.callTool({ name: 'batch', arguments: args });
      expect(result.isError).toBe(true);
      expect(textOf(result)).toContain('a list of 1 to 20 objects');
    },
  );

  it('issue 34: has no other tool', async () => {
    const result = await client.callTool({ name: 'safe_bash', arguments: { command: 'echo' } });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain('Tools: search, schema, call, batch.');
  });
});

describe('the surface proxy', () => {
  let client: Client;
  beforeAll(async () => {
    client = await connectClient(at, '2025-11-25', ['--surface', 'proxy']);
  });
  afterAll(() => client.close());

  it('issue 34: lists every tool without its schema, for at most 60 tokens each', async () => {
    const { tools } = await client.listTools();
    const { stdout } = await at.run(CTXD, ['tool', 'list', '--json']);
    const listed = tools.filter(({ name }) => !name.startsWith('tool_'));
    // All but the verbs of the daemon; two of these are listed with their schemas.
    expect(listed).toHaveLength(JSON.parse(stdout).length - 3 - FOR_SERVERS.size);
    for (const { name, description, inputSchema } of listed) {
      expect(inputSchema).toEqual({ type: 'object' });
      const shown = { name: `mcp__contextd__${name}`, description, input_schema: inputSchema };
      expect(encoding.encode(JSON.stringify(shown)).length, name).toBeLessThanOrEqual(60);
    }
  });

  it('issue 34: shows the schema of a tool and executes it by the listed name; the name alone is no tool', async () => {
    const name = (await names(client)).find((one) => one.startsWith('contextd_safe_bash_')) ?? '';
    const hydrated = textOf(await client.callTool({ name: 'tool_hydrate', arguments: { tool_id: name } }));
    expect(hydrated).toContain('"command"');
    const args = { command: 'echo done' };
    const executed = await client.callTool({ name: 'tool_execute', arguments: { tool_id: name, args } });
    expect(textOf(executed)).toBe('done\n');
    const direct = await client.callTool({ name, arguments: args });
    expect(direct.isError).toBe(true);
    expect(textOf(direct)).toContain(`tool_execute {"tool_id":"${name}"`);
  });
});

it('issue 34: the surface passthrough shows and calls the tools under their own names', async () => {
  const client = await connectClient(at, '2026-07-28', ['--surface', 'passthrough']);
  expect(await names(client)).toContain('safe_bash');
  const result = await client.callTool({ name: 'safe_bash', arguments: { command: 'echo done' } });
  expect(textOf(result)).toBe('done\n');
  await client.close();
});

it.each<[Surface, string]>([
  ['tools', 'tool_hydrate'],
  ['tools', 'prompt_get'],
  ['gateway', 'safe_bash'],
  ['gateway', 'tool_hydrate'],
  ['compact', 'safe_bash'],
  ['compact', 'tool_execute'],
  ['proxy', 'safe_bash'],
  ['proxy', 'tool_browse'],
  ['passthrough', 'tool_execute'],
  ['passthrough', 'tool_browse'],
])('FR-1.1 the surface %s runs no tool that is not on its list, such as %s', async (surface, name) => {
  const client = await connectClient(at, '2026-07-28', ['--surface', surface]);
  expect(await names(client)).not.toContain(name);
  const command = { command: 'echo ran' };
  const given = new Map<string, Record<string, unknown>>([
    ['safe_bash', command],
    ['tool_execute', { tool_id: 'safe_bash', args: command }],
    ['tool_hydrate', { tool_id: 'safe_bash' }],
  ]);
  const result = await client.callTool({ name, arguments: given.get(name) ?? { query: 'run a command' } });
  expect(result.isError).toBe(true);
  expect(textOf(result)).toContain(`there is no tool named "${name}"`);
  await client.close();
});

it('issue 34: the same tool_execute is a program of the shell, with the arguments behind the id', async () => {
  const { stdout, code } = await at.run('/bin/sh', [
    '-c',
    `.claude/tools/tool_execute/tool_execute 'contextd:safe_bash@1.0.0 {"command":"echo from the shell"}'`,
  ]);
  expect({ stdout, code }).toEqual({ stdout: 'from the shell\n', code: 0 });
});
