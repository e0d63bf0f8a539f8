import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { StoredServer } from '#src/stores/upstream-servers.js';
import { ELSEWHERE, HOSTILE, type HostileHost, startHostileHost } from '../fixtures/hostile-mcp-host.ts';
import { createAuthority } from '../helpers/authority.ts';
import { type ComposedDaemon, composeDaemon } from '../helpers/composed-daemon.ts';
import { generate, seededRandom } from '../helpers/secret-samples.ts';

let host: HostileHost;
let daemon: ComposedDaemon;

beforeAll(async () => {
  const authority = await createAuthority('Corp CA');
  host = await startHostileHost(await authority.issue(HOSTILE, ELSEWHERE));
  daemon = await composeDaemon({ network: { upstream_proxy: host.proxyUrl } });
  await daemon.hostNetworks.management.setHostNetwork({
    certificates: [authority.pem],
    ca_variables: ['NODE_EXTRA_CA_CERTS'],
    registries: [],
    private_hosts: [],
  });
  await daemon.networkCredentials.set({
    scope: daemon.project,
    host: HOSTILE,
    port: 443,
    paths: ['/'],
    header: 'authorization',
    scheme: 'bearer',
    user: '',
    secret: generate('[a-zA-Z0-9]{40}', seededRandom(124)),
    source: 'env:TOKEN',
    methods: ['GET'],
    placeholders: [],
    refreshMs: 0,
    readMs: Date.now(),
    givenBy: 'me',
  });
});
afterEach(async () => {
  for (const server of daemon.upstreams.list(daemon.project)) await daemon.upstreams.remove(server);
  host.arrived.splice(0);
});
afterAll(async () => {
  await daemon?.remove();
  await host?.close();
});

/** A person lets it reach both hosts, and gives it the credential of the first. */
async function add(path: string) {
  const spec = {
    command: [],
    url: `https://${HOSTILE}${path}`,
    usesCredential: true,
    hosts: [ELSEWHERE],
    paths: [],
    project: 'none' as const,
  };
  const more = { variables: {}, addedMs: 0, givenBy: 'me', accepted: null, seen: [] };
  const server: StoredServer = { project: daemon.project, name: 'far', spec, ...more };
  await daemon.upstreams.add(server);
  return daemon.upstreams.liveOf(server);
}

describe('a hostile MCP server over HTTP', () => {
  it.each(['/to-another-host', '/to-a-file', '/in-circles'])(
    'decision 0124: that redirects %s is not used, and no other host gets a request or a credential',
    async (path) => {
      const { state, lastError } = await add(path);
      expect(state).toBe('failing');
      expect(lastError).toMatch(/^the MCP server far answered with HTTP 307$/);
      expect(new Set(host.arrived.map((one) => one.host))).toEqual(new Set([HOSTILE]));
      expect(host.arrived[0]?.authorization).toMatch(/^Bearer \w{40}$/);
      expect(host.arrived.length).toBeLessThan(20);
    },
  );

  it.each([
    ['in a body', '/json'],
    ['in a stream of events', '/events'],
    ['in the stream of events of 2024', '/old'],
  ])(
    'decision 0124: that answers with JSON nested 100,000 levels deep %s is stopped, and starts again',
    async (_where, path) => {
      expect(await add(path)).toMatchObject({ state: 'running', lastError: '' });
      const { tools } = await daemon.upstreams.snapshot(daemon.project);
      const [tool] = tools;
      if (tool === undefined) throw new Error('it has a tool');
      const { signal } = new AbortController();
      const call = () => daemon.upstreams.call(daemon.project, { tool, args: {}, signal, timeoutMs: 60_000 });
      for (let time = 0; time < 2; time++)
        await expect(call()).rejects.toMatchObject({
          code: 'UPSTREAM_ERROR',
          message: 'the MCP server far sent a message that is nested deeper than 200',
        });
    },
  );
});
