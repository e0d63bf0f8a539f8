import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SURFACES, type Surface } from '#src/core/surfaces.js';
import { CTXD, type Installation, install, ROOT } from '../helpers/installation.ts';
import { connectClient } from '../helpers/mcp-client.ts';

const SERVERS = `${ROOT}/test/fixtures/mcp-servers`;

let at: Installation;
const clients = new Map<Surface, Client>();
beforeAll(async () => {
  at = await install({ warm: true });
  for (const surface of SURFACES) clients.set(surface, await connectClient(at, '2026-07-28', ['--surface', surface]));
});
afterAll(async () => {
  for (const client of clients.values()) await client.close();
  await at?.remove();
});

/** The call of the tool `echo` of the server as each surface has it. */
const ECHO: Readonly<Record<Surface, (args: object) => { name: string; arguments: Record<string, unknown> }>> = {
  tools: (args) => ({ name: 'tool_execute', arguments: { tool_id: 'odd:echo', args } }),
  gateway: (args) => ({ name: 'tool_execute', arguments: { tool_id: 'odd:echo', args } }),
  compact: (args) => ({ name: 'call', arguments: { operation: 'odd:echo', input: args } }),
  proxy: (args) => ({ name: 'tool_execute', arguments: { tool_id: 'odd:echo', args } }),
  passthrough: (args) => ({ name: 'echo', arguments: { ...args } }),
};

async function echo(surface: Surface): Promise<string> {
  const result = await clients.get(surface)?.callTool(ECHO[surface]({ text: 'x' }), { timeout: 120_000 });
  return JSON.stringify(result?.content ?? '');
}

/** What the first and the second call of each surface are answered with. */
const MODES: readonly [mode: string, first: RegExp, second: RegExp][] = [
  ['answers twice', /first/, /first/],
  ['another id', /right/, /right/],
  ['huge message', /sent a message of more than 16777216 bytes|left alone/, /sent a message of more than|left alone/],
  ['deep message', /nested deeper than 200|left alone/, /nested deeper than 200|left alone/],
  ['crashes', /may or may not have run|left alone/, /may or may not have run|left alone/],
];

describe.each(MODES)('a server that misbehaves: %s', (mode, first, second) => {
  beforeAll(async () => {
    const words = ['add', 'odd', '--path', SERVERS, '--yes', '--', 'node', `${SERVERS}/scripted.mjs`, mode];
    const added = await at.run(CTXD, ['upstream', ...words]);
    expect(added).toMatchObject({ code: 0 });
  });
  afterAll(() => at.run(CTXD, ['upstream', 'remove', 'odd']));

  it('issue 34: answers the calls of every surface, several at once, and harms no other call', async () => {
    const answers = await Promise.all(SURFACES.map(async (surface) => [surface, await echo(surface)] as const));
    const again = await Promise.all(SURFACES.map(async (surface) => [surface, await echo(surface)] as const));
    const short = ([surface, said]: readonly [Surface, string]) => `${surface}: ${said.slice(0, 400)}`;
    for (const one of answers) expect(short(one)).toMatch(first);
    for (const one of again) expect(short(one)).toMatch(second);
    const own = await clients.get('tools')?.callTool({ name: 'safe_bash', arguments: { command: 'echo well' } });
    expect(JSON.stringify(own?.content)).toContain('well');
  });
});
