import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ERROR_TABLE } from '#src/core/errors.js';
import { SURFACES, type Surface } from '#src/core/surfaces.js';
import { CTXD, type Installation, install, ROOT } from '../helpers/installation.ts';
import { connectClient, textOf } from '../helpers/mcp-client.ts';
import { strangersIn } from '../helpers/named-tools.ts';

type Args = Record<string, unknown>;

const CATALOGUE = {
  tools: [{ name: 'publish', inputSchema: { type: 'object', properties: { to: { type: 'string' } } } }],
  resources: [{ uri: 'docs://deploy', name: 'deploy' }],
  prompts: [{ name: 'review', messages: [] }],
};

/** Calls that fail, each with the code that it fails with. */
const FAILING: readonly [code: keyof typeof ERROR_TABLE, tool: string, args: Args][] = [
  ['ARGS_INVALID', 'safe_read', {}],
  ['ARGS_INVALID', 'tool_browse', { top_k: 900, query: 'x' }],
  ['ARGS_INVALID', 'tool_view', { ref: 'art_0000000000000000', view: { nope: 1 } }],
  ['ARGS_INVALID', 'tool_execute', { tool_id: 'safe_read', args: 'text' }],
  ['ARGS_INVALID', 'tool_execute', {}],
  ['ARGS_INVALID', 'resource_browse', {}],
  ['ARGS_INVALID', 'prompt_browse', {}],
  ['ARGS_INVALID', 'docs:publish', { to: 1 }],
  ['PATH_INVALID', 'safe_read', { path: '/etc/passwd' }],
  ['PATH_INVALID', 'tool_browse', { path: 'a//b' }],
  ['PATH_NOT_FOUND', 'safe_read', { path: 'nowhere.txt' }],
  ['PATH_NOT_FOUND', 'safe_bash', { command: 'true', cwd: 'nowhere' }],
  ['PATH_NOT_FOUND', 'tool_browse', { path: '/nowhere' }],
  ['CURSOR_INVALID', 'safe_bash', { continuation: 'cursor' }],
  ['SECRET_UNKNOWN', 'safe_write', { path: 'a.txt', content: '[SECRET_77]' }],
  ['NOT_FOUND', 'tool_view', { ref: 'art_0000000000000000' }],
  ['NOT_FOUND', 'checkpoint_restore', { id: 'cp_0123456789' }],
  ['NOT_FOUND', 'jobs', { action: 'show', job: 9 }],
  ['TOOL_NOT_FOUND', 'no_such_tool', {}],
  ['HYDRATE_FAILED', 'tool_hydrate', { tool_id: 'github:create_issue' }],
  ['HYDRATE_FAILED', 'tool_execute', { tool_id: 'github:create_issue' }],
  ['RESOURCE_NOT_FOUND', 'resource_read', { resource_id: 'docs://nowhere' }],
  ['PROMPT_NOT_FOUND', 'prompt_get', { prompt_id: 'prompt::docs:nope' }],
  ['CONFLICT', 'safe_write', { path: 'notes.txt', content: 'x', expected_etag: 'stale' }],
  ['UPSTREAM_ERROR', 'docs:publish', { to: 'all' }],
  ['TIMEOUT', 'safe_bash', { command: 'exec sleep 60', timeout_ms: 200 }],
];

/** How a model makes the call from the tools that it is shown; null if none of them reaches it. */
function asCalled(surface: Surface, listed: readonly string[], tool: string, args: Args): [string, Args] | null {
  if (surface === 'compact') {
    const { tool_id: operation, args: input, path, ...others } = args;
    const asked = { ...(operation === undefined ? {} : { operation }), ...(input === undefined ? {} : { input }) };
    if (tool === 'tool_browse') return ['search', { ...others, ...(path === undefined ? {} : { namespace: path }) }];
    if (tool === 'tool_hydrate') return ['schema', asked];
    if (tool === 'tool_execute') return ['call', asked];
    return ['call', { operation: tool, input: args }];
  }
  const { ref: handle, view: selector } = args;
  if (surface === 'gateway' && tool === 'tool_view') return [tool, { handle, selector }];
  const isListed =
    listed.includes(tool) && (surface !== 'proxy' || /^tool_(hydrate|execute)|^resource|^prompt/.test(tool));
  // A name that a model made up.
  if (isListed || tool === 'no_such_tool') return [tool, args];
  return listed.includes('tool_execute') ? ['tool_execute', { tool_id: tool, args }] : null;
}

const SERVERS = `${ROOT}/test/fixtures/mcp-servers`;

let at: Installation;
beforeAll(async () => {
  at = await install({ warm: true });
  writeFileSync(join(at.project, 'notes.txt'), 'one\n');
  writeFileSync(join(at.project, 'catalogue.json'), JSON.stringify(CATALOGUE));
  const added = await at.run(CTXD, ['upstream', 'add', 'docs', '--catalog', 'catalogue.json', '--yes']);
  expect(added).toMatchObject({ code: 0, stderr: '' });
  const scripted = ['node', `${SERVERS}/scripted.mjs`, 'no result'];
  const bad = await at.run(CTXD, ['upstream', 'add', 'bad', '--path', SERVERS, '--yes', '--', ...scripted]);
  expect(bad).toMatchObject({ code: 0, stderr: '' });
});
afterAll(() => at?.remove());

describe.each(SURFACES)('issue 34: on the surface %s', (surface) => {
  let client: Client;
  beforeAll(async () => {
    client = await connectClient(at, '2026-07-28', ['--surface', surface]);
  });
  afterAll(() => client?.close());

  it('every failure names only tools that the client has, in the words of the surface', async () => {
    const listed = (await client.listTools()).tools.map(({ name }) => name);
    const seen = new Set<string>();
    for (const [code, tool, args] of FAILING) {
      const call = asCalled(surface, listed, tool, args);
      if (call === null) continue;
      const result = await client.callTool({ name: call[0], arguments: call[1] });
      const text = textOf(result);
      expect(result.isError, text).toBe(true);
      if (tool !== 'no_such_tool') expect(text, `${tool} ${JSON.stringify(args)}`).toContain(code);
      // It is said first that the view shows nothing only if there was something to view.
      expect(text).not.toContain('view shows nothing');
      seen.add(code);
      // The model knows the names that it wrote itself.
      const strangers = strangersIn(text, listed).filter((name) => !JSON.stringify(call).includes(name));
      expect(strangers, `${tool} ${JSON.stringify(args)}: ${text}`).toEqual([]);
    }
    expect(seen.size).toBeGreaterThanOrEqual(9);
  });

  it('the remedy for a result that breaks the protocol is a call that succeeds', async () => {
    const listed = (await client.listTools()).tools.map(({ name }) => name);
    const own = listed.find((name) => name === 'echo') ?? 'bad:echo';
    const [name, args] = (own === 'echo' ? null : asCalled(surface, listed, own, {})) ?? [own, {}];
    const result = await client.callTool({ name, arguments: args });
    expect(textOf(result)).toMatch(/gave a result that breaks the protocol/);
    const [, tool = '', json = ''] = /Look for another tool: `(\w+) (\{.*?\})`/.exec(textOf(result)) ?? [];
    if (tool === '') return expect(textOf(result)).toContain('the list of tools');
    const remedy = await client.callTool({ name: tool, arguments: JSON.parse(json) });
    expect(remedy.isError, textOf(remedy)).not.toBe(true);
  });

  it('a failure about a tool says with what the client finds one', async () => {
    const { tools } = await client.listTools();
    const listed = tools.map(({ name }) => name);
    const name = surface === 'compact' ? 'call' : 'no_such_tool';
    const text = textOf(
      await client.callTool({ name, arguments: surface === 'compact' ? { operation: 'no_such' } : {} }),
    );
    const finder = {
      tools: 'tool_browse',
      gateway: 'tool_browse',
      compact: 'search',
      proxy: 'tool_browse',
      passthrough: 'list of tools',
    };
    expect(text).toContain(surface === 'tools' ? 'list of tools' : finder[surface]);
    expect(strangersIn(text, listed), text).toEqual([]);
  });
});
