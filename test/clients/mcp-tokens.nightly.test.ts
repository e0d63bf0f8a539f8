import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalogServers } from '../../bench/lib/catalogs.ts';
import { findClients } from '../../bench/lib/clients/programs.ts';
import { type Definition, sessionStart, totalTokens } from '../../bench/lib/clients/session-start.ts';
import { CTXD, type Installation, install, ROOT } from '../helpers/installation.ts';
import { writeCatalogs } from '../helpers/made-catalogs.ts';
import { AT_NIGHT } from '../helpers/property-runs.ts';

/** Tools of 22 servers, as many as real ones have. */
const SERVERS = [118, 61, 27, 26, 25, 23, 21, 19, 14, 13, 9, 8, 8, 7, 5, 4, 2, 2, 1, 1, 1, 1];

const clients = findClients();
let at: Installation;
let dir: string;

beforeAll(async () => {
  if (clients === undefined) return;
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'catalogs-')));
  writeCatalogs(dir, SERVERS);
  at = await install();
  for (const words of catalogServers(dir, ROOT)) {
    const added = await at.run(CTXD, words);
    expect(added, added.stderr).toMatchObject({ code: 0 });
  }
}, 900_000);

afterAll(async () => {
  await at?.remove();
  if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
});

const start = (client: 'claude' | 'opencode', surface: 'gateway' | 'compact' | 'tools' | 'proxy') =>
  sessionStart({
    client,
    program: clients?.[client] ?? '',
    ctxd: CTXD,
    project: at.project,
    env: { CONTEXTD_HOME: at.home },
    surface,
  });

const namesOf = (definitions: readonly Definition[]): string[] => definitions.map(({ name }) => name);

it.skipIf(clients === undefined)('the catalogues are as large as those of 22 real servers', async () => {
  const { stdout } = await at.run(CTXD, ['upstream', 'list', '--json']);
  const listed: { tools: number; tokens: number }[] = JSON.parse(stdout);
  expect(listed).toHaveLength(SERVERS.length);
  expect(listed.reduce((sum, { tools }) => sum + tools, 0)).toBe(396);
  expect(listed.reduce((sum, { tokens }) => sum + tokens, 0)).toBeGreaterThan(100_000);
});

/** Each surface with one client, and in `npm run nightly` with both: `e2e/mcp-surfaces.nightly.test.ts` counts what contextd itself sends. */
const clientsFor = (inGate: 'claude' | 'opencode') => (AT_NIGHT ? (['claude', 'opencode'] as const) : [inGate]);

describe.skipIf(clients === undefined)('a session of a real client', () => {
  it.each([
    ...clientsFor('claude').map((client) => [client, 'gateway', ['tool_browse', 'tool_execute', 'tool_view']] as const),
    ...clientsFor('opencode').map((client) => [client, 'compact', ['batch', 'call', 'schema', 'search']] as const),
  ])(
    'issue 34: begins in %s with at most 1,000 tokens of definitions on the surface %s',
    async (client, surface, tools) => {
      const { definitions, deferredTokens } = await start(client, surface);
      expect(namesOf(definitions).sort()).toEqual(tools);
      expect(totalTokens(definitions)).toBeLessThanOrEqual(1_000);
      expect(deferredTokens).toBe(0);
    },
  );

  it.each(clientsFor('opencode'))(
    'issue 34: begins in %s with less than 1,500 tokens of definitions on the surface tools',
    async (client) => {
      const { definitions, deferredTokens } = await start(client, 'tools');
      expect(namesOf(definitions)).toEqual(expect.arrayContaining(['safe_bash', 'tool_browse', 'tool_execute']));
      expect(totalTokens(definitions)).toBeLessThan(1_500);
      expect(deferredTokens).toBe(0);
    },
  );

  it.each(clientsFor('claude'))(
    'issue 34: begins in %s with at most 60 tokens for each listed tool on the surface proxy',
    async (client) => {
      const { definitions } = await start(client, 'proxy');
      const listed = definitions.filter(({ name }) => !['tool_execute', 'tool_hydrate'].includes(name));
      expect(listed.filter(({ name }) => name.startsWith('server-'))).toHaveLength(396);
      expect(listed.filter(({ tokens }) => tokens > 60)).toEqual([]);
    },
  );
});
