import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { miscounted } from '../helpers/audit-ends.ts';
import { askHttp } from '../helpers/http-door.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { RawServer } from '../helpers/mcp-client.ts';
import { generate, seededRandom } from '../helpers/sample-patterns.ts';

const RESTART_MAX_MS = 60_000;
const WAITED_MS = { timeout: 30_000 };

/** Its tool `wait` says in `NAME.begun` that it has begun, waits for `NAME.go`, and shows the file `NAME.secret`. */
const SLOW_SERVER = `
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const dir = process.argv[2];
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const tool = { name: 'wait', description: 'Waits.', inputSchema: { type: 'object', properties: { name: { type: 'string' } } } };
const ANSWERS = {
  initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'slow', version: '1' } }),
  'tools/list': () => ({ tools: [tool] }),
  ping: () => ({}),
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method !== 'tools/call') return say({ id, result: ANSWERS[method]?.(params) ?? {} });
  const file = dir + '/' + params.arguments.name;
  appendFileSync(file + '.begun', 'begun\\n');
  const waiting = setInterval(() => {
    if (!existsSync(file + '.go')) return;
    clearInterval(waiting);
    say({ id, result: { content: [{ type: 'text', text: readFileSync(file + '.secret', 'utf8') }] } });
  }, 20);
});
`;

let at: Installation;
let programs: string;
const random = seededRandom(1);
const madeSecret = (): string => `ghp_${generate('[a-zA-Z0-9]{36}', random)}`;
const file = (name: string): string => join(at.project, name);

async function restart(): Promise<{ carried_calls: number }> {
  const { code, stdout, stderr } = await at.run(CTXD, ['server', 'restart', '--json']);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return JSON.parse(stdout);
}

beforeAll(async () => {
  programs = realpathSync(mkdtempSync(join(tmpdir(), 'slow-server-')));
  writeFileSync(join(programs, 'slow.mjs'), SLOW_SERVER);
  at = await install({ settings: { 'server.max_concurrent_calls': '1', 'http.enabled': 'true' } });
});

afterAll(async () => {
  await at?.remove();
  rmSync(programs, { recursive: true, force: true });
});

describe('a restart of the daemon', () => {
  it.each(['gateway', 'passthrough'])(
    'NFR-2.3: lets a call of an MCP server go on for a client with the surface %s, whose tokens stand for their secrets',
    {
      timeout: RESTART_MAX_MS * 2,
    },
    async (surface) => {
      const words = ['upstream', 'add', 'slow', '--path', programs, '.:rw', '--yes', '--', 'node'];
      const added = await at.run(CTXD, [...words, join(programs, 'slow.mjs'), at.project]);
      expect(added, added.stderr).toMatchObject({ code: 0 });
      const session = `of-${surface}`;
      const env = { CONTEXTD_SESSION_ID: session };
      const [meanwhile, secret] = [madeSecret(), madeSecret()];
      writeFileSync(file(`${surface}.secret`), `TOKEN=${secret}\n`);
      writeFileSync(file(`${surface}.other`), `TOKEN=${meanwhile}\n`);
      const server = new RawServer(at, ['--surface', surface, '--session', session]);
      await server.initialize();
      const found = await at.ask('tool_browse', { path: '/slow/wait' }, { env });
      const [id = ''] = /slow:wait#[0-9a-f]{8}/.exec(JSON.stringify(found)) ?? [];
      const call = (name: string): [string, object] =>
        surface === 'passthrough' ? ['wait', { name }] : ['tool_execute', { tool_id: id, args: { name } }];
      server.call(1, ...call(surface));
      await expect.poll(() => existsSync(file(`${surface}.begun`)), WAITED_MS).toBe(true);
      expect(await restart()).toMatchObject({ carried_calls: 1 });
      const shown = await at.ask('safe_bash', { command: `cat ${surface}.other` }, { env });
      expect(shown.data.stdout).toMatch(/^TOKEN=\[SECRET_\d+\]\n$/);
      for (const end of ['secret', 'go']) writeFileSync(file(`${surface}-further.${end}`), 'further\n');
      server.call(2, ...call(`${surface}-further`));
      expect(JSON.stringify((await server.answer(2)).result)).toContain('further');
      writeFileSync(file(`${surface}.go`), '');
      const [token] = /\[SECRET_\d+\]/.exec(JSON.stringify((await server.answer(1)).result)) ?? [];
      const written = await at.ask('safe_write', { path: `${surface}.opened`, content: `${token}\n` }, { env });
      expect(written).toMatchObject({ success: true });
      expect(readFileSync(file(`${surface}.opened`), 'utf8')).toBe(`${secret}\n`);
      expect(readFileSync(file(`${surface}.begun`), 'utf8')).toBe('begun\n');
      await server.close();
      expect(await at.run(CTXD, ['upstream', 'remove', 'slow'])).toMatchObject({ code: 0 });
    },
  );

  it('NFR-2.3: lets a call over HTTP go on, and the next daemon takes the port', {
    timeout: RESTART_MAX_MS * 2,
  }, async () => {
    const printed = async (...words: string[]) => (await at.run(CTXD, ['http', ...words])).stdout.trim();
    const token = await printed('token', '--name', 'client', '--allow', 'execute', '--project', at.project);
    const url = await printed('url');
    const ask = (command: string) =>
      askHttp(url, '/v1/tools/safe_bash/execute', { token, body: { project: at.project, input: { command } } });
    const call = ask('echo begun >> http.begun; while [ ! -e http.go ]; do sleep 0.05; done; echo over HTTP');
    await expect.poll(() => existsSync(file('http.begun')), WAITED_MS).toBe(true);
    expect(await restart()).toMatchObject({ carried_calls: 1 });
    expect(await ask('echo next')).toMatchObject({ status: 200, json: { data: { stdout: 'next\n' } } });
    writeFileSync(file('http.go'), '');
    expect(await call).toMatchObject({ status: 200, json: { data: { stdout: 'over HTTP\n' } } });
    expect(readFileSync(file('http.begun'), 'utf8')).toBe('begun\n');
  });

  it('NFR-2.3: lets a call that waits for its turn run once when its turn comes', {
    timeout: RESTART_MAX_MS * 2,
  }, async () => {
    const env = { CONTEXTD_SESSION_ID: 'turns' };
    const first = at.ask('safe_bash', { command: 'touch held; while [ ! -e held.go ]; do sleep 0.05; done' }, { env });
    await expect.poll(() => existsSync(file('held')), WAITED_MS).toBe(true);
    const second = at.ask('safe_bash', { command: 'echo turn >> turns; cat turns' }, { env });
    // No process of a tool has served this session yet.
    const other = { CONTEXTD_SESSION_ID: 'another' };
    const third = at.ask('safe_write', { path: 'written', content: 'once\n' }, { env: other });
    await expect.poll(() => miscounted(at).open.length, WAITED_MS).toBe(3);
    expect(await restart()).toMatchObject({ carried_calls: 3 });
    expect(await at.ask('safe_bash', { command: 'echo next' }, { env })).toMatchObject({ data: { stdout: 'next\n' } });
    expect(existsSync(file('turns'))).toBe(false);
    writeFileSync(file('held.go'), '');
    expect(await first).toMatchObject({ success: true });
    expect(await second).toMatchObject({ success: true, data: { stdout: 'turn\n' } });
    expect(await third).toMatchObject({ success: true, meta: { files_changed: ['A written'] } });
    expect(miscounted(at)).toEqual({ open: [], endedTwice: [] });
    const verified = await at.run(CTXD, ['audit', 'verify']);
    expect(verified, verified.stdout + verified.stderr).toMatchObject({ code: 0 });
  });
});
