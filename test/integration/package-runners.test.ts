import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { StoredServer } from '#src/stores/upstream-servers.js';
import { type ComposedDaemon, composeDaemon, HandTime } from '../helpers/composed-daemon.ts';

const SERVERS = join(import.meta.dirname, '..', 'fixtures', 'mcp-servers');
/** Asks for its package, and waits for it for ever. */
const DOWNLOADS = "fetch('https://registry.npmjs.org/demo').catch(() => {}); setInterval(() => {}, 60_000)";

const time = new HandTime();
let daemon: ComposedDaemon;
beforeAll(async () => {
  daemon = await composeDaemon({}, time);
});
afterAll(() => daemon?.remove());

function runner(project: string, ...command: string[]): StoredServer {
  return {
    project,
    name: 'pkg',
    // Any word of the command may name the package runner.
    spec: {
      command: ['node', ...command, 'npx'],
      url: '',
      usesCredential: false,
      hosts: [],
      paths: [{ path: SERVERS, isWritable: false }],
      project: 'none',
    },
    variables: {},
    addedMs: 0,
    givenBy: 'me',
    accepted: null,
    seen: [],
  };
}

/** Why the server did not start, after something more waits for this time, which then passes. */
async function lastErrorAfter(ms: number, server: StoredServer): Promise<string> {
  const before = time.waits(ms);
  const adding = daemon.upstreams.add(server);
  await vi.waitFor(() => expect(time.waits(ms)).toBeGreaterThan(before), { timeout: 60_000 });
  expect(daemon.upstreams.liveOf(server).state).toBe('starting');
  time.wake(ms, ms);
  await adding;
  const { lastError } = daemon.upstreams.liveOf(server);
  await daemon.upstreams.remove(server);
  return lastError;
}

describe('issue 34 an MCP server whose package runner cannot download', () => {
  it('issue 34 fails three seconds after the host of its packages was refused', async () => {
    const server = runner(daemon.project, '-e', DOWNLOADS);
    expect(await lastErrorAfter(3_000, server)).toBe(
      'the MCP server pkg cannot download what it runs; the network refused it registry.npmjs.org (the MCP server was not granted this host and port)',
    );
  });

  it('issue 34 fails after twenty seconds without a network', async () => {
    await daemon.networkRules.setOn(daemon.otherProject, false);
    const server = runner(daemon.otherProject, '-e', DOWNLOADS);
    expect(await lastErrorAfter(20_000, server)).toBe(
      'the MCP server pkg cannot download what it runs; the network of this project is off',
    );
  });

  it('issue 34 goes on after that if it has answered, because it had its package', async () => {
    const server = runner(daemon.otherProject, join(SERVERS, 'scripted.mjs'), 'ok');
    await daemon.upstreams.add(server);
    time.wake(20_000, 20_000);
    const { tools } = await daemon.upstreams.snapshot(daemon.otherProject);
    const [tool] = tools;
    if (tool === undefined) throw new Error('the server lists no tool');
    const { signal } = new AbortController();
    const call = { tool, args: { text: 'here' }, signal, timeoutMs: 60_000 };
    expect(await daemon.upstreams.call(daemon.otherProject, call)).toMatchObject({ content: [{ text: 'here' }] });
    expect(daemon.upstreams.liveOf(server)).toMatchObject({ state: 'running', lastError: '' });
  });
});
