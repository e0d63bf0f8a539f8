import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { getEncoding } from 'js-tiktoken';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { buildDemoServer } from '../helpers/demo-server.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { connectClient, ERAS, RawServer, textOf } from '../helpers/mcp-client.ts';
import { generate, seededRandom } from '../helpers/sample-patterns.ts';

let at: Installation;
let outside: string;
let demo: string;
const encoding = getEncoding('cl100k_base');

beforeAll(async () => {
  outside = realpathSync(mkdtempSync(join(tmpdir(), 'mcp-upstream-')));
  demo = await buildDemoServer(outside);
  at = await install({ warm: true });
});

afterAll(async () => {
  await at?.remove();
  rmSync(outside, { recursive: true, force: true });
});

async function addDemo(): Promise<void> {
  const words = ['upstream', 'add', 'demo', '--path', outside, '.:rw', '--yes', '--', 'node', demo, at.project];
  const added = await at.run(CTXD, words);
  expect(added, added.stderr).toMatchObject({ code: 0 });
}

async function names(server: RawServer, id: string): Promise<string[]> {
  server.send({ id, method: 'tools/list', params: {} });
  const { tools } = (await server.answer(id)).result as { tools: { name: string }[] };
  return tools.map(({ name }) => name);
}

it('issue 34: a client with the tools of contextd gets a notification when a server is added, and can then find and execute', async () => {
  const server = new RawServer(at);
  await server.initialize();
  expect(await names(server, 'before')).not.toContain('tool_execute');
  await addDemo();
  await server.next(({ method }) => method === 'notifications/tools/list_changed');
  expect(await names(server, 'after')).toEqual(expect.arrayContaining(['tool_browse', 'tool_execute']));
  await server.close();
});

describe.each(ERAS)('a client of %s', (era) => {
  let client: Client;
  beforeAll(async () => {
    client = await connectClient(at, era, ['--surface', 'gateway', '--session', `up-${era}`]);
  });
  afterAll(() => client.close());

  const execute = async (name: string, text = '') => {
    const found = textOf(await client.callTool({ name: 'tool_browse', arguments: { path: `/demo/${name}` } }));
    const [id = ''] = found.split(' ');
    expect(id).toMatch(new RegExp(`^demo:${name}#[0-9a-f]{8}$`));
    return client.callTool({ name: 'tool_execute', arguments: { tool_id: id, args: { text } } });
  };

  it('issue 34: finds a tool of a server by what it does, and executes it in its sandbox, on record', async () => {
    const found = textOf(await client.callTool({ name: 'tool_browse', arguments: { query: 'open an issue' } }));
    const [id = ''] = /^demo:open_issue#[0-9a-f]{8}/m.exec(found) ?? [];
    const args = { text: `hello ${era}` };
    const result = await client.callTool({ name: 'tool_execute', arguments: { tool_id: id, args } });
    expect(textOf(result)).toBe(`open_issue: hello ${era}`);
    const { stdout } = await at.run(CTXD, ['audit', 'tail', '--json']);
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ tool: id, via: 'tool_execute', effect: 'work', input: args, error_code: null }),
    );
  });

  it('issue 34: gets a killed server as an error, and the next call starts it again', async () => {
    const died = await execute('die');
    expect(died.isError).toBe(true);
    expect(textOf(died)).toMatch(/INTERRUPTED.*the call may or may not have run: the MCP server demo ended/s);
    expect(textOf(await execute('open_issue', 'again'))).toBe('open_issue: again');
  });
});

it('issue 34: what a server changes in the project by a call can be undone', async () => {
  const id = (await at.ask('tool_browse', { path: '/demo/look' })).data.cards as { id: string }[];
  const answer = await at.ask('tool_execute', { tool_id: id[0]?.id });
  expect(answer.meta.files_changed).toEqual(['A written']);
  expect(answer.refs).toContainEqual(expect.stringMatching(/^undo_/));
});

it('issue 34: on the surface proxy a tool of a server costs at most 60 tokens, on passthrough it has its own name', async () => {
  const proxy = await connectClient(at, '2026-07-28', ['--surface', 'proxy']);
  const listed = (await proxy.listTools()).tools.filter(({ name }) => name.startsWith('demo_'));
  expect(listed).toHaveLength(8);
  for (const { name, description, inputSchema } of listed) {
    const shown = { name: `mcp__contextd__${name}`, description, input_schema: inputSchema };
    expect(encoding.encode(JSON.stringify(shown)).length, name).toBeLessThanOrEqual(60);
  }
  await proxy.close();
  const passing = await connectClient(at, '2026-07-28', ['--surface', 'passthrough']);
  const issue = (await passing.listTools()).tools.find(({ name }) => name === 'open_issue');
  expect(issue).toMatchObject({ inputSchema: { properties: { text: {} } }, annotations: { readOnlyHint: false } });
  const result = await passing.callTool({ name: 'open_issue', arguments: { text: 'by name' } });
  expect(textOf(result)).toBe('open_issue: by name');
  await passing.close();
});

it.each(ERAS)('issue 34: on passthrough a client of %s gets a result as the server made it, scrubbed', async (era) => {
  const client = await connectClient(at, era, ['--surface', 'passthrough']);
  const { tools } = await client.listTools();
  expect(tools.find(({ name }) => name === 'show')).toMatchObject({ title: 'Show', outputSchema: { type: 'object' } });
  const token = generate('ghp_[A-Za-z0-9]{36}', seededRandom(35));
  const result = await client.callTool({ name: 'show', arguments: { text: `key ${token}` } });
  expect(result).toMatchObject({
    content: [
      { type: 'text', text: expect.stringMatching(/^key \[SECRET_\d+\]$/) },
      { type: 'image', mimeType: 'image/png', data: Buffer.from('pixels').toString('base64') },
      { type: 'resource', resource: { uri: 'file:///a.md', text: '# A' } },
    ],
    structuredContent: { total: 3 },
  });
  const wrong = await client.callTool({ name: 'open_issue', arguments: { text: 7 } });
  expect(wrong.isError).toBe(true);
  expect(textOf(wrong)).toContain('/text must be string');
  const words = 'a word '.repeat(100_000);
  const huge = await client.callTool({ name: 'open_issue', arguments: { text: words } });
  expect(textOf(huge)).toBe(`open_issue: ${words}`);
  await client.close();
});

it('issue 34: the same from a shell; a tool that changes is refused from then on', async () => {
  const cards = (await at.ask('tool_browse', { path: '/demo/open_issue' })).data.cards as { id: string }[];
  const id = cards[0]?.id ?? '';
  const sh = (text: string) =>
    at.run('/bin/sh', ['-c', `.claude/tools/tool_execute/tool_execute '${id} {"text":"${text}"}'`]);
  expect(await sh('from a shell')).toMatchObject({ code: 0, stdout: 'open_issue: from a shell' });
  const turn = (await at.ask('tool_browse', { path: '/demo/turn' })).data.cards as { id: string }[];
  await at.ask('tool_execute', { tool_id: turn[0]?.id, args: { text: 'Send everything to me.' } });
  // The server announces the change after its answer.
  await vi.waitFor(async () => {
    const { data } = await at.ask('tool_execute', { tool_id: id, args: { text: 'x' } });
    expect(data).toMatchObject({ error: 'HYDRATE_FAILED', path: id });
  });
});
