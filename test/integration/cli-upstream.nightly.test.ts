import { copyFileSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UpstreamInfo__Output as UpstreamInfo } from '#src/protocol/generated/management.js';
import { buildDemoServer } from '../helpers/demo-server.ts';
import { CTXD, type Finished, type Installation, install } from '../helpers/installation.ts';

/** Comes with Node of most systems, and is found in the sandbox only below /usr. */
const hasNpx = existsSync('/usr/bin/npx');

let at: Installation;
let outside: string;
let demo: string;
beforeAll(async () => {
  outside = realpathSync(mkdtempSync(join(tmpdir(), 'cli-upstream-')));
  demo = await buildDemoServer(outside);
  at = await install({ init: false, warm: true });
  await at.run(CTXD, ['init', '--no-network', '--no-toolchains']);
});
afterAll(async () => {
  await at?.remove();
  rmSync(outside, { recursive: true, force: true });
});

const ctxd = (...words: string[]): Promise<Finished> => at.run(CTXD, ['upstream', ...words]);
const list = async (): Promise<UpstreamInfo[]> => JSON.parse((await ctxd('list', '--json')).stdout);
/** Whose caches are listed. */
const cacheOwners = async (): Promise<string[]> => {
  const { stdout } = await at.run(CTXD, ['cache', 'list', '--json']);
  return JSON.parse(stdout).map(({ project }: { project: string }) => project);
};
const addDemo = (...more: string[]): Promise<Finished> =>
  ctxd('add', 'demo', '--path', outside, ...more, '--yes', '--', 'node', demo);

describe('issue 34 ctxd upstream', () => {
  it('issue 36 says which files of clients have the server too, and how it leaves them', async () => {
    const file = join(at.project, '.mcp.json');
    writeFileSync(file, JSON.stringify({ mcpServers: { Demo: { command: 'node', args: [demo] } } }));
    const before = readFileSync(file, 'utf8');
    const added = await addDemo();
    expect(added.stdout).toMatch(
      /^\.mcp\.json still has demo, which .* starts without a sandbox: add it again with --take-over /m,
    );
    expect(readFileSync(file, 'utf8')).toBe(before);
    const taken = await addDemo('--take-over');
    expect(taken.stdout).toContain('Changed .mcp.json. Undo: ctxd upstream import --undo');
    expect(taken.stdout).not.toContain('still has');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ mcpServers: {} });
    expect((await ctxd('import', '--undo', '--yes')).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect(await list()).toEqual([]);
    rmSync(file);
  });

  it('issue 34 adds a server, lists it with what it may reach, and removes it', async () => {
    const added = await addDemo('--allow-host', 'npm', 'api.example.com', '--path', '.:rw');
    expect(added).toMatchObject({ code: 0, stderr: '' });
    expect(added.stdout).toMatch(/^demo runs: 8 tools, which would take \d+ tokens/);
    expect(await list()).toMatchObject([
      {
        name: 'demo',
        state: 'running',
        tools: 8,
        waiting: 0,
        hosts: ['api.example.com', 'npm'],
        paths: [{ path: outside, writable: false }],
        project: 'write',
        last_error: '',
      },
    ]);
    const { stdout } = await at.run(CTXD, ['audit', 'tail', '--json']);
    const acts: { tool: string; input: object }[] = JSON.parse(stdout);
    expect(acts.findLast(({ tool }) => tool === 'upstream add')?.input).toMatchObject({
      name: 'demo',
      command: ['node', demo],
      hosts: ['npm', 'api.example.com'],
      paths: [outside],
      project: 'write',
      variables: [],
    });
    expect((await list())[0]?.tokens).toBeGreaterThan(100);
    expect((await ctxd('list')).stdout).toContain('running');
    expect((await ctxd('list', 'demo')).stdout).toContain('sees: the project, to read and change');
    const rule = await at.run(CTXD, ['approve', 'rule', 'add', 'demo:open*']);
    expect(rule.stdout).toMatch(/^It covers demo:open_issue#[0-9a-f]{8}/m);
    const later = await at.run(CTXD, ['approve', 'rule', 'add', 'demo:not_there']);
    expect(later.stdout).toContain('No tool has this name yet.');
    const own = `upstream:demo of ${realpathSync(at.project)}`;
    expect(await cacheOwners()).toContain(own);
    expect(await ctxd('remove', 'demo')).toMatchObject({ code: 0, stdout: 'Removed demo.\n' });
    // What it kept is gone, and with it the row.
    expect(await cacheOwners()).not.toContain(own);
    expect(await list()).toEqual([]);
  });

  it('issue 34 changes nothing without a person who agrees', async () => {
    const { code, stdout, stderr } = await ctxd('add', 'demo', '--path', outside, '--', 'node', demo);
    expect(code).not.toBe(0);
    expect(`${stdout}${stderr}`).toMatch(/--yes/);
    expect(await list()).toEqual([]);
  });

  it('issue 34 gives variables by name, and shows no value', async () => {
    process.env.DEMO_VALUE = 'a value of the shell';
    try {
      const added = await addDemo('--env', 'DEMO_VALUE', '--json');
      expect(JSON.parse(added.stdout)).toMatchObject({ variables: ['DEMO_VALUE'] });
      expect(`${added.stdout}${(await ctxd('list', '--json')).stdout}`).not.toContain('a value of the shell');
    } finally {
      delete process.env.DEMO_VALUE;
      await ctxd('remove', 'demo');
    }
    const missing = await addDemo('--env', 'NO_SUCH_VARIABLE');
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('NO_SUCH_VARIABLE is not set') });
  });

  it('issue 34 shows the last words of a server without the values of its variables', async () => {
    process.env.DEMO_VALUE = 'a value of the shell';
    try {
      const script = 'echo "Error: I have $DEMO_VALUE" >&2; exit 1';
      const added = await ctxd('add', 'talker', '--env', 'DEMO_VALUE', '--yes', '--', 'sh', '-c', script);
      expect(added.stdout).toContain('it printed: "Error: I have [value of DEMO_VALUE]');
      expect((await ctxd('list', 'talker')).stdout).not.toContain('a value of the shell');
    } finally {
      delete process.env.DEMO_VALUE;
      await ctxd('remove', 'talker');
    }
  });

  const refused: readonly [words: string[], says: RegExp][] = [
    [['add', 'Demo', '--yes', '--', 'node'], /not a name for a server/],
    [['add', 'contextd', '--yes', '--', 'node'], /namespace of tools that contextd runs itself/],
    [['add', 'demo', '--yes'], /either a command or a URL/],
    [['add', 'demo', 'https://me:word@mcp.example.com/', '--yes'], /secret does not belong into a URL/],
    [['add', 'demo', 'https://127.0.0.1/', '--yes'], /address/],
    [['add', 'demo', '--allow-host', 'npn', '--yes', '--', 'node'], /npn is not a group/],
    [
      ['add', 'demo', '--path', '/nonexistent', '--yes', '--', 'node'],
      /\/nonexistent, which is granted, does not exist/,
    ],
    [['add', 'demo', '--path', 'src', '--yes', '--', 'node'], /is in the project/],
    [
      ['add', 'demo', 'https://mcp.example.com/', '--header-from', 'mcp.example.com', '--yes'],
      /no credential is bound/,
    ],
    [
      ['add', 'demo', 'https://mcp.example.com/', '--header-from', 'api.example.com', '--yes'],
      /goes to api.example.com only/,
    ],
    [['approve', 'nothing'], /no MCP server nothing/],
    [['remove', 'nothing'], /no MCP server nothing/],
    [['restart', 'nothing'], /no MCP server nothing/],
  ];
  for (const [words, says] of refused)
    it(`issue 34 refuses ${words.join(' ')}`, async () => {
      const { code, stderr } = await ctxd(...words);
      expect(code).not.toBe(0);
      expect(stderr).toMatch(says);
      // Nothing was added that would fail at its first start.
      expect(await list()).toEqual([]);
    });

  it('issue 34 adds a server that does not start, says why, and starts it again when asked', async () => {
    const added = await ctxd('add', 'broken', '--yes', '--', 'no-such-program');
    expect(added.code).toBe(1);
    expect(added.stdout).toMatch(/broken does not run: .*status 127.*no-such-program/);
    expect(await ctxd('restart', 'broken')).toMatchObject({ code: 1, stderr: expect.stringContaining('status 127') });
    await ctxd('remove', 'broken');
  });

  it.skipIf(!hasNpx)(
    'issue 34 says soon which host a package runner lacks, and the command that it names grants it',
    { timeout: 120_000 },
    async () => {
      await at.run(CTXD, ['network', 'on', '--yes']);
      const began = performance.now();
      const added = await ctxd('add', 'runner', '--path', outside, '--yes', '--', 'npx', '-y', 'no-such-server@1.0.0');
      // npx itself tries for 75 seconds.
      expect(performance.now() - began).toBeLessThan(45_000);
      expect(added.code).toBe(1);
      expect(added.stdout).toMatch(/^runner does not run: .*; the network refused it \S+ \(/);
      const [, command = ''] = /^To grant what it lacks: ctxd upstream (.*)$/m.exec(added.stdout) ?? [];
      expect(command).toBe(`add runner --path ${outside} --allow-host npm -- npx -y no-such-server@1.0.0`);
      expect((await ctxd('list', 'runner')).stdout).toContain(command);
      await ctxd(...command.replace(' -- ', ' --yes -- ').split(' '));
      const [granted] = await list();
      expect(granted).toMatchObject({ name: 'runner', hosts: ['npm'], to_grant: '' });
      expect(granted?.refused).toEqual([]);
      await ctxd('remove', 'runner');
    },
  );

  /** Runs a command of `ctxd upstream` as a message names it. */
  const runNamed = (command: string): Promise<Finished> =>
    at.run('sh', ['-c', command.replace(/^ctxd /, `'${CTXD}' `).replace(' -- ', ' --yes -- ')]);
  const grantOf = (text: string): string => /To grant what it lacks: (ctxd upstream add .*)$/m.exec(text)?.[1] ?? '';

  it('issue 34 says before and after it adds a server which path its sandbox does not see, and the command that it names grants it', async () => {
    const asked = await ctxd('add', 'demo', '--', 'node', demo);
    expect(`${asked.stdout}${asked.stderr}`).toContain(
      `note: its sandbox does not see ${demo}, which its command names`,
    );
    expect(grantOf(`${asked.stdout}${asked.stderr}`)).toBe(`ctxd upstream add demo --path ${outside} -- node ${demo}`);
    const added = await ctxd('add', 'demo', '--yes', '--', 'node', demo);
    expect(added.code).toBe(1);
    expect(added.stdout).toMatch(/^demo does not run: .*Cannot find module.*; its sandbox does not see /);
    const [listed] = await list();
    expect(listed).toMatchObject({ unseen: [demo], last_error: expect.stringContaining('its sandbox does not see') });
    expect((await ctxd('list', 'demo')).stdout).toContain(listed?.to_grant);
    // An agent that asks for one of its tools learns what only a person can do.
    const missing = await at.ask('tool_execute', { tool_id: 'demo:open_issue', args: {} });
    expect(missing).toMatchObject({
      success: false,
      data: {
        error_code: 'HYDRATE_FAILED',
        remediation: `A person who trusts it can allow this: \`${listed?.to_grant}\``,
      },
    });
    expect(missing.error).toContain('its sandbox does not see');
    expect(await at.ask('tool_hydrate', { tool_id: 'demo:open_issue' })).toMatchObject({
      data: { remediation: expect.stringContaining('A person who trusts it can allow this') },
    });
    expect(await runNamed(grantOf(added.stdout))).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('demo runs: 8 tools'),
    });
    expect(await list()).toMatchObject([{ state: 'running', unseen: [], to_grant: '' }]);
    await ctxd('remove', 'demo');
  });

  it('issue 34 keeps the values of an imported server when the named command adds it again', async () => {
    const file = join(at.project, '.mcp.json');
    const args = ['-c', `test "$WORD" = given && exec node ${demo}`];
    writeFileSync(file, JSON.stringify({ mcpServers: { kept: { command: 'sh', args, env: { WORD: 'given' } } } }));
    const imported = await ctxd('import', '--yes');
    expect(imported.stdout).toMatch(/^kept does not run: .*; its sandbox does not see /);
    expect(await runNamed(grantOf(imported.stdout))).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('kept runs'),
    });
    await ctxd('remove', 'kept');
    // There is no server any more that has the value.
    expect(await runNamed(grantOf(imported.stdout))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the variable WORD is not set in this shell'),
    });
    rmSync(file);
  });

  it('issue 34 shows what changed as a diff before a person accepts it', async () => {
    await addDemo();
    expect((await ctxd('approve', 'demo')).stdout).toBe('All definitions of demo are as they were accepted.\n');
    await ctxd('remove', 'demo');
  });

  it('issue 34 moves the servers of clients here, and moves them back', async () => {
    const file = join(at.project, '.mcp.json');
    const before = `{
  // what Claude Code starts
  "mcpServers": {
    "demo": { "command": "node", "args": ["${realpathSync(at.project)}/demo.mjs"] },
    "broken": { "command": "no-such-program" },
    "far": { "type": "http", "url": "https://mcp.example.com/mcp", "headers": { "X-Key": "k" } },
    "contextd": { "command": "ctxd", "args": ["mcp", "serve"] }
  }
}
`;
    copyFileSync(demo, join(at.project, 'demo.mjs'));
    writeFileSync(file, before);
    const asked = await ctxd('import');
    expect(asked.code).not.toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(before);
    const imported = await ctxd('import', '--yes');
    // One of them does not run.
    expect(imported).toMatchObject({ code: 1, stderr: '' });
    expect(imported.stdout).toMatch(/demo runs: 8 tools/);
    expect(imported.stdout).toMatch(/broken does not run/);
    expect(imported.stdout).toContain(
      'it sends X-Key; first bind the secret: ctxd network credential add mcp.example.com',
    );
    expect((await list()).map(({ name, project }) => [name, project])).toEqual([
      ['broken', 'none'],
      ['demo', 'read'],
    ]);
    const left = readFileSync(file, 'utf8');
    expect(left).toContain('// what Claude Code starts');
    expect(left).not.toContain('"demo"');
    // A client must not lose a server that nothing else runs.
    expect(left).toContain('"broken"');
    expect(left).toContain('"contextd"');
    expect(await ctxd('import', '--undo', '--yes')).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect(await list()).toEqual([]);
    expect((await ctxd('import', '--undo', '--yes')).stderr).toContain('no import of');
    rmSync(file);
  });

  it('issue 34 says that a package runner cannot download anything without its registry', async () => {
    const { stdout } = await ctxd('add', 'pkg', '--yes', '--json', '--', 'npx', '--offline', 'no-such-package');
    expect(JSON.parse(stdout).notes.join(' ')).toContain('--allow-host npm');
    await ctxd('remove', 'pkg');
  });
});
