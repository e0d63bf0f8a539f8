import type { Client } from '@modelcontextprotocol/client';
import { getEncoding } from 'js-tiktoken';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { connectClient, ERAS, textOf } from '../helpers/mcp-client.ts';

let at: Installation;

beforeAll(async () => {
  at = await install();
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
    expect(tools.map(({ name }) => name)).toEqual(JSON.parse(stdout).map(({ name }: { name: string }) => name));
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
      { name: 'no_such_tool', arguments: {}, says: 'Tools: branch' },
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
