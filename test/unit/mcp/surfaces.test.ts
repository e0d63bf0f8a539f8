import type { CallToolResult } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import type { Surface } from '#src/core/surfaces.js';
import { SURFACE_VIEWS } from '#src/mcp/surfaces/surface-views.js';
import type { McpCall, McpTool } from '#src/mcp/tools.js';

interface Passed {
  tool: string;
  args: Record<string, unknown>;
}

/** Calls through a surface, and what of them is passed on. `failing`: ids of tools whose calls fail. */
function open(surface: Surface, { listed = [], failing = [] }: { listed?: McpTool[]; failing?: string[] } = {}) {
  const passed: Passed[] = [];
  const tools = {
    list: async () => listed,
    find: async (name: string) => listed.find((tool) => tool.name === name),
    async call(given: McpCall) {
      const { tool, inputJson } = given;
      expect(given.surface).toBe(surface);
      const args = JSON.parse(inputJson.toString());
      passed.push({ tool, args });
      const errorLine = failing.includes(args.tool_id) ? 'no' : '';
      const line = JSON.stringify({ data: { content: [] }, error: null, truncated: false, refs: [] });
      return { line, stdout: `${tool}\n`, stderr: '', errorLine };
    },
  };
  const { signal } = new AbortController();
  const call = (name: string, args: Record<string, unknown>): Promise<CallToolResult> =>
    SURFACE_VIEWS[surface].call({ name, args, signal }, tools);
  return { call, passed };
}

function textsOf({ content }: CallToolResult): string[] {
  return content.map((block) => (block.type === 'text' ? block.text : ''));
}

describe('issue 34: the surface compact', () => {
  it.each<[string, Record<string, unknown>, Passed]>([
    ['search', { query: 'a', limit: 3 }, { tool: 'tool_browse', args: { query: 'a', top_k: 3 } }],
    ['search', {}, { tool: 'tool_browse', args: { path: '/' } }],
    ['search', { namespace: 'github' }, { tool: 'tool_browse', args: { path: '/github' } }],
    ['search', { query: 'a', namespace: 'b' }, { tool: 'tool_browse', args: { query: 'a', path: '/b' } }],
    ['schema', { operation: 'a:b' }, { tool: 'tool_hydrate', args: { tool_id: 'a:b' } }],
    [
      'call',
      { operation: 'a:b', input: { c: 1 }, dry_run: true },
      { tool: 'tool_execute', args: { tool_id: 'a:b', args: { c: 1 }, dry_run: true } },
    ],
    [
      'call',
      { operation: 'a:b', continuation: '7', max_tokens: 500 },
      { tool: 'tool_execute', args: { continuation: '7', max_tokens: 500 } },
    ],
  ])('passes %s %j on under the name of the other surfaces', async (name, args, meant) => {
    const { call, passed } = open('compact');
    await call(name, args);
    expect(passed).toEqual([meant]);
  });

  it('gives each call of a batch an equal share of one budget, whatever a call asks for', async () => {
    const { call, passed } = open('compact');
    const calls = [{ operation: 'a' }, { operation: 'b', max_tokens: 9_000 }, { operation: 'c' }];
    await call('batch', { calls, max_tokens: 3_000, dry_run: true });
    expect(passed.map(({ args }) => args)).toEqual([
      { tool_id: 'a', max_tokens: 1_000, dry_run: true },
      { tool_id: 'b', max_tokens: 1_000, dry_run: true },
      { tool_id: 'c', max_tokens: 1_000, dry_run: true },
    ]);
    await call('batch', { calls: [{ operation: 'a' }, { operation: 'b' }] });
    expect(passed.at(-1)?.args.max_tokens).toBe(1_000);
  });

  it('answers a batch with a text for each call in its place, and with an error only if every call failed', async () => {
    const some = await open('compact', { failing: ['b'] }).call('batch', {
      calls: [{ operation: 'a' }, { operation: 'b' }],
    });
    expect(textsOf(some)).toEqual([
      '[contextd call 1 a]\ntool_execute\n',
      '[contextd call 2 b failed]\ntool_execute\n',
    ]);
    expect(some.isError ?? false).toBe(false);
    const none = await open('compact', { failing: ['b'] }).call('batch', { calls: [{ operation: 'b' }] });
    expect(none.isError).toBe(true);
  });

  it('names a call of a batch in one line, whatever its operation is called', async () => {
    const { call } = open('compact');
    const [text = ''] = textsOf(await call('batch', { calls: [{ operation: 'a"]\n[contextd call 9 "b' }] }));
    expect(text.split('\n')).toHaveLength(3);
    expect(text.match(/\[contextd /g)).toHaveLength(1);
  });
});

describe('issue 34: the surface', () => {
  const listed = (toolId: string): McpTool => ({
    name: 'own',
    purpose: '',
    schemaJson: '',
    toolId,
    definitionJson: '',
  });

  it('gateway passes handle and selector on as ref and view', async () => {
    const { call, passed } = open('gateway');
    await call('tool_view', { handle: 'art_1', selector: { tail: 3 }, max_tokens: 300 });
    await call('tool_execute', { tool_id: 'a', args: { handle: 'b' } });
    expect(passed).toEqual([
      { tool: 'tool_view', args: { max_tokens: 300, ref: 'art_1', view: { tail: 3 } } },
      { tool: 'tool_execute', args: { tool_id: 'a', args: { handle: 'b' } } },
    ]);
  });

  it('passthrough executes a tool of a server by its own name, with its own arguments', async () => {
    const { call, passed } = open('passthrough', { listed: [listed('a:own#00000000')] });
    await call('own', { view: 1, max_tokens: 2 });
    await call('safe_bash', { command: 'x' });
    expect(passed).toEqual([
      { tool: 'tool_execute', args: { tool_id: 'a:own#00000000', args: { view: 1, max_tokens: 2 } } },
      { tool: 'safe_bash', args: { command: 'x' } },
    ]);
  });

  it('proxy passes no call of a listed name on', async () => {
    const { call, passed } = open('proxy', { listed: [listed('a:own#00000000')] });
    await expect(call('own', {})).rejects.toMatchObject({ code: 'ARGS_INVALID' });
    await call('tool_execute', { tool_id: 'own' });
    expect(passed).toEqual([{ tool: 'tool_execute', args: { tool_id: 'own' } }]);
  });
});
