import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sumAuditLog } from '#src/audit/stats.js';
import { mcpStatsView, sumServers } from '#src/cli/commands/mcp-stats.js';
import { renderView } from '#src/cli/render.js';
import { makeTempDir } from '../../stores/open-stores.js';

const DAY = '2025-01-15';
const RECORD = {
  time: `${DAY}T12:00:00.000Z`,
  request_id: 'req_1',
  session: 'a',
  project: '/p',
  door: 'mcp',
  tool: 'github:open_issue#0a1b2c3d',
  input: {},
  output_sha256: '00'.repeat(32),
  output_bytes: 12,
  duration_ms: 30,
  secrets_found: 0,
  secret_rules: [],
  exit_code: null,
  error_code: null,
  tokens_run: 900,
  tokens_returned: 100,
};

it('issue 34 sums up the calls of each MCP server: errors by code, kept answers and further attempts', async () => {
  const records = [
    RECORD,
    { ...RECORD, session: 'b', provenance: { cache_hit: true } },
    { ...RECORD, tool: 'github:list#11111111', error_code: 'UPSTREAM_TIMEOUT', provenance: { attempts: 3 } },
    { ...RECORD, tool: 'github:list#11111111', error_code: 'UPSTREAM_ERROR' },
    { ...RECORD, tool: 'github:list#11111111', error_code: 'UPSTREAM_ERROR' },
    { ...RECORD, tool: 'docs:search@2', tokens_run: 50, tokens_returned: 60 },
    { ...RECORD, tool: 'tool_browse' },
    { ...RECORD, tool: 'safe_bash', kind: 'started', request_id: 'req_lost' },
  ];
  const dir = await makeTempDir();
  await writeFile(join(dir, `audit-${DAY}.jsonl`), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  const servers = sumServers(await sumAuditLog(dir, DAY, '', () => true));
  expect(servers.map(({ server, calls, failed, kept, retries }) => [server, calls, failed, kept, retries])).toEqual([
    ['docs', 1, 0, 0, 0],
    ['github', 5, 3, 1, 2],
    ['contextd', 2, 1, 0, 0],
  ]);
  expect(servers[1]).toMatchObject({ errors: { UPSTREAM_ERROR: 2, UPSTREAM_TIMEOUT: 1 }, tokens_saved: 4_000 });
  const lines = renderView(mcpStatsView(servers), { terminal: false, colour: false, columns: 200 }).split('\n');
  expect(lines).toContain('Errors of github: UPSTREAM_ERROR 2, UPSTREAM_TIMEOUT 1');
  expect(lines).toContain('Errors of contextd: INTERRUPTED 1');
});

it('issue 34: a call of a tool that does not exist adds no row for a server, whatever it was called', async () => {
  const names = ['x\u001b[31m:y', 'x   9   9:y', 'contextd\t9:y', `${'x'.repeat(40)}:y`, ':y', 'resources/read', 'X:y'];
  const dir = await makeTempDir();
  const records = [RECORD, ...names.map((tool) => ({ ...RECORD, tool, error_code: 'TOOL_NOT_FOUND' }))];
  await writeFile(join(dir, `audit-${DAY}.jsonl`), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  const servers = sumServers(await sumAuditLog(dir, DAY, '', () => true));
  expect(servers.map(({ server, calls }) => [server, calls])).toEqual([
    ['github', 1],
    ['contextd', names.length],
  ]);
});
