import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { getEncoding } from 'js-tiktoken';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FOR_SERVERS } from '#src/catalog/tool-list.js';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { makeTool } from '../helpers/made-tool.ts';
import { connectClient, ERAS, RawServer, textOf } from '../helpers/mcp-client.ts';

let at: Installation;

beforeAll(async () => {
  at = await install({ warm: true });
});

afterAll(() => at.remove());

describe.each(ERAS)('a client of %s', (era) => {
  let client: Client;

  beforeAll(async () => {
    client = await connectClient(at, era, ['--session', `of-${era}`]);
  });

  afterAll(() => client.close());

  it('issue 34: has the tools of the project, by name, each to be loaded always and with large results', async () => {
    const { tools } = await client.listTools();
    const { stdout } = await at.run(CTXD, ['tool', 'list', '--json']);
    const all = JSON.parse(stdout).map(({ name }: { name: string }) => name);
    // A client with the whole list needs no search.
    const verbs = ['tool_browse', 'tool_execute', 'tool_hydrate', ...FOR_SERVERS.keys()];
    expect([...tools.map(({ name }) => name), ...verbs].sort()).toEqual(all);
    for (const tool of tools) {
      expect(tool._meta).toEqual({ 'anthropic/alwaysLoad': true, 'anthropic/maxResultSizeChars': 500_000 });
      expect(tool.outputSchema).toBeUndefined();
      expect(JSON.stringify(tool)).not.toMatch(/x-contextd|\$schema/);
    }
  });

  it('issue 34: gets the output as text, with the status of the command, and no structured content', async () => {
    const result = await client.callTool({
      name: 'safe_bash',
      arguments: { command: 'echo out; echo err >&2; exit 3' },
    });
    expect(result).toMatchObject({ content: [{ type: 'text', text: 'out\nerr\n[contextd exit 3]\n' }] });
    expect(result).not.toHaveProperty('structuredContent');
    expect(result.isError ?? false).toBe(false);
  });

  it('issue 34: gets a failure as an error with its sentence and remedy', async () => {
    const failures = [
      { name: 'safe_bash', arguments: {}, says: "must have required property 'command'" },
      { name: 'safe_read', arguments: { path: 'missing.txt' }, says: 'missing.txt' },
      { name: 'no_such_tool', arguments: {}, says: 'there is no tool named "no_such_tool"' },
    ];
    for (const { says, ...call } of failures) {
      const result = await client.callTool(call);
      expect(result.isError).toBe(true);
      expect(textOf(result)).toContain(says);
    }
  });

  it('issue 34: reads a long output to its end by the continuation that the text names', async () => {
    const first = textOf(await client.callTool({ name: 'safe_bash', arguments: { command: 'seq 1 9000' } }));
    expect(first).toMatch(/safe_bash \{"continuation":"\d+"\}\]\n$/);
    const pages = [first];
    for (let text = first; /\{"continuation":"\d+"\}/.test(text); pages.push(text)) {
      expect(pages.length).toBeLessThan(60);
      const [, continuation = ''] = /\{"continuation":"(\d+)"\}/.exec(text) ?? [];
      // Some clients insist on what the schema requires.
      text = textOf(await client.callTool({ name: 'safe_bash', arguments: { command: 'seq 1 9000', continuation } }));
    }
    const seen = pages.flatMap((page) => page.split('\n').filter((line) => /^\d+$/.test(line)));
    expect([...new Set(seen)].toSorted((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 9_000 }, (_, index) => String(index + 1)),
    );
  });

  it('issue 34: is on record as the door mcp, in the session that was named', async () => {
    await client.callTool({ name: 'safe_bash', arguments: { command: `echo for-the-record ${era}` } });
    const { stdout } = await at.run(CTXD, ['audit', 'tail', '--json']);
    const records: { door: string; session: string; input: { command?: string } }[] = JSON.parse(stdout);
    const record = records.find(({ input }) => input?.command === `echo for-the-record ${era}`);
    expect(record).toMatchObject({ door: 'mcp', session: `of-${era}` });
  });
});

it('issue 34: the tools and the instructions cost a session less than 1,500 tokens', async () => {
  const client = await connectClient(at, '2025-11-25');
  const { tools } = await client.listTools();
  const instructions = client.getInstructions() ?? '';
  await client.close();
  const shown = tools.map(({ name, description, inputSchema }) => ({
    name: `mcp__contextd__${name}`,
    description,
    input_schema: inputSchema,
  }));
  const encoding = getEncoding('cl100k_base');
  expect(encoding.encode(JSON.stringify(shown)).length + encoding.encode(instructions).length).toBeLessThan(1_500);
});

it('issue 34: outside a project it ends with the remedy', async () => {
  const { code, stderr, stdout } = await at.runProcess(CTXD, ['mcp', 'serve'], { cwd: '/' });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('Run `ctxd init`');
});

it.each([
  [
    ['--surface', 'all'],
    'there is no surface "all". Pass --surface tools or gateway or compact or proxy or passthrough.',
  ],
  [['--surfaces', 'tools'], "unknown option '--surfaces'"],
  [['--surface'], 'argument missing'],
  [['now'], 'too many arguments'],
])('issue 34: refuses the words %j as a wrong command line', async (words, says) => {
  const { code, stderr } = await at.runProcess(CTXD, ['mcp', 'serve', ...words]);
  expect(code).toBe(2);
  expect(stderr).toContain(says);
});

it('issue 34: SIGTERM ends the server', async () => {
  const server = new RawServer(at, ['--surface', 'tools', '--project', at.project]);
  await server.initialize();
  const exited = once(server.process, 'exit');
  server.process.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});

/** Keys of every request of 2026-07-28. */
const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
};

it.each(ERAS)(
  'issue 34: a client of %s gets a notification when a tool is installed and when it is removed',
  async (era) => {
    const server = new RawServer(at);
    const meta = era === '2026-07-28' ? { _meta: MODERN } : {};
    if (era === '2025-11-25') await server.initialize();
    else
      server.send({
        id: 'listen',
        method: 'subscriptions/listen',
        params: { ...meta, notifications: { toolsListChanged: true } },
      });
    const names = async (id: number): Promise<string[]> => {
      server.send({ id, method: 'tools/list', params: meta });
      const { tools } = listed((await server.answer(id)).result);
      return tools.map(({ name }) => name);
    };
    const changes = () => server.lines.filter(({ method }) => method === 'notifications/tools/list_changed').length;
    const told = (count: number) => server.next(() => changes() >= count);
    const before = await names(1);
    const dir = mkdtempSync(join(tmpdir(), 'made-tool-'));
    makeTool(dir);
    expect(await at.run(CTXD, ['tool', 'install', dir, '--yes'])).toMatchObject({ code: 0 });
    await told(1);
    expect(await names(2)).toEqual([...before, 'weather'].toSorted());
    server.call(3, 'weather', { city: 'Oslo' }, meta);
    expect((await server.answer(3)).result).toMatchObject({ content: [{ text: expect.stringContaining('Oslo') }] });
    expect(await at.run(CTXD, ['tool', 'remove', 'weather', '--yes'])).toMatchObject({ code: 0 });
    await told(2);
    expect(await names(4)).toEqual(before);
    await server.close();
    rmSync(dir, { recursive: true });
  },
);

function listed(result: unknown): { tools: { name: string }[] } {
  return result as { tools: { name: string }[] };
}
