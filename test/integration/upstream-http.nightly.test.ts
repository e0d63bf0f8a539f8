import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ServerSpec, StoredServer } from '#src/stores/upstream-servers.js';
import { MCP_HOST, type McpHost, startMcpHost } from '../fixtures/mcp-host.ts';
import { createAuthority } from '../helpers/authority.ts';
import { type ComposedDaemon, composeDaemon } from '../helpers/composed-daemon.ts';
import { generate, seededRandom } from '../helpers/secret-samples.ts';

let host: McpHost;
let daemon: ComposedDaemon;
const secret = generate('[a-zA-Z0-9]{40}', seededRandom(7));

beforeAll(async () => {
  const authority = await createAuthority('Corp CA');
  host = await startMcpHost(await authority.issue(MCP_HOST), secret);
  daemon = await composeDaemon({ network: { upstream_proxy: host.proxyUrl } });
  await daemon.hostNetworks.management.setHostNetwork({
    certificates: [authority.pem],
    ca_variables: ['NODE_EXTRA_CA_CERTS'],
    registries: [],
    private_hosts: [],
  });
});
afterEach(async () => {
  for (const server of daemon.upstreams.list(daemon.project)) await daemon.upstreams.remove(server);
  host.requests.splice(0);
  host.calls.splice(0);
});
afterAll(async () => {
  await daemon?.remove();
  await host?.close();
});

async function add(path: string, more: Partial<ServerSpec> = {}) {
  const spec: ServerSpec = {
    command: [],
    url: `https://${MCP_HOST}${path}`,
    usesCredential: false,
    hosts: [],
    paths: [],
    project: 'none',
    ...more,
  };
  const server: StoredServer = {
    project: daemon.project,
    name: 'far',
    spec,
    variables: {},
    addedMs: 0,
    givenBy: 'me',
    accepted: null,
    seen: [],
  };
  await daemon.upstreams.add(server);
  return daemon.upstreams.liveOf(server);
}

async function call(name: string, text = '', signal = new AbortController().signal, timeoutMs = 30_000) {
  const { tools } = await daemon.upstreams.snapshot(daemon.project);
  const tool = tools.find(({ upstreamName }) => upstreamName === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  const { content } = await daemon.upstreams.call(daemon.project, { tool, args: { text }, signal, timeoutMs });
  return content;
}

describe('issue 34 an MCP server that is reached over HTTP', () => {
  it('issue 34 answers through the network of its sandbox, with the certificates of the person', async () => {
    expect(await add('/mcp')).toMatchObject({ state: 'running', lastError: '', protocol: '2026-07-28' });
    expect(await call('echo', 'hello')).toEqual([{ type: 'text', text: 'hello' }]);
    expect(new Set(host.requests)).toEqual(new Set(['POST /mcp']));
  });

  it('issue 34 gets the credential of its host at this URL, for every method, if a person says so', async () => {
    expect(await add('/private')).toMatchObject({
      state: 'failing',
      lastError: 'the MCP server far answered with HTTP 401',
    });
    await bindSecret();
    expect(await add('/private')).toMatchObject({ lastError: 'the MCP server far answered with HTTP 401' });
    expect(await add('/private', { usesCredential: true })).toMatchObject({ state: 'running', lastError: '' });
    expect(await call('echo', 'with a credential')).toEqual([{ type: 'text', text: 'with a credential' }]);
  });

  it('issue 34 is reached nowhere else, also if it sends its client there', async () => {
    const { state, lastError } = await add('/elsewhere');
    expect(state).toBe('failing');
    expect(lastError).toMatch(/^the MCP server far /);
    expect(new Set(host.requests)).toEqual(new Set(['POST /elsewhere']));
  });

  it('issue 34 that is down is unavailable, and says so', async () => {
    expect(await add('/broken')).toMatchObject({
      state: 'failing',
      lastError: 'the MCP server far answered with HTTP 503',
    });
  });

  it('issue 34 that cannot be reached says why', async () => {
    const { state, lastError } = await add('', { url: 'https://no-such-host.example.com/mcp' });
    expect(state).toBe('failing');
    expect(lastError).toMatch(
      /^the MCP server far cannot be reached: contextd: no-such-host\.example\.com:443 is allowed, but /,
    );
  });

  it('issue 34 learns of a cancelled call by the end of its request', async () => {
    await add('/mcp');
    const ending = new AbortController();
    const waiting = call('slow', '', ending.signal);
    const before = host.requests.length;
    await vi.waitFor(() => expect(host.requests.length).toBeGreaterThan(before - 1));
    setImmediate(() => ending.abort());
    await expect(waiting).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(await call('echo', 'after')).toEqual([{ type: 'text', text: 'after' }]);
  });

  for (const [when, tool] of [
    ['before its answer begins', 'slow'],
    ['within its answer', 'stream'],
  ] as const)
    it(`issue 34 is not called again if its connection ends during a call, ${when}: it may have run`, async () => {
      await add('/mcp');
      // Longer than the test: nothing here may wait for it.
      const waiting = call(tool, '', undefined, 600_000);
      await vi.waitFor(() => expect(host.calls).toContain(tool));
      host.hangUp();
      await expect(waiting).rejects.toMatchObject({ code: 'INTERRUPTED' });
      expect(await call('echo', 'after')).toEqual([{ type: 'text', text: 'after' }]);
      expect(host.calls).toEqual([tool, 'echo']);
    });

  it('issue 34 that answers too much is stopped, and starts again', async () => {
    await add('/mcp');
    await expect(call('huge')).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' });
    expect(await call('echo', 'after')).toEqual([{ type: 'text', text: 'after' }]);
  });

  it('issue 34 is not reached if a person denied its host, and the call can be tried again', async () => {
    await add('/mcp');
    await deny(MCP_HOST);
    // A call may still meet the connection that is being cut.
    await vi.waitFor(() => expect(call('echo')).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' }), 30_000);
    host.requests.splice(0);
    expect(await add('/mcp')).toMatchObject({
      state: 'failing',
      lastError: `the MCP server far cannot be reached: contextd refused ${MCP_HOST}:443: the rule ${MCP_HOST} denies it`,
    });
    expect(host.requests).toEqual([]);
    await daemon.networkRules.forget(daemon.project);
    daemon.network.changed(daemon.project);
  });
});

async function deny(pattern: string): Promise<void> {
  await daemon.networkRules.set(daemon.project, [
    {
      pattern,
      group: null,
      verdict: 'deny',
      privateAddresses: [],
      anyPrivate: false,
      once: false,
      expiresMs: null,
      givenBy: 'me',
    },
  ]);
  daemon.network.changed(daemon.project);
}

describe('issue 34 an MCP server of the transport of 2024', () => {
  for (const status of [400, 404, 405])
    it(`issue 34 is reached through its stream of events after it refused a POST with ${status}`, async () => {
      const path = `/events/${status}`;
      expect(await add(path)).toMatchObject({ state: 'running', lastError: '', protocol: '2025-11-25' });
      expect(await call('echo', 'hello')).toEqual([{ type: 'text', text: 'hello' }]);
      const [first, ...others] = host.requests.filter((request) => !request.startsWith('POST /messages?sessionId='));
      expect([first, others.at(-1)]).toEqual([`POST ${path}`, `GET ${path}`]);
      expect(others.filter((request) => request.startsWith('GET'))).toHaveLength(1);
    });

  it('issue 34 gets the credential of its host at the endpoint that it names too', async () => {
    await bindSecret();
    expect(await add('/private-events/405')).toMatchObject({ lastError: 'the MCP server far answered with HTTP 401' });
    host.requests.splice(0);
    expect(await add('/private-events/405', { usesCredential: true })).toMatchObject({
      state: 'running',
      lastError: '',
    });
    expect(await call('echo', 'with a credential')).toEqual([{ type: 'text', text: 'with a credential' }]);
    expect(host.requests.at(-1)).toMatch(/^POST \/private-messages\?sessionId=/);
  });

  it('issue 34 is not used if it names an endpoint of another origin', async () => {
    await bindSecret();
    expect(await add('/stray-events/404', { usesCredential: true })).toMatchObject({
      state: 'failing',
      lastError: expect.stringContaining('Endpoint origin does not match connection origin: https://evil.example.com'),
    });
    expect(host.requests.filter((request) => !request.includes(' /stray-events/404'))).toEqual([]);
  });

  it('issue 34 that has no stream either answered with the status of the POST', async () => {
    expect(await add('/none')).toMatchObject({ lastError: 'the MCP server far answered with HTTP 404' });
    expect(host.requests.at(-1)).toBe('GET /none');
  });

  it('issue 34 that ends its stream fails the call under way at once, and is reached again by the next', async () => {
    await add('/events/405');
    const waiting = call('slow');
    await vi.waitFor(() => expect(host.calls).toContain('slow'));
    host.hangUp();
    await expect(waiting).rejects.toMatchObject({
      code: 'INTERRUPTED',
      message: expect.stringContaining('the MCP server far ended its stream of events'),
    });
    expect(await call('echo', 'after')).toEqual([{ type: 'text', text: 'after' }]);
  });
});

async function bindSecret(): Promise<void> {
  await daemon.networkCredentials.set({
    scope: daemon.project,
    host: MCP_HOST,
    port: 443,
    paths: ['/elsewhere'],
    header: 'authorization',
    scheme: 'bearer',
    user: '',
    secret,
    source: 'env:TOKEN',
    methods: ['GET'],
    placeholders: [],
    refreshMs: 0,
    readMs: Date.now(),
    givenBy: 'me',
  });
}
